"""Command tools: what belongs to their definition, how they are filled, and what they see of us (CASES H2, H12, H13, G14)."""

from __future__ import annotations

import json
import os
import pwd
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.types import Json
from toolgate_cli.host.private import home_of_user
from toolgate_cli.providers import command
from toolgate_cli.providers.command import Fields
from toolgate_cli.runtime.plugs import Answer, InvokeLimits

PATH = "/usr/local/bin:/usr/bin:/bin"
SHOW = "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd(), sys.stdin.read()]))"


class Claim(NamedTuple):
    call_id: str
    run_id: str
    key: str
    arguments: str
    bound: object
    fence: str | None = None
    answer: Answer | None = None


def facts(fields: Fields, home: Path, path: str = PATH) -> dict[str, Json]:
    pinned = command.pin(fields, str(home), path)
    assert pinned.error is None, pinned.error
    assert isinstance(pinned.facts, dict)
    return pinned.facts


def fault(fields: Fields, home: Path, path: str = PATH) -> str:
    pinned = command.pin(fields, str(home), path)
    assert pinned.error is not None
    return pinned.error


def filled(argv: tuple[str, ...], arguments: dict[str, Json], home: Path) -> tuple[str, ...]:
    fields = Fields(("/bin/true", *argv))
    return command.bind(fields, facts(fields, home), str(home), arguments).argv[1:]


def run(fields: Fields, home: Path, arguments: dict[str, Json] | None = None) -> ToolResult:
    bound = command.bind(fields, facts(fields, home), str(home), arguments or {})
    claim = Claim("c-1", "r-1", "k-1", json.dumps(arguments or {}), bound)
    return command.invoke(claim, InvokeLimits(10, 1 << 20, lambda: False))


def program(place: Path, text: str = "#!/bin/sh\necho mine\n") -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    place.chmod(0o755)
    return place


# ---- the executable ----
def test_a_bare_name_is_looked_up_in_the_configured_path_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs, home = tmp_path / "ours", tmp_path / "theirs", tmp_path / "home"
    home.mkdir()
    program(ours / "pay")
    program(theirs / "pay")
    monkeypatch.setenv("PATH", str(theirs))
    assert facts(Fields(("pay",)), home, f"/nowhere:{ours}")["executable"] == str(ours / "pay")


@pytest.mark.parametrize("path", [PATH, "." + ":" + PATH, ":" + PATH, "home:" + PATH])
def test_a_bare_name_is_never_taken_from_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    program(tmp_path / "home" / "git")
    program(tmp_path / "home" / "only-here")
    monkeypatch.chdir(tmp_path / "home")
    monkeypatch.setenv("PATH", ".:" + str(tmp_path / "home"))
    assert "there is no executable only-here" in fault(Fields(("only-here",)), tmp_path / "home", path)


def test_a_name_with_a_slash_is_relative_to_cwd_and_an_absolute_one_stays(tmp_path: Path) -> None:
    tool = program(tmp_path / "sub" / "tool")
    assert facts(Fields(("./tool",), cwd="sub"), tmp_path)["executable"] == str(tool)
    assert facts(Fields(("sub/tool",)), tmp_path)["executable"] == str(tool)
    assert facts(Fields(("/bin/true",)), tmp_path)["executable"] == "/bin/true"


def test_what_is_started_is_the_resolved_path_under_the_name_of_that_path(tmp_path: Path) -> None:
    bound = command.bind(Fields(("true",)), facts(Fields(("true",)), tmp_path), str(tmp_path), {})
    assert bound.argv == ("/usr/bin/true",)


def test_a_link_is_started_as_it_is_named_but_where_it_leads_is_part_of_the_definition(tmp_path: Path) -> None:
    (tmp_path / "tool").symlink_to("/bin/true")
    before = facts(Fields(("./tool",)), tmp_path)
    (tmp_path / "tool").unlink()
    (tmp_path / "tool").symlink_to("/bin/echo")
    after = facts(Fields(("./tool",)), tmp_path)
    assert before["executable"] == after["executable"] == str(tmp_path / "tool") and before["real"] != after["real"]


