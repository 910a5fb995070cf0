"""toolgate.toml: what it becomes, and what is refused, with line, field and what was meant."""

from __future__ import annotations

import os

import pytest

from toolgate_cli.core.config import Condition, Selection
from toolgate_cli.core.errors import ToolgateError

from .homes import OPERATOR, Home


def line(text: str, document: str = OPERATOR) -> int:
    return document[: document.index(text)].count("\n") + 1


def test_a_file_becomes_values(home: Home) -> None:
    config = home.files().world().config
    pay, show = config.tools["ledger.pay"], config.tools["ledger.show"]
    assert (pay.safety, pay.effect, pay.timeout, pay.max_attempts, pay.permission) == ("write", "idempotent", 10.0, 2, "ledger:pay")
    assert (pay.exit.not_dispatched, pay.exit.permanent, pay.exit.business) == ((75,), (64, 65), {3: "DECLINED"})
    assert pay.fail_when[0].condition == Condition("/status", "eq", "declined")
    assert show.schema is True and show.timeout == 30.0
    big = config.policy.rules[1]
    assert big.when == (Condition("/amount", "gt", 500), Condition("/to", "matches", "^a"))
    assert (big.approver_scope, big.approvals, big.separate_requester, big.expires_in, big.on_expiry) == (
        "desk",
        2,
        True,
        14400.0,
        "reject",
    )
    assert config.approvers == {"desk": ("alice", "bob", "carol")}
    assert config.context is not None and config.context.permissions == {"*": ("ledger:look",), "alice": ("ledger:pay",)}
    assert config.agents["clerk"].prompt == "be careful" and config.agents["clerk"].max_turns == 3
    assert config.models["default"].adapter == "scripted"


def test_what_is_not_said_has_the_strict_default(home: Home) -> None:
    home.write("toolgate.toml", 'schema = 1\n[tools.go]\ninput_schema = "any-object"\n[tools.go.command]\nargv = ["true"]\n')
    config = home.files().world().config
    tool = config.tools["go"]
    assert (tool.safety, tool.effect, tool.timeout, tool.max_attempts, tool.permission, tool.enabled) == (
        "destructive",
        "unsafe",
        30.0,
        1,
        None,
        True,
    )
    assert config.policy == type(config.policy)("require_approval", ())
    assert config.context is None and config.identity == "declared" and config.path == "/usr/local/bin:/usr/bin:/bin"
    assert config.limits == (65536, 64, 1000, 1048576, 200) and config.timeout == 30.0  # nothing is without a bound


def test_a_home_without_the_file_says_how_to_make_one(home: Home) -> None:
    os.unlink(home.path / "toolgate.toml")
    error = home.refusal()
    assert error.kind == "invalid" and error.message == f"no toolgate.toml in {home.path}" and error.hint == "toolgate init"


