"""Secrets of a home: where they come from, why one has no value, and where they may be named at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Call
from toolgate_cli.core.verdict import Park, Question, evaluate
from toolgate_cli.core.world import Needs

from .homes import Home

CALL = Call("c1", 1, "r1", "s", "ledger.show", "{}", "e" * 64, "k1", None, None, None, None, "ann", "2026-01-31T12:00:00.000Z")
ENV = 'argv = ["true"]\nenv = { TOKEN = "Bearer ${secret.PAY_TOKEN}" }'
FILED = '\n[secrets]\nPAY_TOKEN = { file = "token" }\n'


def with_secret(home: Home, more: str = "") -> None:
    home.edit("toolgate.toml", 'argv = ["true"]', ENV)
    home.write("toolgate.toml", (home.path / "toolgate.toml").read_text() + more)


def test_it_is_the_environment_variable_of_its_name(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with_secret(home)
    monkeypatch.setenv("PAY_TOKEN", "sesame-open\n")
    world = home.files().world()
    assert world.config.tools["ledger.show"].secrets == ("PAY_TOKEN",) and world.config.tools["ledger.pay"].secrets == ()
    assert world.secrets.value("PAY_TOKEN") == "sesame-open\n" and world.secrets.fault("PAY_TOKEN") is None


@pytest.mark.parametrize(("end", "kept"), [("", ""), ("\n", ""), ("\r\n", ""), ("\n\n", "\n"), ("\r", "\r"), (" ", " ")])
def test_of_a_file_one_newline_at_the_end_is_taken_off(home: Home, end: str, kept: str) -> None:
    with_secret(home, FILED)
    home.write("token", "sesame-open" + end)
    assert home.files().world().secrets.value("PAY_TOKEN") == "sesame-open" + kept


def test_a_file_counts_and_not_the_variable(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with_secret(home, FILED)
    monkeypatch.setenv("PAY_TOKEN", "of the environment")
    assert home.files().world().secrets.fault("PAY_TOKEN") == "token: no such file"


def test_what_is_declared_counts_without_a_tool_that_names_it(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write("toolgate.toml", (home.path / "toolgate.toml").read_text() + "[secrets]\nOTHER = {}\n")
    monkeypatch.setenv("OTHER", "sesame-open")
    assert home.files().world().secrets.leaks("a sesame-open b") == "OTHER"


def test_a_home_without_secrets_reads_nothing_of_them(home: Home) -> None:
    world = home.files().world()
    assert not world.secrets and world.config.secrets == {}


FAULTS = {
    "it is too short": ("1234567\n", "fewer than 8"),
    "it is blank": (" " * 20, "blank"),
    "it is empty": ("", "fewer than 8"),
    "it is no text": (b"\xff\xfe sesame-open", "not UTF-8"),
    "it holds a NUL": ("sesame\0open", "NUL"),
    "it is too long": ("x" * 65537, "more than 65536"),
}


@pytest.mark.parametrize(("content", "why"), FAULTS.values(), ids=FAULTS.keys())
def test_why_a_file_gives_no_value_is_said_without_it(home: Home, content: str | bytes, why: str) -> None:
    with_secret(home, FILED)
    home.write("token", content)
    world = home.files().world()
    fault = world.secrets.fault("PAY_TOKEN")
    assert fault is not None and why in fault and "sesame" not in fault and "1234567" not in fault and not world.secrets


def test_a_place_that_is_no_file_gives_no_value(home: Home) -> None:
    with_secret(home, FILED)
    os.mkfifo(home.path / "token")
    assert "not a regular file" in (home.files().world().secrets.fault("PAY_TOKEN") or "")


def test_a_variable_that_is_no_text_gives_no_value(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with_secret(home)
    monkeypatch.setenv("PAY_TOKEN", "sesame-open \udcff")
    assert home.files().world().secrets.fault("PAY_TOKEN") == "the environment variable PAY_TOKEN is not UTF-8"


def test_a_file_that_changes_makes_another_world(home: Home) -> None:
    with_secret(home, FILED)
    files = home.files()
    without = files.world()
    home.write("token", "sesame-open")
    assert not files.unchanged(without)
    one = files.world()
    assert files.unchanged(one)
    home.write("token", "sesame-shut")
    assert not files.unchanged(one) and files.world().secrets.value("PAY_TOKEN") == "sesame-shut"


def test_a_call_whose_secret_has_no_value_is_refused_before_the_claim(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with_secret(home)
    monkeypatch.delenv("PAY_TOKEN", raising=False)
    verdicts = []
    for _ in range(2):
        files = home.files()
        world = files.prepare(files.world(), Needs(tools=("ledger.show",)))
        verdicts.append(evaluate(Question(CALL, "pay", 0), world, lambda digest: True))
        monkeypatch.setenv("PAY_TOKEN", "sesame-open")
    refused, through = verdicts
    assert isinstance(refused, Park) and (refused.origin, refused.phase, refused.code) == ("EXECUTION_FAILED", "RESOLVE", "secret")
    assert refused.reason == "${secret.PAY_TOKEN} cannot be filled: the environment variable PAY_TOKEN is not set"
    assert not isinstance(through, Park)


def test_the_definition_holds_the_reference_and_not_the_value(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with_secret(home)
    digests = []
    for value in ("sesame-open", "sesame-shut"):
        monkeypatch.setenv("PAY_TOKEN", value)
        files = home.files()
        ready = files.prepare(files.world(), Needs(tools=("ledger.show",))).ready["ledger.show"]
        assert "${secret.PAY_TOKEN}" in ready.definition and value not in ready.definition and value not in repr(ready.bind({}))
        digests.append(ready.digest)
    assert digests[0] == digests[1]


# ---- where one may stand ----
PLACES = {
    "argv": ('argv = ["true"]', 'argv = ["true", "${secret.PAY_TOKEN}"]'),
    "argv, in part": ('argv = ["true"]', 'argv = ["true", "--token=${secret.PAY_TOKEN}"]'),
    "the folder": ('argv = ["true"]', 'argv = ["true"]\ncwd = "${secret.PAY_TOKEN}"'),
    "a title": ('title = "Pay ${args.amount} to ${args.to}"', 'title = "Pay ${secret.PAY_TOKEN}"'),
    "a description": ('"Pay money."', '"Pay ${secret.PAY_TOKEN}."'),
    "a reason": ('"over 500"', '"over ${secret.PAY_TOKEN}"'),
    "a schema": ('to = { type = "string" }', 'to = { type = "string", description = "${secret.PAY_TOKEN}" }'),
    "a prompt": ('prompt_file = "clerk.md"', 'prompt = "say ${secret.PAY_TOKEN}"'),
}


@pytest.mark.parametrize(("old", "new"), PLACES.values(), ids=PLACES.keys())
def test_where_a_secret_would_be_seen_it_is_refused_at_load(home: Home, old: str, new: str) -> None:
    home.edit("toolgate.toml", old, new)
    error = home.refusal()
    assert "a secret cannot stand here: ${secret.PAY_TOKEN}" in error.message and "command.env" in error.hint
    said = error.hint.removeprefix("it can stand in ").split(", ")
    assert "precheck.env" in said and len(said) == len(set(said))


def test_a_literal_that_looks_like_one_is_a_literal(home: Home) -> None:
    home.edit("toolgate.toml", 'argv = ["true"]', 'argv = ["true", "$${secret.PAY_TOKEN}"]')
    assert home.files().world().config.secrets == {}


@pytest.mark.parametrize("reference", ["${secret.}", "${secret.a-b}", "${secret.PAY_TOKEN#/x}", "${secret.1}"])
def test_a_reference_that_names_no_secret_is_refused_at_load(home: Home, reference: str) -> None:
    home.edit("toolgate.toml", 'argv = ["true"]', f'argv = ["true"]\nenv = {{ TOKEN = "{reference}" }}')
    assert reference in home.refusal().message or "nothing is called" in home.refusal().message


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("a-b = {}", "not a name for a secret"),
        ('X = "sesame-open"', "must be a table"),
        ('X = { value = "sesame-open" }', "unknown key"),
        ("X = { file = 1 }", "must be a text"),
    ],
)
def test_a_declaration_that_is_none_is_refused_at_load(home: Home, table: str, says: str) -> None:
    home.write("toolgate.toml", (home.path / "toolgate.toml").read_text() + f"[secrets]\n{table}\n")
    error = home.refusal()
    assert says in error.message and "sesame" not in error.message


def test_a_value_in_a_file_of_the_home_is_refused_by_the_name_of_both(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with_secret(home)
    monkeypatch.setenv("PAY_TOKEN", "be careful!")
    home.write("clerk.md", "always be careful!!")
    assert (home.refusal().kind, home.refusal().message) == ("invalid", "clerk.md holds the value of the secret PAY_TOKEN")
    monkeypatch.setenv("PAY_TOKEN", 'Pay "money".')
    home.write("clerk.md", "be careful")
    home.edit("toolgate.toml", '"Pay money."', '"Pay \\u0022money\\u0022."')
    assert home.refusal().message == "toolgate.toml holds the value of the secret PAY_TOKEN"


def test_a_workflow_with_a_value_in_it_is_refused_before_its_faults_are_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with_secret(home)
    monkeypatch.setenv("PAY_TOKEN", "approval-of-all-things-there-are-and-will-be")
    files = home.files()
    files.world()
    home.edit("pay.toml", 'gate = "approval"', 'gate = "approval-of-all-things-there-are-and-will-be"')
    with pytest.raises(ToolgateError) as caught:
        files.workflow("pay")
    assert caught.value.message == "pay.toml holds the value of the secret PAY_TOKEN"


def test_secrets_are_found_wherever_the_home_is(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "elsewhere"
    place.write_text("sesame-open")
    with_secret(home, f'\n[secrets]\nPAY_TOKEN = {{ file = "{place}" }}\n')
    monkeypatch.chdir("/")
    assert home.files().world().secrets.value("PAY_TOKEN") == "sesame-open"
