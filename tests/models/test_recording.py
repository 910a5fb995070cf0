"""A live model's turns as a script: what is replayed is what was answered, whoever else records, and without a secret."""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from peers.aimock import KEY

from toolgate_cli.core import canonical, disguises, spellings
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.secrets import Secrets
from toolgate_cli.core.turns import Completion
from toolgate_cli.models import _recording, scripted
from toolgate_cli.models._recording import doubts, keep, ready
from toolgate_cli.runtime import asking as runtime_asking

from .asking import ADAPTERS, MEANS, REQUEST, SECRETS, called, fields
from .wire import Wire, reply

SAID = Completion([{"type": "say", "message": "fine"}])


def record(home: Path, said: Completion, **request: Any) -> None:
    keep("live.toml", str(home), REQUEST._replace(**request), said, SECRETS)


def replay(home: Path, **request: Any) -> Any:
    return runtime_asking.commands(scripted.complete(scripted.Fields("live.toml"), str(home), REQUEST._replace(**request)))


KEYS = st.text(st.characters(codec="utf-8"), max_size=5)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(KEYS, JSON, max_size=3).map(lambda made: {**made, "type": "complete"}), max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
def test_whatever_was_answered_is_replayed_to_the_last_digit(tmp_path: Path, commands: list[Any]) -> None:
    record(tmp_path, Completion(commands))
    assert canonical.encode(replay(tmp_path)) == canonical.encode(commands)


def test_a_folder_that_somebody_keeps_locked_is_not_waited_for_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may look into a folder can lock it; shared is enough."""
    monkeypatch.setattr(_recording, "_PATIENCE", 0.05)
    held = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(held, fcntl.LOCK_SH)
    caught: list[ToolgateError] = []

    def refused() -> None:
        with pytest.raises(ToolgateError) as error:
            record(tmp_path, SAID)
        caught.append(error.value)

    waits = threading.Thread(target=refused, daemon=True)
    waits.start()
    waits.join(5)
    os.close(held)
    assert [(error.kind, error.retryable) for error in caught] == [("storage", True)] and not (tmp_path / "live.toml").exists()
    record(tmp_path, SAID)
    assert replay(tmp_path) == SAID.commands


def test_a_raw_answer_is_replayed_raw(tmp_path: Path) -> None:
    record(tmp_path, Completion(text='not "JSON"\n\x07'))
    assert replay(tmp_path) == {"unparsed": 'not "JSON"\n\x07'}


def test_turns_are_kept_by_step_and_ordinal_and_the_last_one_counts(tmp_path: Path) -> None:
    for ordinal in range(3):
        record(tmp_path, Completion([{"type": "say", "message": f"old {ordinal}"}]), ordinal=ordinal)
    record(tmp_path, Completion([{"type": "say", "message": "new"}]), ordinal=1)
    assert [replay(tmp_path, ordinal=at)[0]["message"] for at in range(3)] == ["old 0", "new", "old 2"]


def test_steps_of_one_id_in_two_blocks_are_told_apart(tmp_path: Path) -> None:
    for path in ("first/decide", "second/decide"):
        record(tmp_path, Completion([{"type": "say", "message": path}]), path=path)
    assert [replay(tmp_path, path=path)[0]["message"] for path in ("first/decide", "second/decide")] == ["first/decide", "second/decide"]


def test_what_a_person_wrote_into_the_script_stays(tmp_path: Path) -> None:
    (tmp_path / "live.toml").write_text('schema = 1\n[[turns]]\nstep = "other"\nwhen_result_contains = "x"\ntext = "[]"\n')
    record(tmp_path, SAID)
    [first, second] = scripted.load(str(tmp_path), "live.toml")[0]
    assert (first.step, first.when_result_contains, first.text) == ("other", "x", "[]") and second.commands == SAID.commands


@pytest.mark.parametrize(
    "said", [Completion(fault="cut off"), Completion([{"type": "say", "message": f"it is {KEY}"}]), Completion(text=KEY)]
)
def test_what_is_not_stored_is_not_recorded(tmp_path: Path, said: Completion) -> None:
    record(tmp_path, said)
    assert not (tmp_path / "live.toml").exists()


@pytest.mark.parametrize("escape", ["\\u{:04x}", "\\u{:04X}"])
def test_a_secret_that_the_escapes_of_a_raw_answer_hide_is_not_recorded(tmp_path: Path, escape: str) -> None:
    """One that is too long for a mixture of spellings to be known: it shows once the answer is parsed."""
    long = "".join(chr(97 + number * 7 % 26) for number in range(spellings.MOST + 1))
    known = Secrets({"LONG": long}, {}, tuple((spelling, "LONG") for spelling in disguises.of(long)))
    mixed = "".join(escape.format(ord(letter)) if number % 3 == 0 else letter for number, letter in enumerate(long))
    keep("live.toml", str(tmp_path), REQUEST, Completion(text=f'[{{"type":"say","message":"{mixed}"}}]'), known)
    assert not (tmp_path / "live.toml").exists()
    keep("live.toml", str(tmp_path), REQUEST, Completion(text=f'["{mixed[:96]}"]'), known)
    assert replay(tmp_path)[0] in long


def test_many_who_record_into_one_script_lose_nothing_of_each_other(tmp_path: Path) -> None:
    threads = [threading.Thread(target=record, args=(tmp_path, SAID), kwargs={"ordinal": at}) for at in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(entry.ordinal or 0 for entry in scripted.load(str(tmp_path), "live.toml")[0]) == list(range(16))


def test_the_file_is_whole_or_as_it_was_and_nobody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(tmp_path, SAID)
    before = (tmp_path / "live.toml").read_bytes()

    def full(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolgateError, match=r"could not be recorded: live\.toml: No space left on device"):
        record(tmp_path, Completion([{"type": "say", "message": "more"}]), ordinal=1)
    assert (tmp_path / "live.toml").read_bytes() == before and [path.name for path in tmp_path.iterdir()] == ["live.toml"]
    assert stat.S_IMODE((tmp_path / "live.toml").stat().st_mode) == 0o600


@pytest.mark.parametrize("adapter", sorted(ADAPTERS))
def test_an_adapter_records_what_it_answers(tmp_path: Path, wire: Wire, adapter: str) -> None:
    wire.answers = [reply(called(adapter, text="fine"))]
    made = fields(adapter, wire.url, record="live.toml")
    said = ADAPTERS[adapter].complete(made, str(tmp_path), REQUEST, MEANS)
    assert replay(tmp_path) == said.commands == SAID.commands and KEY not in (tmp_path / "live.toml").read_text()
    assert ADAPTERS[adapter].files(made, str(tmp_path)) == ("live.toml",) and not list(ADAPTERS[adapter].doubts(made, str(tmp_path)))


@pytest.mark.parametrize("adapter", sorted(ADAPTERS))
def test_where_nothing_can_be_recorded_nothing_is_asked(tmp_path: Path, wire: Wire, adapter: str) -> None:
    (tmp_path / "broken.toml").write_text("schema = 2")
    (tmp_path / "link.toml").symlink_to("/tmp/elsewhere.toml")
    for name in ("gone/live.toml", "broken.toml", "../live.toml", "/live.toml", "link.toml", "."):
        made = fields(adapter, wire.url, record=name)
        with pytest.raises(ToolgateError, match="could not be recorded"):
            ADAPTERS[adapter].complete(made, str(tmp_path), REQUEST, MEANS)
        assert [path for path, _ in doubts(name, str(tmp_path))] == [("record",)]
    assert wire.requests == []
    ready("new.toml", str(tmp_path))
