"""Servers in toolgate.toml: what is pinned of them are tools like all others, and what is not is none."""

from __future__ import annotations

import pytest

from toolgate_cli.core.config import Tool
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.types import Json
from toolgate_cli.core.world import Needs
from toolgate_cli.workflow.locking import LOCK, Locked, read_lock, write_lock

from .homes import Home

ADD: dict[str, Json] = {
    "name": "add",
    "description": "Adds.",
    "inputSchema": {"type": "object", "properties": {"n": {"type": "integer", "default": None}}},
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": False, "idempotentHint": True},
}
DROP: dict[str, Json] = {"name": "dropAll", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": True}}
SERVER = '[mcp.db]\ncommand = ["true"]\n'


def with_server(home: Home, more: str = "", *definitions: dict[str, Json]) -> None:
    text = (home.path / "toolgate.toml").read_text()
    home.write("toolgate.toml", f"{text}\n{SERVER}{more}")
    if definitions:
        home.write(LOCK, write_lock({"db": Locked("f" * 64, {str(one["name"]): one for one in definitions})}))


def tools(home: Home) -> dict[str, Tool]:
    return dict(home.files().world().config.tools)


def errors(home: Home) -> str:
    with pytest.raises(ToolgateError) as refused:
        home.files().world()
    return refused.value.message


def test_what_is_pinned_is_a_tool_and_as_dangerous_as_can_be_until_the_operator_says_otherwise(home: Home) -> None:
    with_server(home, "", ADD, DROP)
    found = tools(home)
    assert "db.add" in found and "db.dropAll" not in found  # whose name does not fit
    add = found["db.add"]
    assert (add.safety, add.effect, add.provider, add.description) == ("destructive", "unsafe", "mcp", "Adds.")
    assert add.schema == ADD["inputSchema"] and add.output_schema == ADD["outputSchema"]


def test_the_operator_s_word_counts_but_not_below_the_server_s(home: Home) -> None:
    words = '[tools."db.add"]\nsafety = "read_only"\neffect = "read_only"\ntimeout = "5s"\ntitle = "Add ${args.n}"\n'
    words += '[tools."db.drop_all"]\nremote = "dropAll"\nsafety = "write"\neffect = "idempotent"\ndescription = "Ours."\n'
    with_server(home, words, ADD, DROP)
    add, drop = tools(home)["db.add"], tools(home)["db.drop_all"]
    assert (add.safety, add.effect, add.timeout, add.title) == ("write", "idempotent", 5.0, "Add ${args.n}")
    assert (drop.safety, drop.effect, drop.description) == ("destructive", "unsafe", "Ours.")


def test_the_definition_is_part_of_what_is_decided_on(home: Home) -> None:
    with_server(home, "", ADD)
    before = tools(home)["db.add"].declared
    for other in ({"description": "Adds more."}, {"annotations": {}}, {"outputSchema": {}}):
        home.write(LOCK, write_lock({"db": Locked("f" * 64, {"add": {**ADD, **other}})}))
        assert tools(home)["db.add"].declared != before
    home.write(LOCK, write_lock({"db": Locked("e" * 64, {"add": ADD})}))
    assert tools(home)["db.add"].declared != before


def test_what_is_not_pinned_is_there_to_be_refused(home: Home) -> None:
    with_server(home, '[tools."db.add"]\nsafety = "write"\n')
    world = home.files().world()
    ready = home.files().prepare(world, Needs(tools=("db.add",))).ready["db.add"]
    assert ready.error == "db.add is not pinned: toolgate tools pin db"
    assert not home.files().unchanged(world) or home.write(LOCK, write_lock({})) or not home.files().unchanged(world)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ('[mcp.web]\nurl = "http://127.0.0.1:1/mcp"\ncommand = ["x"]\n', "mcp.web: needs exactly one of command and url"),
        ("[mcp.web]\n", "mcp.web: needs exactly one of command and url"),
        ('[mcp.web]\nurl = "ftp://x/"\n', "mcp.web.url: not the URL of a server"),
        ('[mcp.web]\nurl = "http://u:p@x/"\n', "mcp.web.url: not the URL of a server"),
        ('[mcp.web]\nurl = "http://x/"\nenv = { A = "b" }\n', "mcp.web.env: goes with command alone"),
        ('[mcp.web]\ncommand = ["x"]\nheaders = { A = "b" }\n', "mcp.web.headers: goes with url alone"),
        ('[mcp.web]\ncommand = ["x", "${args.y}"]\n', "nothing is called args.y here"),
        ('[mcp.web]\ncommand = ["x", "${secret.TOKEN_X}"]\n', "a secret cannot stand here"),
        ('[mcp.web]\ncommand = ["x"]\nargs = ["y"]\n', "mcp.web.args: unknown key"),
        ('[mcp.web]\nurl = "http://x/"\nheaders = ["A: b"]\n', "mcp.web.headers: must be a table"),
        ('[mcp.web]\nurl = "http://x/"\nheaders = { A = 3 }\n', "mcp.web.headers.A: must be a text"),
        ('[mcp.web]\nurl = "http://x/"\nheaders = { A = "${secret.}" }\n', "mcp.web.headers.A: "),
        ('[mcp.web]\nurl = "http://x/${env.HOST}"\n', "mcp.web.url: "),
        ('[mcp.web]\nurl = "/mcp"\n', "mcp.web.url: not the URL of a server"),
        ('[mcp.Web]\ncommand = ["x"]\n', "mcp.Web: not a name for a server"),
        ('[tools."db.x"]\ninput_schema = "any-object"\n[tools."db.x".command]\nargv = ["true"]\n', "db is a server"),
        ('[tools."db.x".mcp]\nserver = "db"\nremote = "add"\n', "a tool of a server comes from the server"),
        ('[tools."db.add"]\nremote = 3\n', "tools.\"db.add\".remote: must be a text"),
        ('[tools."other.x"]\nremote = "add"\ninput_schema = "any-object"\n', "remote: unknown key"),
    ],
)  # fmt: skip
def test_what_a_server_cannot_be(home: Home, more: str, says: str) -> None:
    with_server(home, more, ADD)
    assert says in errors(home)


