"""What every provider promises, whatever its tools do: see runtime/ports.py, and CASES I, H2, H13, G14."""

from __future__ import annotations

import hashlib
import json
import os
import pkgutil
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import kit_providers
import pytest
from kit_providers import KITS, SECRET, Kit, Tool

from toolgate_cli import providers
from toolgate_cli.host import lasting, processes

FOUND = sorted(module.name for module in pkgutil.iter_modules(providers.__path__) if not module.name.startswith("_"))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def noted(home: Path) -> list[int]:
    return [int(line) for line in (home / "pids").read_text().split()]


@pytest.fixture(params=FOUND)
def kit(request: pytest.FixtureRequest) -> Kit:
    if request.param not in KITS:
        pytest.skip(f"{request.param} has no kit")  # test_every_provider_has_a_kit fails for it
    return KITS[request.param]


@pytest.fixture(autouse=True)
def no_session_outlasts_a_test() -> Iterator[None]:
    yield
    lasting.end_all()


def make(kit: Kit, home: Path, behaviour: str) -> Tool:
    if behaviour not in kit.behaviours:
        pytest.skip(f"no tool of this provider {behaviour}")
    return kit.tool(home, behaviour)


def test_every_provider_has_a_kit() -> None:
    assert set(FOUND) == set(KITS)


# ---- answers ----
def test_a_success_is_an_answer_with_its_output(kit: Kit, tmp_path: Path) -> None:
    result = make(kit, tmp_path, "answers").call()
    assert (result.ended, result.ok, json.loads(result.output)) == ("answered", True, {"ok": True})
    assert result.size == len(result.output) and not result.truncated and result.message == ""
    assert result.digest == hashlib.sha256(result.output.encode()).hexdigest()
    assert result.survivors == () and result.left_behind is None


def test_a_failure_is_an_answer_with_its_code_and_last_words(kit: Kit, tmp_path: Path) -> None:
    result = make(kit, tmp_path, "fails").call()
    assert (result.ended, result.ok, result.code) == ("answered", False, kit.failure)
    assert result.message.endswith("the ledger said no")


def test_a_failure_without_words_says_its_code(kit: Kit, tmp_path: Path) -> None:
    assert make(kit, tmp_path, "fails silently").call().message == kit.silent


def test_of_a_long_story_the_last_whole_lines_are_kept(kit: Kit, tmp_path: Path) -> None:
    message = make(kit, tmp_path, "fails with a long story").call().message
    assert message.startswith("line ") and "line 2999 " in message and len(message.encode()) <= 2048


def test_an_end_by_a_signal_is_uncertain(kit: Kit, tmp_path: Path) -> None:
    result = make(kit, tmp_path, "dies by a signal").call()
    how = result.message.partition(": ")[0]  # behind it stands what it said last, which a function says where nothing else is read
    assert (result.ended, result.ok, how) == ("uncertain", False, "ended by signal 9") and result.output == kit.printed("half\n")


def test_what_cannot_be_started_was_not_dispatched(kit: Kit, tmp_path: Path) -> None:
    result = make(kit, tmp_path, "cannot be started").call()
    assert result.ended == "not_dispatched" and result.message.startswith(kit.unstarted)


# ---- the timeout is hard ----
@pytest.mark.parametrize(
    "behaviour",
    [
        "sleeps", "ignores SIGTERM", "forks", "starts a session", "forks twice", "stops itself", "forks for ever", "begins and stalls",
        "drips its headers", "drips its body", "announces for ever",
    ],
)  # fmt: skip
def test_the_timeout_is_hard(kit: Kit, tmp_path: Path, behaviour: str) -> None:
    tool = make(kit, tmp_path, behaviour)
    began = time.monotonic()
    result = tool.call(timeout=1 + kit.start)
    took = time.monotonic() - began - kit.start
    assert result.ended == "uncertain" and result.message.startswith(f"timed out after {1 + kit.start:g}s") and result.code is None
    assert 1 <= took < 3.2, took
    assert noted(tmp_path) and not [pid for pid in noted(tmp_path) if alive(pid)]
    assert result.survivors == ()


@pytest.mark.parametrize("behaviour", ["prints and sleeps", "begins and stalls"])
def test_what_was_printed_before_the_timeout_is_kept(kit: Kit, tmp_path: Path, behaviour: str) -> None:
    assert make(kit, tmp_path, behaviour).call(timeout=0.6 + kit.start).output == kit.printed("begun\n")


