"""No secret at rest, in no answer and in no error: canaries are said, typed and answered in every way there is, and found nowhere (I12)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from proofs import canaries, homes, leaky, workers
from proofs.canaries import Canary
from proofs.workers import Done

from toolgate_cli.runtime import deciding

Tell = Callable[[str, float], None]
EACH, FEW = 20, 8  # canaries of one home, with and without --long
LOOKS: tuple[tuple[str, ...], ...] = (
    ("pending", "list"), ("runs", "list"), ("events",), ("audit", "verify"), ("tools", "list"), ("tools", "show", "loud.say"),
    ("workflow", "check"), ("recover",),
)  # fmt: skip
SILENT = ("stderr and success", "declined", "timeout", "killed")  # of these nothing is in an answer
FORMS = (("--json",), ("-o", "tsv"), ("-o", "table", "-v"))


class Home:
    """A home with canaries in it, and all that was said by its commands."""

    def __init__(self, path: Path, known: list[Canary], timeout: str = "20s", provider: str = "command") -> None:
        self.path = path
        self.canaries = known
        self.environment = leaky.make(path, known, timeout, provider)
        self.leaks: list[str] = []

    def say(self, *words: str, form: tuple[str, ...] = ("--json",), first: Callable[[], None] | None = None, **env: str) -> Done:
        done = workers.spawn(self.path, *words, form=form, first=first, **{**self.environment, **env}).wait()
        assert "Traceback" not in done.err or "-v" in form, done.err
        for where, text in (("stdout", done.out), ("stderr", done.err)):
            self.leaks += canaries.found(self.canaries, f"{where} of {words[0]}", text.encode("utf-8", "surrogateescape"))
        return done

    def look(self) -> None:
        """Every command that looks, in every form; then every byte of what was kept."""
        open_rows = [row["id"] for row in self.say("pending", "list").items]
        runs = [run["id"] for run in self.say("runs", "list").items]
        words = [*LOOKS, *(("pending", "show", row) for row in open_rows[:6]), *(("runs", "show", run) for run in runs[:6])]
        for number, look in enumerate(words):
            self.say(*look, form=FORMS[number % len(FORMS)])
        self.say("events", form=("-o", "jsonl"))
        for folder in (self.path / ".toolgate", self.path / ".local"):
            assert folder.is_dir(), folder
            self.leaks += canaries.found_below(self.canaries, folder)

    def refused(self, canary: Canary, done: Done) -> None:
        """A person's words are refused with exit 7, and it is said which secret was in them."""
        assert (done.code, done.out) == (7, ""), done
        assert canary.name in done.error["message"], done


def every_home(long: bool, seed: int, count: int) -> Iterator[list[Canary]]:
    """`count`: of homes, with --long."""
    for number in range(count if long else 1):
        yield canaries.some(seed * 1000 + number, EACH if long else FEW)


def given(home: Home, value: object) -> str:
    (home.path / "given.json").write_text(json.dumps({"given": value}))
    return "given.json"


@pytest.fixture
def folder() -> Iterator[Path]:
    with homes.folder() as path:
        yield path


def test_what_a_tool_says_of_its_secrets_is_kept_nowhere(folder: Path, long: bool, tally: Tell) -> None:
    for number, known in enumerate(every_home(long, 1, 24)):
        home = Home(folder / str(number), known, timeout="600ms")
        for mode in leaky.OUTSPOKEN:
            done = home.say("start", "say", "--inputs", given(home, {"mode": mode}))
            expected = {"timeout": 9, "killed": 9, "stderr": 1, "raises": 1}.get(mode, 0)
            assert done.code == expected, (mode, done)
            if mode not in SILENT:
                assert "***CANARY_" in done.out, (mode, done)
            assert not home.leaks, (mode, home.leaks[:3])
        home.look()
        assert not home.leaks, home.leaks[:3]
        tally("canaries", len(known))
        tally("calls", len(leaky.OUTSPOKEN))


@pytest.mark.parametrize("provider", ["http", "mcp", "python"])
def test_what_a_peer_a_function_or_a_server_says_of_its_secrets_is_kept_nowhere(
    folder: Path, provider: str, long: bool, tally: Tell
) -> None:
    fails = ("fails", "declined") if provider == "mcp" else ("fails",)  # a server has no codes to tell one from the other
    for number, known in enumerate(every_home(long, {"python": 9, "http": 10, "mcp": 11}[provider], 12)):
        home = Home(folder / str(number), known, "3s", provider)
        for mode in leaky.TOLD_BY_ALL:
            done = home.say("start", "say", "--inputs", given(home, {"mode": mode}))
            assert done.code == {"timeout": 9, "no answer": 9, **dict.fromkeys(fails, 1)}.get(mode, 0), (mode, done)
            if mode not in (*SILENT, "no answer"):
                assert "***CANARY_" in done.out, (mode, done)
            assert not home.leaks, (mode, home.leaks[:3])
        home.look()
        assert not home.leaks, home.leaks[:3]
        tally("canaries", len(known))
        tally("calls", len(leaky.TOLD_BY_ALL))