MALFORMED = [
    # old, new, text at whose line the error stands in the original, in the message, in the hint
    ("description =", "descripton =", "description", 'tools."ledger.pay".descripton: unknown key', "did you mean description?"),
    ("[identity]", "[identiy]", "[identity]", "identiy: unknown key", "did you mean identity?"),
    ('mode = "declared"', 'mode = "Declared"', "mode =", '"Declared" is not one of declared, os', "did you mean declared?"),
    ('decision = "allow"', 'decision = "Allow "', 'decision = "allow"', '"Allow " is not one of allow, require_approval, deny', "allow?"),
    ('decision = "allow"', 'decision = "ALLOW"', 'decision = "allow"', "not one of", "did you mean allow?"),
    ('decision = "allow"', "decision = true", 'decision = "allow"', "true is not one of", ""),
    ('decision = "allow"', "decision = []", 'decision = "allow"', "a list is not one of", ""),
    ('decision = "deny"', 'decision = "require_aproval"', 'decision = "deny"', "require_aproval", "did you mean require_approval?"),
    ('default = "require_approval"', 'default = "alow"', "default =", "policy.default", "did you mean allow?"),
    ('name = "never"', 'name = ""', 'name = "never"', "must not be empty", ""),
    ('name = "never"', 'name = "  "', 'name = "never"', "not a name for a rule", ""),
    ('name = "never"', 'name = "big"', 'name = "never"', "a rule is called big already", ""),
    ('capability = "ledger.pay"', 'capability = "ledger.pya"', 'capability = "ledger.pay"', "there is no tool ledger.pya", "ledger.pay?"),
    ('capability = "ledger.*"', 'capability = "leger.*"', 'capability = "ledger.*"', "no tool matches this pattern", ""),
    ('capability = "ledger.*"', 'capability = "ledger.pay("', 'capability = "ledger.*"', "not a pattern of capabilities", "**"),
    ('capability = "ledger.*"', 'capability = ""', 'capability = "ledger.*"', "must not be empty", ""),
    ('capability = "ledger.*"', 'capability = "  "', 'capability = "ledger.*"', "not a pattern of capabilities", ""),
    ('capability = "ledger.*"', 'capability = "sh.run(rm -rf /)*"', 'capability = "ledger.*"', "not a pattern of capabilities", ""),
    ('approver_scope = "desk"', 'approver_scope = "dsk"', "approver_scope", "[approvers] has no dsk", "did you mean desk?"),
    ("approvals = 2", "approvals = 4", "approvals = 2", "asks for 4 people, 3 hold the scope desk", ""),
    ("approvals = 2", "approvals = 0", "approvals = 2", "must be at least 1", ""),
    ("approvals = 2", 'approvals = "2"', "approvals = 2", "must be a whole number", ""),
    ("approvals = 2", "approvals = true", "approvals = 2", "must be a whole number", ""),
    ("separate_requester = true", "separate_requester = 1", "separate_requester", "must be true or false", ""),
    ("separate_requester = true", "seperate_requester = true", "separate_requester", "unknown key", "did you mean separate_requester?"),
    ('expires_in = "4h"', 'expires_in = "4 hours"', "expires_in", "a duration is a whole number and a unit", ""),
    ('expires_in = "4h"', "expires_in = 4", "expires_in", "must be a text", 'write it with its unit: "4s"'),
    ('timeout = "10s"', "timeout = 30", 'timeout = "10s"', "must be a text", 'write it with its unit: "30s"'),
    ('timeout = "10s"', 'timeout = "30"', 'timeout = "10s"', "a duration is a whole number and a unit", 'write "30s"'),
    ('timeout = "10s"', 'timeout = "5 m"', 'timeout = "10s"', "a duration is a whole number and a unit", 'write "5m"'),
    (
        '[tools."ledger.show"]',
        "[tools.ledger.show]",
        '[tools."ledger.show"]',
        "a name with dots stands in quotes",
        'write [tools."ledger.show"]',
    ),
    ('expires_in = "4h"\n', "", "on_expiry", "says nothing without expires_in", ""),
    ('on_expiry = "reject"', 'on_expiry = "rejct"', "on_expiry", "not one of stay, reject", "did you mean reject?"),
    ("gt = 500", "gtt = 500", "when = [", "policy.rules[1].when[0].gtt: unknown key or operator", "did you mean gt?"),
    ("gt = 500", 'gt = "500"', "when = [", "compare with a number", ""),
    ("gt = 500", "gt = 500, lt = 900", "when = [", "needs exactly one operator, it has 2", ""),
    (", gt = 500", "", "when = [", "needs exactly one operator, it has 0", "operators:"),
    ('arg = "/amount"', 'arg = "amount"', "when = [", "policy.rules[1].when[0].arg: a JSON pointer", 'write arg = "/amount"'),
    ('arg = "/amount"', 'arg = "/amount~2"', "when = [", "policy.rules[1].when[0].arg: ", ""),
    ("gt = 500", "lte = 500", "when = [", "unknown key or operator (rule big)", "did you mean le?"),
    ("gt = 500", "gte = 500", "when = [", "unknown key or operator (rule big)", "did you mean ge?"),
    ("approvals = 2", 'approvals = "two"', "approvals = 2", "must be a whole number (rule big)", ""),
    ('decision = "deny"', 'decison = "deny"', 'decision = "deny"', "decison: unknown key (rule never)", "did you mean decision?"),
    ('arg = "/amount"', 'at = "/amount"', "when = [", "unknown key or operator", ""),
    ('matches = "^a"', 'matches = "(?=a)"', "when = [", "RE2", ""),
    ('matches = "^a"', 'matches = "(a"', "when = [", "RE2", ""),
    ('matches = "^a"', "in = []", "when = [", "an empty list never holds", ""),
    ('effect = "idempotent"', 'effect = "reconcilable"', 'effect = "idempotent"', "needs the table reconcile", "says what was done"),
    ('permission = "ledger:pay"', "tenant_of = {}", "permission", "needs one of arg and command", "command"),
    ('permission = "ledger:pay"', 'tenant_of = { arg = "/to", command = ["x"] }', "permission", "needs one of arg and command", ""),
    ('permission = "ledger:pay"', 'tenant_of = { command = ["x", "${args.too}"] }', "permission", "no argument too", "did you mean to?"),
    ('permission = "ledger:pay"', "precheck = { arv = [] }", "permission", "precheck.arv: unknown key", "did you mean argv?"),
    ('permission = "ledger:pay"', "precheck = {}", "permission", "precheck.argv: required key is missing", ""),
    ('permission = "ledger:pay"', 'precheck = { argv = ["x", "${args.too}"] }', "permission", "no argument too", "did you mean to?"),
    ('permission = "ledger:pay"', 'reconcile = { argv = ["x"], pin = ["../y"] }', "permission", "not a path inside the home", ""),
    ('permission = "ledger:pay"', 'reconcile = { argv = ["x", "${secret.TOKEN}"] }', "permission", "a secret cannot stand here", ""),
    ('effect = "idempotent"', 'effect = "idempotant"', 'effect = "idempotent"', "not one of", "did you mean idempotent?"),
    (
        'safety = "write"\neffect = "idempotent"',
        'safety = "write"\neffect = "read_only"',
        'effect = "idempotent"',
        "does not go with safety write",
        "",
    ),
    ('timeout = "10s"', 'timeout = "11m"', 'timeout = "10s"', "longer than gate.timeout_max (10m)", ""),
    ('timeout = "10s"', 'timeout = "0s"', 'timeout = "10s"', "a duration", ""),
    ('timeout_max = "10m"', 'timeout_max = "5s"', 'timeout = "30s"', "gate.timeout is longer", ""),
    ("max_attempts = 2", "max_attempts = 2.0", "max_attempts", "must be a whole number", ""),
    ("max_attempts = 2", "max_attempts = 0", "max_attempts", "must be at least 1", ""),
    ("max_attempts = 2", "max_attempts = -1", "max_attempts", "must be at least 1", ""),
    ('command]\nargv = ["true"]', 'http]\nurl = "https://h/"', '[tools."ledger.show".command]', "method: required key is missing", ""),
    ('command]\nargv = ["true"]', 'http]\nmethod = "GET"', '[tools."ledger.show".command]', "url: required key is missing", ""),
    ('command]\nargv = ["true"]', 'http]\nmethod = "TRACE"\nurl = "https://h/"', '[tools."ledger.show".command]', "TRACE", ""),
    ('[tools."ledger.show"]', '[tools."ledger.pay"]', '[tools."ledger.show"]', "there already", ""),
    ('[tools."ledger.pay"]', '[tools."Ledger.pay"]', '[tools."ledger.pay"]', "not a capability", ""),
    ('[tools."ledger.show"]', '[tools."ledger.error"]', '[tools."ledger.show"]', "cannot be error", ""),
    ('[tools."ledger.show".command]\nargv = ["true"]\n', "", '[tools."ledger.show"]', "needs exactly one of the tables command", ""),
    ('[tools."ledger.show".command]', '[tools."ledger.show".comand]', '[tools."ledger.show".command]', "comand: unknown key", "command?"),
    ('argv = ["true"]', 'argv = "true"', 'argv = ["true"]', "must be a list", 'write ["true"]'),
    ('argv = ["true"]', 'argv = "python3 ship.py"', 'argv = ["true"]', "must be a list", 'write ["python3", "ship.py"]'),
    ('argv = ["true"]', """argv = 'sh -c "x y"'""", 'argv = ["true"]', "must be a list", 'write ["one", "two"]'),
    ('argv = ["true"]', 'argv = ["true", 1]', 'argv = ["true"]', "argv[1]: must be a text", ""),
    ('argv = ["true"]', 'agrv = ["true"]', '[tools."ledger.show".command]', "agrv: unknown key", "did you mean argv?"),
    ("${args.to}", "${args.too}", 'argv = ["true", "--"', "no argument too", "did you mean to?"),
    ("${args.to}", "${args.to", 'argv = ["true", "--"', "not closed", "literal"),
    ("${args.to}", "${inputs.to}", 'argv = ["true", "--"', "nothing is called inputs.to here", ""),
    ('input_schema = "any-object"\n', "", '[tools."ledger.show"]', "input_schema is required", "any-object"),
    ('input_schema = "any-object"', 'input_schema = "any"', 'input_schema = "any', "must be a JSON Schema", "any-object"),
    ("additionalProperties = false", "additionalPropertys = false", "input_schema = {", "unknown keyword", "additionalProperties?"),
    ('to = { type = "string" }', 'to = { type = "strng" }', "input_schema = {", "strng is no type", "did you mean string?"),
    ('to = { type = "string" }', "to = { maxlength = 3 }", "input_schema = {", "unknown keyword", "did you mean maxLength?"),
    ('to = { type = "string" }', 'to = { enums = ["a"] }', "input_schema = {", "unknown keyword", "did you mean enum?"),
    ('to = { type = "string" }', 'to = { format = "ipv5" }', "input_schema = {", "unknown format", "did you mean ipv"),
    (
        'to = { type = "string" }',
        'to = { "$ref" = "http://127.0.0.1:9/x" }',
        "input_schema = {",
        "only references inside this schema",
        "#/$defs",
    ),
    ('to = { type = "string" }', 'to = { "$ref" = "file:///etc/passwd" }', "input_schema = {", "only references inside this schema", ""),
    ('to = { type = "string" }', 'to = { "$ref" = "#/$defs/no" }', "input_schema = {", "nothing is at #/$defs/no", ""),
    ('to = { type = "string" }', 'to = { pattern = "(?<=a)b" }', "input_schema = {", "linear time", ""),
    ("not_dispatched = [75]", "not_dispatched = [64]", "permanent", "64 is declared under not_dispatched already", ""),
    ("not_dispatched = [75]", "not_dispatched = [0]", "not_dispatched", "must be at least 1", ""),
    ('business = { 3 = "DECLINED" }', 'business = { three = "DECLINED" }', "business", "not an exit code", "1 to 255"),
    ("not_dispatched = [75]", "not_dispatched = [1, 404]", "not_dispatched", "not an exit code", "1 to 255"),
    ("not_dispatched = [75]", "not_dispatched = [600]", "not_dispatched", "must be at most 599", ""),
    ('code = "REFUSED"\n', "", "[[tools.", "code: required key is missing", ""),
    (
        'code = "REFUSED"',
        'code = "REFUSED"\non_mising = "ignore"',
        '\n[tools."ledger.show"]',
        "unknown key or operator",
        "did you mean on_missing?",
    ),
    ('desk = ["alice", "bob", "carol"]', "desk = []", "desk =", "nobody holds this scope", ""),
    ('desk = ["alice", "bob", "carol"]', 'desk = ["alice", "bob", "alice"]', "desk =", "a name is there twice", ""),
    ('adapter = "scripted"', 'adapter = "script"', "adapter", "there is no adapter script", "scripted"),
    ('script = "script.toml"', 'script = "../script.toml"', "script =", "not a path inside the home", ""),
    ('script = "script.toml"', 'scrpt = "script.toml"', "script =", "unknown key", "did you mean script?"),
    ('model = "default"', 'model = "defalt"', "model =", "there is no model defalt", "did you mean default?"),
    ('tools = ["ledger.*"]', 'tools = ["ledgr.*"]', "tools =", "no tool matches this pattern", ""),
    ('prompt_file = "clerk.md"', 'prompt_file = "../clerk.md"', "prompt_file", "outside the home", ""),
    ('prompt_file = "clerk.md"', 'prompt_file = "/etc/passwd"', "prompt_file", "outside the home", ""),
    ('prompt_file = "clerk.md"', 'prompt_file = "nothing.md"', "prompt_file", "no file nothing.md", ""),
    ('prompt_file = "clerk.md"\n', "", "[agents.clerk]", "needs a prompt or a prompt_file", ""),
    ("max_turns = 3", 'max_turns = 3\ncommands = ["sy"]', "max_turns", "not one of", "did you mean say?"),
    ("schema = 1\n[gate]", "schema = 2\n[gate]", "schema = 1", "2 is not one of 1", ""),
    ("schema = 1\n[gate]", "[gate]", "schema = 1", "schema: required key is missing", ""),
    (
        '[context]\npermissions = { "*" = ["ledger:look"], alice = ["ledger:pay"] }',
        "[context]\ntenant = 1",
        "permissions",
        "tenant: must be a table",
        "",
    ),
    (
        '[context]\npermissions = { "*" = ["ledger:look"], alice = ["ledger:pay"] }',
        '[context]\ncorrelation = "${args.job}"',
        "permissions",
        "nothing is called args.job here",
        "${env.NAME}",
    ),
    ('selector = "default"', 'selector = "defalt"', "selection =", "there is no model defalt", "did you mean default?"),
    ('selector = "default"', 'selecter = "default"', "selection =", "selection.selecter: unknown key", "did you mean selector?"),
    ('selector = "default", ', "", "selection =", "selection.selector: required key is missing", ""),
    ("max_tools = 1", "max_tools = 0", "selection =", "must be at least 1", ""),
    ("max_tools = 1", 'max_tools = "1"', "selection =", "must be a whole number", ""),
    ('["ledger.pay"]', '["ledger.pya"]', "selection =", "there is no tool ledger.pya", "did you mean ledger.pay?"),
    ('["ledger.pay"]', '["ledgr.*"]', "selection =", "no tool matches this pattern", ""),
    ('["ledger.pay"]', '["ledger.pay!"]', "selection =", "not a pattern of capabilities", ""),
    ('tools = ["ledger.*"]', 'tools = ["ledger.show"]', "selection =", "the agent clerk may not call ledger.pay", "agents.clerk.tools"),
    ('on_failure = "always_include"', 'on_failure = "al"', "selection =", "not one of throw, always_include, all", "did you mean all?"),
    ('on_failure = "always_include"', 'on_failure = "all"', "selection =", "all of its tools are shown", "accept_fail_open = true"),
    (
        'on_failure = "always_include"',
        'on_failure = "all", accept_fail_open = false',
        "selection =",
        "all of its tools are shown when the selector fails",
        'write accept_fail_open = true beside it, or on_failure = "always_include"',
    ),
    ("max_turns = 3", 'max_turns = 3\nunder = "clark"', "max_turns", "there is no agent clark", "did you mean clerk?"),
    ("max_turns = 3", 'max_turns = 3\nunder = "clerk"', "max_turns", "an agent cannot be under itself: clerk under clerk", ""),
    (
        'permission = "ledger:pay"',
        'tenant_of = { arg = "/whose" }',
        "permission",
        "the input schema has no such argument",
        "one of /amount",
    ),
    ('permission = "ledger:pay"', 'tenant_of = { arg = "to" }', "permission", "not a JSON pointer", "/tenant"),
    ('reason = "over 500"', 'tenant = "acme"', "reason", "[context] names no tenant", "say context.tenant"),
    ('title = "Pay', "title = 2026-01-01 #", "title", "dates and times cannot be used", "put it in quotes"),
    ("gt = 500", "gt = nan", "when = [", "NaN and infinities", ""),
    ("gt = 500", "gt = inf", "when = [", "NaN and infinities", ""),
    ("gt = 500", "gt = 1e999", "when = [", "cannot be kept exactly", ""),
    ("gt = 500", "gt = 0.10000000000000000555", "when = [", "cannot be kept exactly", ""),
    ("gt = 500", "gt = " + "9" * 5000, "when = [", "too long", ""),
    ("gt = 500", "gt = 0x" + "f" * 5000, "when = [", "too long", ""),
    ('name = "never"', 'name = "never"\nname = "again"', 'capability = "ledger.pay"', "this key is there already", ""),
    ('reason = "over 500"', 'reason = "over 500', "reason", "a text is not closed", "the quote that it begins with"),
    ('reason = "over 500"', 'reason = "a\\u0000b"', "reason", "NUL", ""),
    ("gt = 500", "eq = " + "[" * 5000 + "]" * 5000, "when = [", "nested too deeply", ""),
    ("gt = 500", "eq = " + "[" * 100 + "]" * 100, "when = [", "nested too deeply", ""),
]