def test_a_timeout_stays_uncertain_even_if_the_tool_then_ends_well(kit: Kit, tmp_path: Path) -> None:
    tool = make(kit, tmp_path, "ends at SIGTERM")
    began = time.monotonic()
    result = tool.call(timeout=0.5 + kit.start)
    assert result.ended == "uncertain" and result.message == f"timed out after {0.5 + kit.start:g}s"
    assert time.monotonic() - began - kit.start < 1.0


def test_no_zombie_is_left(kit: Kit, tmp_path: Path) -> None:
    make(kit, tmp_path, "forks twice").call(timeout=0.5)
    with pytest.raises(ChildProcessError):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)


@pytest.mark.parametrize("behaviour", ["leaves a grandchild on its output", "leaves a silent daemon"])
def test_a_call_ends_with_its_own_process_and_the_rest_is_killed_a_second_later(kit: Kit, tmp_path: Path, behaviour: str) -> None:
    tool = make(kit, tmp_path, behaviour)
    began = time.monotonic()
    result = tool.call()
    took = time.monotonic() - began
    assert (result.ended, result.ok, kit.text(result.output)) == ("answered", True, "done") and took < 2.5 + kit.start, took
    assert not [pid for pid in noted(tmp_path) if alive(pid)]


def test_a_child_that_ends_within_a_second_is_waited_for(kit: Kit, tmp_path: Path) -> None:
    assert make(kit, tmp_path, "lets a child finish").call().output == "1\n2\n"


# ---- cancel ----
@pytest.mark.parametrize("behaviour", ["ignores SIGTERM", "sleeps"])
def test_a_cancelled_call_is_killed_within_a_second(kit: Kit, tmp_path: Path, behaviour: str) -> None:
    tool = make(kit, tmp_path, behaviour)
    asked: list[float] = []

    def stop() -> bool:
        asked.append(time.monotonic())
        return (tmp_path / "pids").exists()

    result = tool.call(timeout=30, stop=stop)
    assert result.ended == "uncertain" and result.message.partition(": ")[0] == "cancelled"
    assert time.monotonic() - asked[-1] < 1.0
    assert not [pid for pid in noted(tmp_path) if alive(pid)]


def test_stop_is_asked_at_least_every_fifth_of_a_second(kit: Kit, tmp_path: Path) -> None:
    def longest() -> float:
        moments = [time.monotonic()]

        def stop() -> bool:
            moments.append(time.monotonic())
            return False

        tool.call(timeout=1, stop=stop)
        assert len(moments) > 5
        return max(later - earlier for earlier, later in pairwise(moments))

    tool = make(kit, tmp_path, "sleeps")
    # a machine that stands still for a moment does not do so every time
    assert any(longest() < 0.25 for _ in range(4))


# ---- output ----
def peak_since_reset() -> int:
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) // 1024


def test_a_flood_is_cut_but_measured_and_costs_no_memory(kit: Kit, tmp_path: Path) -> None:
    tool = make(kit, tmp_path, "floods")
    Path("/proc/self/clear_refs").write_text("5")
    before = peak_since_reset()
    result = tool.call(output_bytes=100_000, timeout=60)
    assert peak_since_reset() - before < 20
    assert result.ok and result.truncated and len(result.output) == 100_000 and result.size == 200_000_000
    whole = hashlib.sha256()
    for _ in range(200):
        whole.update(b"x" * 1_000_000)
    assert result.digest == whole.hexdigest()


def test_a_flood_on_stderr_blocks_nothing(kit: Kit, tmp_path: Path) -> None:
    tool = make(kit, tmp_path, "floods stderr")
    before = peak_since_reset()
    result = tool.call(timeout=60)
    assert result.ok and kit.text(result.output) == "fine" and peak_since_reset() - before < 20


def test_a_tool_may_close_its_output(kit: Kit, tmp_path: Path) -> None:
    result = make(kit, tmp_path, "closes its output").call()
    assert (result.ended, result.ok, result.output, result.size) == ("answered", True, "", 0)


def test_a_line_of_a_megabyte_is_read(kit: Kit, tmp_path: Path) -> None:
    result = make(kit, tmp_path, "prints one long line").call()
    assert result.size == 1_000_000 and result.output == "z" * 1_000_000 and not result.truncated


def test_bytes_that_are_no_text_are_shown_not_lost(kit: Kit, tmp_path: Path) -> None:
    assert make(kit, tmp_path, "prints bad utf-8").call().output == "a\\xff\\xfeb"