def test_a_value_that_a_cap_goes_through_is_not_kept_in_part(folder: Path, long: bool, tally: Tell) -> None:
    dice = random.Random(2)
    for number, known in enumerate(every_home(long, 2, 5)):
        home = Home(folder / str(number), known)
        for canary in known:
            length = len(canary.value.encode())
            wish = {"only": canary.name, "cap": leaky.CAP, "said": leaky.SAID, "shown": leaky.SHOWN}
            inside = dice.randrange(length // 2 + 2, length)
            for mode in ("cap", "cuts"):
                home.say("start", "say", "--inputs", given(home, {"mode": mode, "inside": inside, **wish}))
            assert not home.leaks, (canary, inside, home.leaks[:3])
            tally("canaries", 1)
        home.look()
        assert not home.leaks, home.leaks[:3]


def test_what_a_person_gives_with_a_secret_in_it_is_refused(folder: Path, long: bool, tally: Tell) -> None:
    for number, known in enumerate(every_home(long, 3, 5)):
        home = Home(folder / str(number), known)
        runs = {flow: home.say("start", flow).answer["run"]["id"] for flow in ("ask", "form", "review", "gate")}
        runs["failed"] = home.say("start", "talk").answer["run"]["id"]
        for turn in range(max(len(known), len(WAYS))):
            canary = known[turn % len(known)]
            (home.path / "said.json").write_text(json.dumps({"word": canary.value}))
            home.refused(canary, WAYS[turn % len(WAYS)](home, runs, canary.value))
        _doubtful(home, home.path / "said.json")
        _named_as_actor(home, runs["ask"])
        _typed_where_a_name_is_wanted(home, runs["failed"])
        home.look()
        assert not home.leaks, home.leaks[:3]
        tally("canaries", len(known))


WAYS: tuple[Callable[[Home, dict[str, str], str], Done], ...] = (
    lambda home, _, v: home.say("start", "ask", "--inputs", given(home, {"deep": [v]})),
    lambda home, _, v: home.say("start", "ask", "--inputs", given(home, {v: 1})),
    lambda home, _, v: home.say("start", "ask", "-i", f"given={json.dumps(v)}"),
    lambda home, _, v: home.say("start", "ask", "-i", f"given=1{v}"),
    lambda home, runs, v: home.say("approve", runs["ask"], "-m", v),
    lambda home, runs, v: home.say("reject", runs["ask"], "-m", f"no: {v}!"),
    lambda home, runs, v: home.say("answer", runs["form"], f"word={v}"),
    lambda home, runs, _: home.say("answer", runs["form"], "--answers", "said.json"),
    lambda home, runs, v: home.say("review", runs["review"], "-m", v),
    lambda home, runs, v: home.say("approve", runs["gate"], "--step", "first", "-m", v),
    lambda home, runs, v: home.say("reject", runs["gate"], "--step", "first", "-m", v),
    lambda home, runs, v: home.say("cancel", runs["form"], "-m", v),
    lambda home, runs, v: home.say("retry", runs["failed"], "--step", "first", "-m", v),
)


def _doubtful(home: Home, files: Path) -> None:
    """An outcome that somebody found out."""
    started = home.say("start", "say", "--inputs", given(home, {"mode": "killed"}))
    row = started.answer["pending"][0]["ref"]
    files.write_text(json.dumps({"applied": True, "result": {"token": home.canaries[0].value}}))
    home.refused(home.canaries[0], home.say("continue-tool", row, "--outcome-file", str(files)))
    home.refused(home.canaries[1], home.say("continue-tool", row, "-m", home.canaries[1].value))
    home.refused(home.canaries[2], home.say("retry", row, "--may-run-twice", "-m", home.canaries[2].value))


def _named_as_actor(home: Home, run: str) -> None:
    for canary in home.canaries:
        if canary.value.isprintable() and "*" not in canary.value:
            home.refused(canary, home.say("approve", run, "--actor", canary.value))
            return


def _typed_where_a_name_is_wanted(home: Home, failed: str) -> None:
    """Errors quote what was typed: whole, but for what stands before the @ of a ref."""
    for canary in [canary for canary in home.canaries if "@" not in canary.value]:
        word = f"x{canary.value}"  # no option
        for words in (("approve", f"c{word}"), ("start", word), ("cancel", f"r{word}"), ("retry", failed, "--step", word)):
            done = home.say(*words)
            assert done.code in (3, 5) and f"***{canary.name}***" in done.error["message"], (words, done)


TURNS: dict[str, Callable[[str], object]] = {
    "arguments": lambda v: [{"type": "tool_invocation", "capability": "quiet.ask", "arguments": {"x": v}}],
    "arguments as text": lambda v: [{"type": "tool_invocation", "capability": "quiet.ask", "arguments": json.dumps({"x": [v]})}],
    "rationale": lambda v: [{"type": "tool_invocation", "capability": "quiet.ask", "arguments": {}, "rationale": f"since {v}"}],
    "label": lambda v: [{"type": "tool_invocation", "capability": "quiet.ask", "arguments": {}, "id": v}],
    "capability": lambda v: [{"type": "tool_invocation", "capability": v, "arguments": {}}],
    "context": lambda v: [{"type": "set_context", "values": {"note": {"x": v}}}, {"type": "complete"}],
    "question": lambda v: [{"type": "ask", "question": v}],
    "reason": lambda v: [{"type": "escalate", "reason": v}],
    "words": lambda v: [{"type": "say", "message": v}],
    "output": lambda v: [{"type": "complete", "output": v}],
    "command": lambda v: [{"type": v}],
}


def test_a_turn_with_a_secret_in_it_is_not_stored(folder: Path, long: bool, tally: Tell) -> None:
    for number, known in enumerate(every_home(long, 4, 5)):
        home = Home(folder / str(number), known)
        for turn in range(max(len(known), 2 * len(TURNS))):
            canary = known[turn % len(known)]
            commands = list(TURNS.values())[turn % len(TURNS)](canary.value)
            raw = json.dumps(commands) if turn % 3 else f"I think {canary.value}"
            text = _hidden(raw) if turn % 3 == 2 and "\\" not in raw else raw
            entry = f"text = {toml(text)}" if turn % 2 else f"commands = {toml(commands)}"
            (home.path / "script.toml").write_text(f"schema = 1\n[[turns]]\n{entry}\n")
            done = home.say("start", "talk")
            assert done.code == 1 and canary.name in done.answer["run"]["error"]["message"], (canary, entry, done)
        home.look()
        assert not home.leaks, home.leaks[:3]
        tally("canaries", len(known))


def _hidden(text: str) -> str:
    """JSON in which no letter stands for itself."""
    return "".join(f"\\u{ord(letter):04x}" if letter.isascii() and letter.isalpha() else letter for letter in text)


def _hidden(text: str) -> str:
    """JSON in which no letter stands for itself."""
    return "".join(f"\\u{ord(letter):04x}" if letter.isascii() and letter.isalpha() else letter for letter in text)


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + " }"
    return "[" + ", ".join(map(toml, value)) + "]" if isinstance(value, list) else json.dumps(value, ensure_ascii=False).replace("\x7f", "")


def test_a_value_that_is_put_together_is_not_stored(folder: Path, long: bool, tally: Tell) -> None:
    for number, known in enumerate(every_home(long, 5, 4)):
        home = Home(folder / str(number), known)
        for turn, canary in enumerate(known):
            cut = len(canary.value) // 2
            parts = [canary.value[:cut], canary.value[cut:]]
            flow = ("joins", "joins-arguments")[turn % 2]
            done = home.say("start", flow, "--inputs", given(home, parts))
            assert done.code == 1 and canary.name in json.dumps(done.answer), done
            tally("canaries", 1)
        home.leaks = []  # a half that somebody gives is no secret
        home.look()
        whole = [Canary(c.name, c.value, c.alphabet) for c in known]
        assert not [leak for leak in home.leaks if _is_whole(leak, whole)], home.leaks[:3]


def _is_whole(leak: str, known: list[Canary]) -> bool:
    spelling = leak.rpartition(": b")[2]
    return any(repr(canary.value.encode())[2:-1] in spelling for canary in known)


def test_a_file_with_a_secret_in_it_is_not_taken(folder: Path, long: bool, tally: Tell) -> None:
    for number, known in enumerate(every_home(long, 6, 4)):
        home = Home(folder / str(number), known)
        whole = (home.path / "toolgate.toml").read_text()
        flow = (home.path / "ask.toml").read_text()
        for turn, canary in enumerate(known):
            quoted = json.dumps(canary.value)
            if turn % 4 == 0:
                (home.path / "toolgate.toml").write_text(whole.replace('"Says what it should not."', quoted))
            elif turn % 4 == 1:
                (home.path / "ask.toml").write_text(flow.replace('x = "${inputs.given}"', f"x = {quoted}".replace("${", "$${")))
            elif turn % 4 == 2:
                (home.path / "ask.toml").write_text(flow.replace('type = "tool"', f'type = "tool"\ngate = {quoted}'))
            else:
                (home.path / "ask.toml").write_text(flow.replace("arguments = {", f"{quoted} = {{"))
            done = home.say("start", "ask")
            assert (done.code, done.out) == (7, ""), done
            (home.path / "toolgate.toml").write_text(whole)
            (home.path / "ask.toml").write_text(flow)
            (home.path / "broken.json").write_text('{"given": ' + quoted + ' "x"}')
            assert home.say("start", "ask", "--inputs", "broken.json").code == 7
            tally("canaries", 1)
        assert home.say("start", "ask").code == 0
        home.look()
        assert not home.leaks, home.leaks[:3]


def test_a_fault_of_the_program_tells_no_value(folder: Path, long: bool, tally: Tell) -> None:
    for number, known in enumerate(every_home(long, 7, 2)):
        home = Home(folder / str(number), known)
        assert home.say("start", "ask").code == 0
        for turn, canary in enumerate(known[:6]):
            form = FORMS[turn % len(FORMS)] + (() if "-v" in FORMS[turn % len(FORMS)] else ("-v",))
            done = home.say("approve", first=lambda c=canary: _break(c.value), form=form)  # type: ignore[misc]  # bound now
            assert done.code == 70 and "RuntimeError" in done.err, done
            tally("canaries", 1)
        reports = list((home.path / ".local").rglob("reports/*.txt"))
        assert reports and all("RuntimeError" in report.read_text() for report in reports)
        home.look()
        assert not home.leaks, home.leaks[:3]


def _break(value: str) -> None:
    """The process holds the value in a local, in an exception and in what it came from."""

    def broken(*_: object) -> None:
        secret = value
        try:
            raise KeyError(secret)
        except KeyError as error:
            raise RuntimeError(f"it was {secret}") from error

    deciding._decide = broken  # type: ignore[assignment]


def test_a_tool_gets_what_is_declared_and_nothing_else(folder: Path, long: bool, tally: Tell) -> None:
    for number, known in enumerate(every_home(long, 8, 3)):
        home = Home(folder / str(number), known)
        strangers = [Canary(f"STRANGER_{c.name}", c.value, c.alphabet) for c in canaries.some(number + 900, 5)]
        home.canaries = [*known, *strangers]
        undeclared = {c.name: c.value for c in strangers} | {
            "TOOLGATE_OUTPUT": "json",
            "LD_LIBRARY_PATH": "/nowhere",
            "PYTHONPATH": "/nowhere",
        }
        for mode in ("environment", "command line"):
            done = home.say("start", "say", "--inputs", given(home, {"mode": mode}), **undeclared)
            assert done.code == 0, done
        names = set((home.path / "seen.names").read_text().split("\n")) - {"LC_CTYPE"}  # which Python sets itself
        ours = {"PATH", "HOME", "LANG", "TOOLGATE_RUN", "TOOLGATE_CALL", "TOOLGATE_IDEMPOTENCY_KEY"}
        assert names == {canary.name for canary in known} | ours
        home.leaks += canaries.found(home.canaries, "the command line", (home.path / "seen.cmdline").read_bytes())
        home.look()
        assert not home.leaks, home.leaks[:3]
        tally("canaries", len(known) + len(strangers))


def test_the_canaries_are_alive(folder: Path) -> None:
    """Each reaches its tool, and the search finds what is there."""
    known = canaries.some(99, EACH)
    home = Home(folder / "home", known)
    tool = (home.path / "loud.py").read_text()
    dump = 'open("seen.json", "w").write(json.dumps(dict(os.environ)))'
    (home.path / "loud.py").write_text(tool.replace("values = [os", f"{dump}\nvalues = [os", 1))
    assert home.say("start", "say", "--inputs", given(home, {"mode": "stdout"})).code == 0
    seen = json.loads((home.path / "seen.json").read_text())
    assert {canary.name: seen[canary.name] for canary in known} == {canary.name: canary.value for canary in known}
    for canary in known:
        for spelling in canary.spellings():
            assert canaries.found([canary], "here", b"<" + spelling + b">")