def test_a_program_that_appears_earlier_in_the_path_is_among_the_paths_to_watch(tmp_path: Path) -> None:
    pinned = command.pin(Fields(("true",)), str(tmp_path), f"{tmp_path}/early:/usr/bin")
    assert f"{tmp_path}/early/true" in pinned.paths and "/usr/bin/true" in pinned.paths
    missing = command.pin(Fields(("no-such",)), str(tmp_path), "/usr/bin")
    assert missing.error and missing.paths == ("/usr/bin/no-such",)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        (Fields(()), "argv is empty"),
        (Fields(("",)), "names no program"),
        (Fields(("a\0b",)), "names no program"),
        (Fields(("no-such-program",)), "no executable no-such-program in"),
        (Fields(("./no-such",)), "no executable /"),
        (Fields(("./plain.txt",)), "plain.txt is not an executable file"),
        (Fields((".",)), "is not an executable file"),
        (Fields(("./folder",)), "folder is not an executable file"),
        (Fields(("${args.program}",)), "argv[0] holds a reference"),
        (Fields(("/bin/${args.program}",)), "argv[0] holds a reference"),
        (Fields(("/bin/true",), cwd="nowhere"), "there is no folder"),
        (Fields(("/bin/true",), pin=("missing.csv",)), "missing.csv cannot be read: no such file"),
        (Fields(("/bin/true",), pin=("folder",)), "folder cannot be read: is a directory"),
        (Fields(("/bin/true",), pin=("pipe",)), "pipe is not a regular file"),
        (Fields(("/bin/true",), pin=("../outside",)), "../outside leads out of the home"),
        (Fields(("/bin/true",), pin=("/etc/passwd",)), "/etc/passwd leads out of the home"),
        (Fields(("/bin/true",), pin=("link-out",)), "link-out leads out of the home"),
        (Fields(("/bin/true",), env={"TOOLGATE_CALL": "x"}), "env may not set TOOLGATE_CALL"),
        (Fields(("/bin/true",), env={"A=B": "x"}), "no name of a variable"),
        (Fields(("/bin/true",), env={"": "x"}), "no name of a variable"),
    ],
)
def test_a_tool_that_cannot_be_used_says_why(tmp_path: Path, fields: Fields, says: str) -> None:
    home = tmp_path / "home"
    (home / "folder").mkdir(parents=True)
    (home / "plain.txt").write_text("x")
    os.mkfifo(home / "pipe")
    (tmp_path / "outside").write_text("x")
    (home / "link-out").symlink_to(tmp_path / "outside")
    assert says in fault(fields, home)


def test_an_unreadable_pinned_file_is_an_error(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (tmp_path / "rates.csv").write_text("x")
    (tmp_path / "rates.csv").chmod(0)
    assert "permission denied" in fault(Fields(("/bin/true",), pin=("rates.csv",)), tmp_path)


# ---- pinned content ----
@pytest.mark.parametrize("changed", ["tool.sh", "script.py", "data/rates.csv"])
def test_a_change_of_any_pinned_file_changes_the_facts(tmp_path: Path, changed: str) -> None:
    program(tmp_path / "tool.sh")
    (tmp_path / "script.py").write_text("1")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rates.csv").write_text("2")
    (tmp_path / "other").write_text("3")
    fields = Fields(("./tool.sh", "script.py", "--flag", "${args.x}"), pin=("data/rates.csv",))
    before = facts(fields, tmp_path)
    assert list(before["files"]) == ["data/rates.csv", "script.py", "tool.sh"]  # type: ignore[arg-type]
    (tmp_path / "other").write_text("4")
    assert facts(fields, tmp_path) == before
    with open(tmp_path / changed, "a") as file:
        file.write("#")
    assert facts(fields, tmp_path) != before
    assert str(tmp_path / changed) in command.pin(fields, str(tmp_path), PATH).paths


def test_files_of_argv_are_found_relative_to_cwd_and_only_inside_the_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "sub").mkdir(parents=True)
    for place in (home / "a.py", home / "sub" / "b.py", tmp_path / "out.py"):
        place.write_text("x")
    (home / "sub" / "link.py").symlink_to(tmp_path / "out.py")
    argv = ("/bin/true", "b.py", "a.py", "../a.py", "../../out.py", "link.py", str(home / "a.py"), "/etc/passwd", ".")
    assert list(facts(Fields(argv, cwd="sub"), home)["files"]) == ["a.py", "sub/b.py", "sub/link.py"]  # type: ignore[arg-type]