def test_a_cut_goes_through_no_character(kit: Kit, tmp_path: Path) -> None:
    result = make(kit, tmp_path, "prints euro signs").call(output_bytes=100)
    assert result.output == "€" * 33 and result.truncated and result.size == 3000


# ---- input ----
def test_the_tool_gets_exactly_the_stored_bytes(kit: Kit, tmp_path: Path) -> None:
    arguments = {"b": 1.0, "a": "é\u2028\x7f", "n": -0.0, "big": 10**40, "nested": {"y": [], "x": None}}
    result = make(kit, tmp_path, "echoes").call(arguments)  # type: ignore[arg-type]
    assert result.output == '{"a":"é\u2028\x7f","b":1.0,"big":' + str(10**40) + ',"n":-0.0,"nested":{"x":null,"y":[]}}'


def test_arguments_beyond_a_pipe_arrive_whole(kit: Kit, tmp_path: Path) -> None:
    result = make(kit, tmp_path, "echoes").call({"a": "x" * 500_000})
    assert result.size == 500_000 + len('{"a":""}') and result.ok


@pytest.mark.parametrize("behaviour", ["does not read", "closes its input"])
def test_a_tool_need_not_read_its_input(kit: Kit, tmp_path: Path, behaviour: str) -> None:
    result = make(kit, tmp_path, behaviour).call({"a": "x" * 500_000})
    assert (result.ok, result.output) == (True, "ok")


def test_the_operator_s_terminal_and_files_are_out_of_reach(kit: Kit, tmp_path: Path) -> None:
    processes.use_fence(None, None)  # whatever was wired in this process before: the fence is a descriptor that tools are meant to have
    tool = make(kit, tmp_path, "shows its descriptors")
    with open(tmp_path / "secret", "w") as file:
        os.set_inheritable(file.fileno(), True)
        is_terminal, own_session, descriptors = json.loads(tool.call().output)
    assert not is_terminal and own_session
    assert set(descriptors) <= kit.descriptors, "only the standard streams, and the listing itself"


def descriptors() -> int:
    """Ours, once those of a peer in this process are closed."""
    time.sleep(0.1)
    return len(os.listdir("/proc/self/fd"))


def test_no_descriptor_of_ours_is_lost_over_many_calls(kit: Kit, tmp_path: Path) -> None:
    tools = [make(kit, tmp_path, behaviour) for behaviour in ("answers", "cannot be started") if behaviour in kit.behaviours]
    tools[0].call()
    before = descriptors()
    for tool in tools * 3:
        tool.call()
    tools[0].call(timeout=0.01)
    assert descriptors() <= before


# ---- secrets ----
def test_a_secret_reaches_its_tool_and_comes_back_as_its_name(kit: Kit, tmp_path: Path) -> None:
    result = make(kit, tmp_path, "tells its secret").call(secrets=kit_providers.secrets())
    assert (result.ended, result.ok, kit.text(result.output)) == ("answered", True, "***TOKEN***")
    assert result.digest == hashlib.sha256(result.output.encode()).hexdigest() and SECRET not in str(result)


def test_a_failure_tells_no_secret(kit: Kit, tmp_path: Path) -> None:
    result = make(kit, tmp_path, "fails with its secret").call(secrets=kit_providers.secrets())
    assert (result.ended, result.code) == ("answered", kit.failure)
    assert "it was ***TOKEN***" in result.message and SECRET not in str(result)


def test_a_secret_is_not_filled_before_the_call(kit: Kit, tmp_path: Path) -> None:
    assert SECRET not in repr(make(kit, tmp_path, "tells its secret").bind({}))


# ---- what is no answer ----
@pytest.mark.parametrize("behaviour", ["ends without an answer", "ends in the middle of an answer", "answers with what is none"])
def test_an_end_without_a_whole_answer_is_uncertain(kit: Kit, tmp_path: Path, behaviour: str) -> None:
    result = make(kit, tmp_path, behaviour).call()
    assert (result.ended, result.ok, result.code) == ("uncertain", False, None) and result.message


# ---- definition ----
def test_pinning_twice_gives_the_same_facts_and_names_the_files_it_read(kit: Kit, tmp_path: Path) -> None:
    tool = make(kit, tmp_path, "answers")
    assert tool.pin() == tool.pin()
    assert all(os.path.isabs(path) for path in tool.pin().paths)
    json.dumps(tool.pin().facts)
