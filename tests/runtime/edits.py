"""A call that waits, and other arguments for it: rules that look at the argument `text`, and an edit of that."""

from __future__ import annotations

from toolgate_cli.core import canonical
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Call, Row
from toolgate_cli.core.types import Json

from . import texts
from .kit import Home

SCHEMA = '{ type = "object", properties = { text = { type = "string", maxLength = 9 } }, additionalProperties = false }'


def when(text: str, decision: str, more: str = "") -> str:
    return texts.rule("ask.*", decision, f'when = [{{ arg = "/text", eq = "{text}" }}]\n{more}').replace("ask-all", text)


RULES = {
    "no": when("evil", "deny", 'reason = "never"'),
    "gift": when("gift", "allow"),
    "big": when("big", "require_approval", 'approver_scope = "desk"\napprovals = 2'),
    "bigger": when("bigger", "require_approval", 'approver_scope = "desk"\napprovals = 2'),
    "sep": when("sep", "require_approval", "separate_requester = true"),
    "sep2": when("sep2", "require_approval", "separate_requester = true"),
}


def operator(**more: str) -> str:
    return texts.operator({"ask.send": texts.tool("ask.send", schema=SCHEMA)}, {**RULES, **more})


def asked(home: Home, text: str = "hi", **rules: str) -> str:
    home.write(operator(**rules))
    return home.start("ask", text=text)


def edit(home: Home, run: str, text: Json, actor: str = "bob", **more: object) -> str:
    """How it ended: the effect, or the kind of the refusal."""
    try:
        return home.decide("approve", run, actor=actor, arguments={"text": text}, **more).effect
    except ToolgateError as error:
        return error.kind


def stored(home: Home, row: Row, revision: int | None = None) -> Call:
    with home.store.read() as tx:
        return tx.call(row.id, revision)[0]


def texts_of(home: Home) -> list[Json]:
    return [canonical.parse(started.arguments)["text"] for started in home.tools.starts]  # type: ignore[index,call-overload]  # an object