# ---- filling ----
def test_a_reference_fills_exactly_one_item(tmp_path: Path) -> None:
    hostile = "a b; rm -rf / $(id) `id` \n'\""
    arguments: dict[str, Json] = {"s": hostile, "n": 1.0, "t": True, "z": None, "l": [1, {"k": "v"}], "d": {"b": 1, "a": 2}}
    argv = ("${args.s}", "${args.n}", "${args.t}", "${args.z}", "${args.l}", "${args.d}")
    argv += ("x=${args.n}/${args.s}", "${args.l#/1/k}", "$${args.s}", "")
    assert filled(argv, arguments, tmp_path) == (
        hostile, "1.0", "true", "null", '[1,{"k":"v"}]', '{"a":2,"b":1}', f"x=1.0/{hostile}", "v", "${args.s}", "",
    )  # fmt: skip


def test_what_an_argument_brings_in_is_not_filled_again(tmp_path: Path) -> None:
    assert filled(("${args.a}",), {"a": "${args.b}", "b": "deep"}, tmp_path) == ("${args.b}",)


@pytest.mark.parametrize("reference", ["${args.missing}", "${args.a#/no}", "${env.HOME}", "${inputs.x}", "${secret.X}", "${args}"])
def test_a_reference_that_cannot_be_filled_is_refused(tmp_path: Path, reference: str) -> None:
    with pytest.raises(ToolgateError) as caught:
        filled((reference,), {"a": {}}, tmp_path)
    assert caught.value.kind == "invalid"


@pytest.mark.parametrize(
    ("argv", "value"),
    [
        (("${args.v}",), "--output=/opt/pwn"),
        (("${args.v}",), "-oProxyCommand=x"),
        (("${args.v}",), "-"),
        (("${args.v}",), -5),
        (("${args.e}${args.v}",), "-x"),
        (("-${args.v}",), "exec"),
        (("--${args.v}",), "exec=rm"),
        (("${args.v}", "--"), "-x"),
        (("${args.dashes}", "${args.v}"), "-x"),
    ],
)
def test_an_argument_cannot_become_an_option(tmp_path: Path, argv: tuple[str, ...], value: Json) -> None:
    with pytest.raises(ToolgateError, match='begins with "-"'):
        filled(argv, {"v": value, "e": "", "dashes": "--"}, tmp_path)


def test_behind_two_dashes_or_an_equals_sign_it_is_a_value(tmp_path: Path) -> None:
    assert filled(("-n", "--rev=${args.v}", "--", "${args.v}"), {"v": "-x"}, tmp_path) == ("-n", "--rev=-x", "--", "-x")


@pytest.mark.parametrize(
    ("value", "says"),
    [("a\0b", "NUL"), ("x" * 200_000, "over 131071 bytes"), ("é" * 65_536, "over 131071 bytes"), ("\ud800", "surrogate")],
)
@pytest.mark.parametrize("where", ["argv", "env"])
def test_what_no_command_line_can_carry_is_refused_before_the_start(tmp_path: Path, value: str, says: str, where: str) -> None:
    fields = Fields(("/bin/true", *(["${args.v}"] if where == "argv" else [])), env={"V": "${args.v}"} if where == "env" else {})
    with pytest.raises(ToolgateError, match=says):
        command.bind(fields, facts(fields, tmp_path), str(tmp_path), {"v": value})


def test_the_whole_is_bounded_too(tmp_path: Path) -> None:
    with pytest.raises(ToolgateError, match="over 1048576 bytes in all"):
        filled(("${args.v}",) * 9, {"v": "x" * 130_000}, tmp_path)


