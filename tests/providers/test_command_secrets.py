"""Secrets of a command: filled in when it is started, and taken out of what it says before anything of that is cut (I12)."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from toolgate_cli.core import disguises
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.secrets import Secrets
from toolgate_cli.core.types import Json
from toolgate_cli.providers import command
from toolgate_cli.providers.command import Fields
from toolgate_cli.runtime.plugs import Answer, InvokeLimits


class Claim(NamedTuple):
    call_id: str
    run_id: str
    key: str
    arguments: str
    bound: object
    fence: str | None = None
    answer: Answer | None = None


def bind(fields: Fields, home: Path, arguments: dict[str, Json]) -> command.Bound:
    pinned = command.pin(fields, str(home), "/usr/bin:/bin")
    assert pinned.error is None, pinned.error
    return command.bind(fields, pinned.facts, str(home), arguments)


def secrets(**values: str) -> Secrets:
    return Secrets(values, {}, tuple((spelling, name) for name, value in values.items() for spelling in disguises.of(value)))


def run(known: Secrets, fields: Fields, home: Path, arguments: dict[str, Json] | None = None, cap: int = 1 << 20) -> ToolResult:
    bound = bind(fields, home, arguments or {})
    claim = Claim("c-1", "r-1", "k-1", json.dumps(arguments or {}), bound)
    return command.invoke(claim, InvokeLimits(10, cap, lambda: False, known))


def test_a_secret_is_filled_in_when_the_tool_is_started_and_not_before(tmp_path: Path) -> None:
    fields = Fields(
        (sys.executable, "-c", "import os; open('seen', 'w').write(os.environ['TOKEN'])"), env={"TOKEN": "a ${secret.T} ${args.x}"}
    )
    bound = bind(fields, tmp_path, {"x": "${secret.T} $${args.x}"})
    assert bound.env["TOKEN"] == "a ${secret.T} ${secret.T} $${args.x}"
    assert run(secrets(T="sesame-open"), fields, tmp_path, {"x": "${secret.T} $${args.x}"}).ok
    assert (tmp_path / "seen").read_text() == "a sesame-open ${secret.T} $${args.x}"  # an argument brings no reference in


@pytest.mark.parametrize("value", ["x" * 65536, "\0sesame-open"])
def test_a_secret_that_no_environment_can_carry_starts_nothing(tmp_path: Path, value: str) -> None:
    fields = Fields((sys.executable, "-c", "open('seen', 'w')"), env={"TOKEN": "${secret.T}${secret.T}"})
    result = run(secrets(T=value), fields, tmp_path)
    assert (
        result.ended == "not_dispatched"
        and "env TOKEN" in result.message
        and "xxx" not in result.message
        and not (tmp_path / "seen").exists()
    )


SAYS = "import os, sys, time; token = os.environ['TOKEN']; w = lambda fd, text: os.write(fd, text.encode())\n"


@pytest.mark.parametrize("pause", [0, 0.01])
@pytest.mark.parametrize("kept", range(1, 12))
def test_a_secret_that_is_cut_by_the_cap_or_comes_in_pieces_is_not_there(tmp_path: Path, kept: int, pause: float) -> None:
    code = f"w(1, 'x' * {100 - kept} + token[:5]); time.sleep({pause}); w(1, token[5:] + 'rest')"
    fields = Fields((sys.executable, "-c", SAYS + code), env={"TOKEN": "${secret.T}"})
    result = run(secrets(T="sesame-open"), fields, tmp_path, cap=100)
    assert result.output == ("x" * (100 - kept) + "***T***rest")[:100] and result.truncated == (kept < 11)
    assert result.size == 100 - kept + len("***T***rest")


def test_of_a_secret_that_stderr_is_cut_in_nothing_is_told(tmp_path: Path) -> None:
    for before in (2044, 2040, 65530):
        fields = Fields((sys.executable, "-c", SAYS + f"w(2, token + 'y' * {before}); sys.exit(1)"), env={"TOKEN": "${secret.T}"})
        message = run(secrets(T="sesame-open"), fields, tmp_path).message
        assert message.endswith("y" * 2000) and "open" not in message


def test_of_a_secret_that_a_killed_tool_was_about_to_say_nothing_is_kept(tmp_path: Path) -> None:
    fields = Fields((sys.executable, "-c", SAYS + "w(1, 'so: ' + token[:-2]); os.kill(os.getpid(), 9)"), env={"TOKEN": "${secret.T}"})
    assert run(secrets(T="sesame-open"), fields, tmp_path).output == "so: ***T***"


def test_the_digest_is_of_what_is_left_so_that_no_value_can_be_guessed_from_it(tmp_path: Path) -> None:
    fields = Fields((sys.executable, "-c", SAYS + "w(1, token)"), env={"TOKEN": "${secret.T}"})
    assert run(secrets(T="sesame-open"), fields, tmp_path).digest == hashlib.sha256(b"***T***").hexdigest()


def test_a_flood_is_scrubbed_in_the_memory_of_a_chunk(tmp_path: Path) -> None:
    fields = Fields((sys.executable, "-c", SAYS + "for _ in range(300): w(1, (token + 'x' * 100) * 500)"), env={"TOKEN": "${secret.T}"})
    result = run(secrets(T="sesame-open"), fields, tmp_path, cap=1000)
    assert result.truncated and len(result.output) == 1000 and "sesame" not in result.output and result.size == 300 * 500 * 107


def test_the_last_words_of_what_was_killed_are_told_with_no_secret_in_them(tmp_path: Path) -> None:
    says = (
        "import os, sys, time; print('x' * 5000, file=sys.stderr); print('booked with', os.environ['TOKEN'], file=sys.stderr, flush=True)"
    )
    fields = Fields((sys.executable, "-c", f"{says}; time.sleep(60)"), env={"TOKEN": "${secret.T}"})
    claim = Claim("c-1", "r-1", "k-1", "{}", bind(fields, tmp_path, {}))
    result = command.invoke(claim, InvokeLimits(1, 1 << 20, lambda: False, secrets(T="sesame-open")))
    assert (result.ended, result.message) == ("uncertain", "timed out after 1s: booked with ***T***")
    fields = fields._replace(argv=(sys.executable, "-c", f"{says}; os.kill(os.getpid(), 9)"))
    assert run(secrets(T="sesame-open"), fields, tmp_path).message == "ended by signal 9: booked with ***T***"