def test_secrets_of_a_server_are_those_of_the_home(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_TOKEN", "sesame-open")
    with_server(home, 'env = { TOKEN = "${secret.DB_TOKEN}" }\n')
    world = home.files().world()
    assert world.secrets.value("DB_TOKEN") == "sesame-open"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("Adds.", "Adds!"),
        lambda text: text.replace("integer", "string"),
        lambda text: text + "[mcp.db]\n",
        lambda text: text.replace("schema = 1", ""),
        lambda text: "mcp = 3\nschema = 1\n",
        lambda text: text.replace("[mcp.db.tools.add]", "[mcp.db.tools.sub]"),
    ],
)
def test_a_lock_that_is_not_as_it_was_written_is_refused_whole(home: Home, spoil: object) -> None:
    with_server(home, "", ADD)
    home.write(LOCK, spoil((home.path / LOCK).read_text()))  # type: ignore[operator]  # one of the above
    assert LOCK in errors(home) and "toolgate.lock.toml" in errors(home)


def test_a_lock_comes_back_as_it_went_and_does_not_move_what_stays() -> None:
    nasty = {**ADD, "description": 'a "quoted" \\ back\nslash\u202e \x1b[2K \'\'\' """'}
    held = {"b": Locked("b" * 64, {"zed": {**nasty, "name": "zed"}, "add": ADD}), "a": Locked("a" * 64, {})}
    text = write_lock(held)
    assert read_lock(text) == held and write_lock(read_lock(text)) == text
    assert text == write_lock({"a": held["a"], "b": Locked("b" * 64, dict(reversed(held["b"].tools.items())))})
    assert text.index("[mcp.a]") < text.index("[mcp.b]") < text.index("tools.add]") < text.index("tools.zed]")


def test_a_schema_that_is_not_judged_here_makes_no_tool(home: Home) -> None:
    bad = {**ADD, "inputSchema": {"type": "object", "properties": {"n": {"$ref": "file:///etc/passwd"}}}}
    with_server(home, "", bad)
    assert "only references inside this schema are followed" in errors(home)


def test_a_pattern_that_a_server_wrote_stands_in_no_message(home: Home) -> None:
    schema: Json = {"type": "object", "properties": {"n": {"pattern": "^v$", "maxLength": 3}}}
    with_server(home, "", {"name": "add", "inputSchema": schema})
    ours = (
        '[tools."own.add"]\ncommand = { argv = ["true"] }\ninput_schema = { type = "object", properties = { n = { pattern = "^w$" } } }\n'
    )
    home.write("toolgate.toml", (home.path / "toolgate.toml").read_text() + ours)
    files = home.files()
    world = files.prepare(files.world(), Needs((), ("db.add", "own.add")))

    def told(name: str) -> list[str]:
        return [problem.told() for problem in world.checks[world.config.tools[name].schema_digest]({"n": "long"})]

    assert sorted(told("db.add")) == ["LENGTH_VIOLATION at /n (longer than 3)", "PATTERN_MISMATCH at /n"]
    assert told("own.add") == ["PATTERN_MISMATCH at /n (does not match ^w$)"]
    assert files.misfits({"pattern": "^v$"}, "w")[0].told() == "PATTERN_MISMATCH at (root)"  # of a result: it may be a server's too