def test_the_longest_item_that_is_let_through_can_be_started(tmp_path: Path) -> None:
    fields = Fields(("/bin/true", *("${args.v}",) * 7))
    assert run(fields, tmp_path, {"v": "x" * 131_071}).ok


# ---- what the tool sees ----
def test_the_environment_is_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_DECIDER", "s3cret")
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("PYTHONPATH", "/evil")
    monkeypatch.setenv("TOOLGATE_HOME", "/evil")
    monkeypatch.setenv("PAGER", "evil")
    monkeypatch.setenv("CI_JOB", "17")
    monkeypatch.setenv("HOME", "/evil")
    monkeypatch.setenv("LANG", "C")
    fields = Fields((sys.executable, "-c", SHOW), env={"LEDGER": "${args.book}.json", "JOB": "job ${env.CI_JOB}", "PLAIN": "$${x}"})
    _, seen, _, _ = json.loads(run(fields, tmp_path, {"book": "b"}).output)
    assert seen.pop("LC_CTYPE", None) in (None, "C.UTF-8")  # Python's own
    assert seen == {
        "PATH": PATH,
        "HOME": pwd.getpwuid(os.geteuid()).pw_dir,
        "LANG": "C.UTF-8",
        "LEDGER": "b.json",
        "JOB": "job 17",
        "PLAIN": "${x}",
        "TOOLGATE_RUN": "r-1",
        "TOOLGATE_CALL": "c-1",
        "TOOLGATE_IDEMPOTENCY_KEY": "k-1",
    }


def test_it_runs_in_its_folder_with_the_arguments_on_its_input(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    fields = Fields((sys.executable, "-c", SHOW, "${args.a}"), cwd="sub")
    argv, _, folder, given = json.loads(run(fields, tmp_path, {"a": "é\n*"}).output)
    assert (argv, folder, given) == (["é\n*"], str(tmp_path / "sub"), json.dumps({"a": "é\n*"}))


def test_without_input_it_reads_nothing(tmp_path: Path) -> None:
    fields = Fields((sys.executable, "-c", SHOW), stdin="none")
    assert json.loads(run(fields, tmp_path, {"a": 1}).output)[3] == ""


def test_text_reaches_the_tool_as_utf_8_whatever_the_locale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "C")
    shown = run(Fields(("/usr/bin/printf", "%s", "${args.a}")), tmp_path, {"a": "€\U0001f600"})
    assert shown.output == "€\U0001f600"


def test_a_tool_that_wants_the_home_of_its_decider_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/of/the/decider")
    shown = run(Fields((sys.executable, "-c", SHOW), env={"HOME": "${env.HOME}", "LANG": "de_DE"}), tmp_path)
    _, seen, _, _ = json.loads(shown.output)
    assert (seen["HOME"], seen["LANG"]) == ("/home/of/the/decider", "de_DE")


@pytest.mark.parametrize("says", [KeyError, "", "relative"])
def test_a_user_without_a_home_has_the_root(monkeypatch: pytest.MonkeyPatch, says: Any) -> None:
    def entry(uid: int) -> Any:
        if says is KeyError:
            raise KeyError(uid)
        return SimpleNamespace(pw_dir=says)

    monkeypatch.setattr(pwd, "getpwuid", entry)
    assert home_of_user() == "/"


# ---- starts that fail ----
def test_what_vanished_after_it_was_pinned_was_not_dispatched(tmp_path: Path) -> None:
    tool = program(tmp_path / "tool")
    fields = Fields(("./tool",))
    bound = command.bind(fields, facts(fields, tmp_path), str(tmp_path), {})
    for breakage, says in ((lambda: tool.chmod(0o644), "permission denied"), (tool.unlink, "no such file")):
        breakage()
        result = command.invoke(Claim("c", "r", "k", "{}", bound), InvokeLimits(5, 1000, lambda: False))
        assert result.ended == "not_dispatched" and says in result.message


def test_a_script_without_an_interpreter_line_was_not_dispatched(tmp_path: Path) -> None:
    program(tmp_path / "tool", "echo hi\n")
    result = run(Fields(("./tool",)), tmp_path)
    assert result.ended == "not_dispatched" and "exec format error" in result.message
