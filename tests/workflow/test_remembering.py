"""What was accepted is remembered by its bytes; it saves the checks and is never a source."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Accepted
from toolgate_cli.core.world import Needs

from .homes import Home

COLD = """
import sys
from tests.workflow.homes import KINDS
from toolgate_cli.core.world import Needs
from toolgate_cli.workflow.files import HomeFiles
marks = sys.argv[2:]
files = HomeFiles(sys.argv[1], KINDS, lambda seen: seen.digest in marks)
world = files.prepare(files.world(), Needs(("ledger.pay",), ()))
assert world.ready["ledger.pay"].error is None, world.ready
files.workflow("pay")
assert files.accepted() == ()
print(sorted({"pydantic", "jsonschema", "referencing", "re2", "difflib"} & (set(sys.modules) - before)))
""".replace("import sys\n", "import sys\nbefore = set(sys.modules)\nimport types; sys.modules['pytest'] = types.ModuleType('pytest')\n", 1)


def test_a_remembered_file_is_loaded_without_pydantic_and_jsonschema(home: Home) -> None:
    files = home.files()
    files.world()
    files.workflow("pay")
    marks = [seen.digest for seen in files.accepted()]
    assert len(marks) == 2 and files.accepted() == ()
    done = subprocess.run([sys.executable, "-c", COLD, str(home.path), *marks], capture_output=True, text=True, cwd=os.getcwd())
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_both_ways_build_the_same(home: Home) -> None:
    files = home.files()
    checked, bundle = files.world(), files.workflow("pay")
    marks = set(files.accepted())
    again = home.files(lambda seen: seen in marks)
    assert again.world() == checked and again.workflow("pay") == bundle._replace(warnings=())


@pytest.mark.parametrize("name", ["toolgate.toml", "clerk.md"])
def test_one_other_byte_is_another_file(home: Home, name: str) -> None:
    files = home.files()
    files.world()
    marks = set(files.accepted())
    home.write(name, (home.path / name).read_text() + "\n# more\n")
    again = home.files(lambda seen: seen in marks)
    again.world()
    assert len(again.accepted()) == 1


def test_another_checker_does_not_count(home: Home) -> None:
    files = home.files()
    files.world()
    [seen] = files.accepted()
    asked: list[Accepted] = []
    home.files(lambda mark: bool(asked.append(mark))).world()
    assert asked == [seen] and seen.checker.startswith("toolgate/")


def test_a_workflow_is_checked_again_when_the_operators_file_changed(home: Home) -> None:
    files = home.files()
    files.world()
    files.workflow("pay")
    marks = set(files.accepted())
    home.edit("toolgate.toml", "[agents.clerk]", "[agents.other]")
    with pytest.raises(ToolgateError) as caught:
        home.files(lambda seen: seen in marks).workflow("pay")
    assert "there is no agent clerk" in caught.value.message


def test_a_memory_that_does_not_fit_is_no_source(home: Home) -> None:
    for old, new in (
        ('decision = "deny"', "decison = 'deny'"),
        ('argv = ["true"]', "argv = 1"),
        ("approvals = 2", "approvals = []"),
        ("[policy]", "[polcy]"),
    ):
        home.edit("toolgate.toml", old, new)
    with pytest.raises(ToolgateError) as caught:
        home.files(lambda _: True).world()
    assert "toolgate.toml:" in caught.value.message


def test_the_world_is_read_afresh_every_time(home: Home) -> None:
    files = home.files()
    before = files.world()
    assert files.unchanged(before) and files.world() == before
    home.edit("toolgate.toml", 'decision = "allow"', 'decision = "deny"')
    assert not files.unchanged(before)
    after = files.world()
    assert after.config.policy.rules[0].decision == "deny" and files.unchanged(after)
    home.edit("clerk.md", "careful", "quick")
    assert not files.unchanged(after) and files.world().config.agents["clerk"].prompt == "be quick"
    os.unlink(home.path / "toolgate.toml")
    assert not files.unchanged(after)
    with pytest.raises(ToolgateError):
        files.world()


def test_a_file_that_is_replaced_by_one_of_the_same_size_is_seen(home: Home) -> None:
    files = home.files()
    world = files.world()
    place = home.path / "toolgate.toml"
    stat = place.stat()
    home.write("other", place.read_bytes().replace(b"alice", b"alcie"))
    os.utime(home.path / "other", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    os.replace(home.path / "other", place)
    assert not files.unchanged(world)


def test_pins_follow_the_files_they_were_made_of(home: Home) -> None:
    home.write("tool.py", "print(1)")
    home.edit("toolgate.toml", 'argv = ["true"]', f'argv = ["{sys.executable}", "tool.py"]')
    files = home.files()
    world = files.prepare(files.world(), Needs(("ledger.show",), ()))
    first = world.ready["ledger.show"]
    assert first.error is None and '"declared"' in first.definition and '"pinned"' in first.definition
    assert str(home.path / "tool.py") in {os.path.normpath(stamp.path) for stamp in world.stamps}
    assert files.prepare(files.world(), Needs(("ledger.show",), ())).ready["ledger.show"] == first
    home.write("tool.py", "print(2)")
    assert not files.unchanged(world)
    second = files.prepare(files.world(), Needs(("ledger.show",), ())).ready["ledger.show"]
    assert second.digest != first.digest
    os.unlink(home.path / "tool.py")
    gone = files.prepare(files.world(), Needs(("ledger.show",), ())).ready["ledger.show"]
    assert gone.digest not in (first.digest, second.digest)


def test_validators_are_loaded_where_they_are_needed(home: Home) -> None:
    files = home.files()
    world = files.prepare(files.world(), Needs((), ("ledger.pay",)))
    check = world.checks[world.config.tools["ledger.pay"].schema_digest]
    assert check({"to": "a", "amount": 1}) == ()
    assert [(problem.code, problem.pointer) for problem in check({"to": 1})] == [("REQUIRED_MISSING", "/amount"), ("INVALID_TYPE", "/to")]


def test_an_executable_that_is_not_there_is_an_error_of_the_tool_alone(home: Home) -> None:
    home.edit("toolgate.toml", 'argv = ["true"]', 'argv = ["no-such-program"]')
    files = home.files()
    world = files.prepare(files.world(), Needs(("ledger.show", "ledger.pay"), ()))
    assert world.ready["ledger.show"].error and world.ready["ledger.pay"].error is None


def test_what_was_found_doubtful_is_told_where_it_was_found_and_never_looked_for(home: Home) -> None:
    home.write("workflows/odd.toml", 'schema = 1\nid = "odd"\n[[steps]]\nid = "a"\ntype = "assign"\nset = { x = "${when.wher}" }\n')
    files = home.files()
    files.world()
    assert files.workflow("odd").warnings == ("workflows/odd.toml:6: steps[0].set.x: nothing writes when.wher",)
    marks = set(files.accepted())
    assert home.files(lambda seen: seen in marks).workflow("odd").warnings == ()
    assert "odd" not in "".join(files.workflow("pay").warnings)
