"""What the README says of commands, codes and files is what there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from toolgate_cli.cli import catalogue, exits
from toolgate_cli.cli.commands import help as help_command
from toolgate_cli.core import verbs
from toolgate_cli.core.types import Origin

from . import blocks
from .reference import with_reference

ROOT = Path(__file__).parents[2]


def test_the_command_reference_is_as_the_commands_are() -> None:
    assert with_reference(blocks.text()) == blocks.text(), "run: python -m tests.readme.reference"


def test_the_exit_codes_are_all_there_with_their_kinds() -> None:
    rows = re.findall(r"^\| ([0-9, ]+) \|(.*?)\| .+ \|$", blocks.text(), re.MULTILINE)
    told = {int(code): set(re.findall(r"`(\w+)`", kinds)) for codes, kinds in rows for code in codes.split(", ")}
    wanted: dict[int, set[str]] = {0: set(), exits.IN_DOUBT: set(), exits.INTERRUPTED: set(), exits.TERMINATED: set()}
    for kind, code in exits.OF_KIND.items():
        wanted.setdefault(code, set()).add(kind)
    assert told == wanted


SAID = {
    "it came too late": "EXPIRED",
    "nobody answered": "UNANSWERED",
    "do not fit": "NOT_VALID",
    "could not be taken": "NOT_RECEIVED",
    "was cancelled": "CANCELLED_IN_DOUBT",
}


def _state(what: str, origin: str) -> str:
    return next((state for words, state in SAID.items() if words in what), origin)


def test_what_moves_each_kind_of_wait_is_as_the_table_of_verbs_says() -> None:
    rows = re.findall(r"^\| (.+) \| `([A-Z_]+)` \| (.+) \|$", blocks.text(), re.MULTILINE)
    told = {_state(what, origin): " | ".join(re.findall(r"`([^`]+)`", moves)) for what, origin, moves in rows}
    waits = set(get_args(Origin)) | set(SAID.values())
    assert told == {state: verbs.works(state) for state in waits}


def test_every_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"`((?:tests|toolgate_cli|workflows\.example|\.ci)/[\w./-]+)`", blocks.text()))
    assert len(named) > 15 and [name for name in sorted(named) if not (ROOT / name).exists()] == []
    inside = set(re.findall(r"`((?:core|runtime|stores|cli)/\w+\.py|bootstrap\.py)`", blocks.text()))
    assert inside and [name for name in sorted(inside) if not (ROOT / "toolgate_cli" / name).is_file()] == []


def test_every_promise_names_its_tests() -> None:
    promised = blocks.text().split("Each of these is a test; the name of its file follows.\n")[1].split("And these are not promised")[0]
    bullets = promised.split("\n- ")[1:]
    assert len(bullets) > 8 and [bullet for bullet in bullets if not re.search(r"\(`tests/[^()]+`\)\.\s*$", bullet)] == []


def test_an_effect_is_never_promised_to_happen_exactly_once() -> None:
    promised, _, not_promised = blocks.text().partition("And these are not promised")
    assert promised.count("exactly once") == 0 and not_promised.count("exactly once") == 1


def test_every_link_leads_to_a_heading() -> None:
    headings = {
        re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in blocks.text().splitlines() if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", blocks.text())) <= headings


def test_every_command_that_is_mentioned_exists() -> None:
    mentioned = set(re.findall(r"`toolgate ([a-z-]+)(?: ([a-z-]+))?", blocks.text()))
    known = catalogue.names()
    for words in mentioned:
        name = tuple(word for word in words if word)
        assert name in known or name[:1] in known or (name[0] == "help" and name[1] in help_command.topics()), name
    topics = {topic for verb, topic in mentioned if verb == "help"}
    assert topics and topics <= set(help_command.topics())


def test_no_line_is_too_long_to_read() -> None:
    prose = re.sub(r"^```.*?^```$|<!-- commands.*end of commands -->|^\|.*?$", "", blocks.text(), flags=re.MULTILINE | re.DOTALL)
    assert [line for line in prose.splitlines() if len(line) > 140] == []
