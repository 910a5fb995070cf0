"""Clock, ids and crash points."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from toolgate_cli.host import crash
from toolgate_cli.host.clock import SystemClock
from toolgate_cli.host.mint import ALPHABET, RandomMint
from toolgate_cli.host.private import private_folder, tighten

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_769_860_800_001_999_999, "2026-01-31T12:00:00.001Z"),
        (1_769_860_800_999_999_999, "2026-01-31T12:00:00.999Z"),
    ],
)
def test_time_is_text_of_fixed_width_in_utc(monkeypatch: pytest.MonkeyPatch, nanoseconds: int, text: str) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: nanoseconds)
    assert SystemClock().now() == text


def test_time_does_not_depend_on_the_zone() -> None:
    code = "from toolgate_cli.host.clock import SystemClock; import sys; sys.stdout.write(SystemClock().now()[:13])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env={**os.environ, "TZ": "Asia/Tokyo"}
    )
    assert done.stdout in {time.strftime("%Y-%m-%dT%H", time.gmtime(time.time() - back)) for back in (0, 5)}


def test_the_monotonic_clock_counts_suspension_and_sleep_waits() -> None:
    clock = SystemClock()
    began = clock.monotonic()
    assert abs(began - time.clock_gettime(time.CLOCK_BOOTTIME)) < 1
    clock.sleep(0.02)
    clock.sleep(-1)
    assert 0.02 <= clock.monotonic() - began < 2


def test_ids_are_a_letter_and_65_random_bits() -> None:
    mint = RandomMint()
    ids = [mint.id("c") for _ in range(5000)]
    assert all(re.fullmatch(r"c[a-z2-7]{13}", each) for each in ids)
    assert len(set(ids)) == 5000
    for place in range(1, 14):
        assert {each[place] for each in ids} == set(ALPHABET)  # every character carries five bits


def test_salts_and_jitter_have_their_shapes() -> None:
    mint = RandomMint()
    assert re.fullmatch(r"[0-9a-f]{32}", mint.salt()) and mint.salt() != mint.salt()
    drawn = [mint.jitter() for _ in range(1000)]
    assert all(0 <= each < 1 for each in drawn) and min(drawn) < 0.1 and max(drawn) > 0.9


PASSING = "from toolgate_cli.host.crash import point\nfor name in ('a', 'b', 'a b', 'c'): point(name)\nprint('end')"


def passing(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PASSING], capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **environment}
    )


def test_a_crash_point_does_nothing_unless_it_is_asked_for() -> None:
    assert crash._from(None, None) is crash._idle and crash._from("", "") is crash._idle
    done = passing()
    assert (done.returncode, done.stdout) == (0, "end\n")


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_the_process_ends_at_the_point_with_that_number(tmp_path: Path, at: int) -> None:
    log = tmp_path / "points"
    done = passing(TOOLGATE_CRASH_AT=str(at), TOOLGATE_CRASH_LOG=str(log))
    assert (done.returncode, done.stdout) == (137, "")
    assert log.read_text().splitlines() == ["1 a", "2 b", "3 a b", "4 c"][:at]


@pytest.mark.parametrize("at", ["5", "0", "-1", "x", ""])
def test_a_number_that_is_not_reached_ends_nothing_and_the_list_is_complete(tmp_path: Path, at: str) -> None:
    log = tmp_path / "points"
    assert passing(TOOLGATE_CRASH_AT=at, TOOLGATE_CRASH_LOG=str(log)).returncode == 0
    assert log.read_text() == "1 a\n2 b\n3 a b\n4 c\n"


def test_the_folder_of_a_home_is_no_part_of_its_repository(tmp_path: Path) -> None:
    private_folder(str(tmp_path / "a" / ".toolgate" / "owners"))
    kept = tmp_path / "a" / ".toolgate" / ".gitignore"
    assert kept.read_text() == "*\n" and kept.stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "a" / ".gitignore").exists() and not (kept.parent / "owners" / ".gitignore").exists()
    kept.unlink()
    private_folder(str(tmp_path / "a" / ".toolgate"))
    assert not kept.exists()  # who takes it away has taken it away


def test_private_folders_are_made_with_their_parents_and_what_exists_is_left(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        tmp_path.chmod(0o755)
        private_folder(str(tmp_path / "a" / "b"))
        private_folder(str(tmp_path / "a" / "b"))
    finally:
        os.umask(before)
    assert [each.stat().st_mode & 0o777 for each in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")] == [0o755, 0o700, 0o700]
    (tmp_path / "file").touch(0o644)
    with pytest.raises(OSError):
        private_folder(str(tmp_path / "file"))
    tighten(str(tmp_path / "file"))
    tighten(str(tmp_path / "absent"))
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