@pytest.mark.parametrize(
    ("old", "new", "where", "message", "hint"), MALFORMED, ids=[f"{number}-{row[3][:40]}" for number, row in enumerate(MALFORMED)]
)
def test_what_is_wrong_is_told_with_its_line_its_field_and_what_was_meant(
    home: Home, old: str, new: str, where: str, message: str, hint: str
) -> None:
    home.edit("toolgate.toml", old, new)
    error = home.refusal()
    assert error.kind == "invalid"
    near = line(where)
    places = [f"toolgate.toml:{near + shift}:" for shift in (-1, 0, 1)]
    told = [part for part in error.message.split("; ") if message in part]
    assert told, error.message
    assert any(place in told[0] for place in places), (error.message, places)
    assert hint in error.hint, error.hint
    assert error.message.count("\n") == 0 and len(error.message) < 3000


def test_lines_are_exact(home: Home) -> None:
    home.edit("toolgate.toml", "description =", "descripton =")
    assert home.refusal().message.startswith(f"toolgate.toml:{line('description')}: ")


def test_everything_that_is_wrong_is_told_at_once(home: Home) -> None:
    for old, new in (
        ("description =", "descripton ="),
        ('decision = "deny"', 'decision = "dny"'),
        ("[identity]", "[idenity]"),
        ("max_turns = 3", "max_turns = 0"),
    ):
        home.edit("toolgate.toml", old, new)
    parts = home.refusal().message.split("; ")
    assert len(parts) == 4
    numbers = [int(part.split(":")[1]) for part in parts]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xef\xbb\xbf" + OPERATOR.encode(), "toolgate.toml:1: the file begins with a byte order mark"),
        (b"schema = 1\n# caf\xe9\n", "toolgate.toml:2: the file is not UTF-8"),
        (b"schema = 1\nx = \n", "toolgate.toml:2:"),
        (OPERATOR.encode()[:700], "toolgate.toml:"),
        (b"", "schema: required key is missing"),
        (b"schema = 1\n[" + b"a." * 3000 + b"a]\nx = 1\n", "toolgate.toml:2:"),
        (b"schema = 1\nx = " + b"[" * 100_000, "toolgate.toml:2: nested too deeply"),
        (b"schema = 1\n\x00", "toolgate.toml:2:"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_such_file_are_refused_with_their_line(home: Home, data: bytes, message: str) -> None:
    home.write("toolgate.toml", data)
    error = home.refusal()
    assert error.kind == "invalid" and message in error.message


def test_what_is_always_shown_is_within_what_the_agents_above_may_call_too(home: Home) -> None:
    home.edit("toolgate.toml", "max_turns = 3\n", 'max_turns = 3\nunder = "lead"\n')
    home.edit(
        "toolgate.toml", "[agents.clerk]", '[agents.lead]\nmodel = "default"\nprompt = "lead"\ntools = ["ledger.show"]\n[agents.clerk]'
    )
    assert "agents.clerk.selection.always_include[0]: the agent clerk may not call ledger.pay" in home.refusal().message
    home.edit("toolgate.toml", 'tools = ["ledger.show"]', 'tools = ["ledger.**"]')
    config = home.files().world().config
    assert config.agents["clerk"].selection == Selection("default", 1, ("ledger.pay",), "always_include")
    assert config.agents["lead"].selection is None


def test_failing_open_is_said_twice(home: Home) -> None:
    home.edit("toolgate.toml", 'on_failure = "always_include"', 'on_failure = "all", accept_fail_open = true')
    found = home.files().world().config.agents["clerk"].selection
    assert found is not None and found.on_failure == "all"


def test_without_a_word_a_failing_selector_fails_the_step(home: Home) -> None:
    home.edit("toolgate.toml", ', max_tools = 1, always_include = ["ledger.pay"], on_failure = "always_include"', "")
    assert home.files().world().config.agents["clerk"].selection == Selection("default", 20, (), "throw")


def test_crlf_is_the_same_file(home: Home) -> None:
    before = home.files().world().config
    home.write("toolgate.toml", OPERATOR.replace("\n", "\r\n"))
    assert home.files().world().config._replace(digest="") == before._replace(digest="")


def test_a_file_that_cannot_be_read_is_no_empty_policy(home: Home) -> None:
    (home.path / "toolgate.toml").unlink()
    (home.path / "toolgate.toml").mkdir()
    assert home.refusal().message == "toolgate.toml: not a regular file"
    (home.path / "toolgate.toml").rmdir()
    os.mkfifo(home.path / "toolgate.toml")
    assert home.refusal().message == "toolgate.toml: not a regular file"


def test_a_prompt_may_not_come_from_outside_through_a_link(home: Home) -> None:
    (home.path / "clerk.md").unlink()
    os.symlink("/etc/hostname", home.path / "clerk.md")
    assert "outside the home" in home.refusal().message


def test_a_schema_may_stand_in_a_file_of_its_own(home: Home) -> None:
    home.write("schemas/show.json", '{"type": "object", "properties": {"n": {"type": "integer"}}}')
    home.edit("toolgate.toml", 'input_schema = "any-object"', 'input_schema_file = "schemas/show.json"')
    world = home.files().world()
    assert world.config.tools["ledger.show"].schema == {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert {os.path.basename(stamp.path) for stamp in world.stamps} == {"toolgate.toml", "show.json", "clerk.md"}
    home.write("schemas/show.json", '{"type": "object", "type": "array"}')
    assert "schemas/show.json: DUPLICATE_KEY" in home.refusal().message
    home.write("schemas/show.json", "[]")
    assert "does not hold a JSON Schema" in home.refusal().message


def test_a_definition_changes_with_what_a_tool_does_and_not_with_how_it_is_called(home: Home) -> None:
    before = home.files().world().config.tools["ledger.pay"].declared
    for old, new in (('title = "Pay', 'title = "Paying'), ('timeout = "10s"', 'timeout = "9s"'), ("max_attempts = 2", "max_attempts = 1")):
        home.edit("toolgate.toml", old, new)
    home.edit("toolgate.toml", 'permission = "ledger:pay"\n', "enabled = false\n")
    assert home.files().world().config.tools["ledger.pay"].declared == before
    for old, new in (
        ("Pay money.", "Pay."),
        ('"--", ', ""),
        ("[64, 65]", "[64]"),
        ('eq = "declined"', 'eq = "no"'),
        ('effect = "idempotent"', 'effect = "unsafe"'),
    ):
        home.edit("toolgate.toml", old, new)
        after = home.files().world().config.tools["ledger.pay"].declared
        assert after != before
        before = after


def test_all_and_any_are_about_the_items_of_an_array(home: Home) -> None:
    home.edit("toolgate.toml", "gt = 500", 'any = [{ at = "/sum", gt = 500 }]')
    assert home.files().world().config.policy.rules[1].when[0] == Condition("/amount", "any", [["/sum", "gt", 500]])
    home.edit("toolgate.toml", '{ at = "/sum", gt = 500 }', '{ at = "/sum", gtt = 500 }')
    assert "when[0].any[0].gtt: unknown key or operator" in home.refusal().message


@pytest.mark.parametrize("word", ["error", "Ledger", "a..b", "a.", ".a", "a b", "a\nb", "fs.[rw]*", "a" * 65])
def test_capabilities_are_of_a_small_alphabet(home: Home, word: str) -> None:
    quoted = word.replace("\n", "\\n")
    home.write(
        "toolgate.toml", f'schema = 1\n[tools."{quoted}"]\ninput_schema = "any-object"\n[tools."{quoted}".command]\nargv = ["true"]\n'
    )
    assert isinstance(home.refusal(), ToolgateError)


@pytest.mark.parametrize(
    "url", ["https://${args.to}/x", "https://${args.to}.example/x", "https://h:${args.to}/", "${env.BASE}/x", "ftp://h/"]
)
def test_a_url_with_which_no_call_can_be_made_is_refused_with_its_line(home: Home, url: str) -> None:
    written = OPERATOR.replace(
        '[tools."ledger.pay".command]\nargv = ["true", "--", "${args.to}"]', f'[tools."ledger.pay".http]\nmethod = "GET"\nurl = "{url}"'
    )
    home.write("toolgate.toml", written)
    near = written[: written.index("url = ")].count("\n") + 1
    assert f'toolgate.toml:{near}: tools."ledger.pay".http.url: ' in home.refusal().message
