"""The review card: everything that a person decides on, complete; nothing in it is cut."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from ... import plugins
from ...core import changes, tables
from ...core.errors import ToolgateError
from ...core.types import Json
from ...runtime.answers import Made, Waiting
from ..safe import Safe, fill, show_json
from . import probes
from .pending import arguments, title
from .shapes import Field, Fields, field, member_name, members
from .warnings import warnings


def fields(waiting: Waiting) -> Fields:
    return tuple(_fields(waiting))


def _fields(waiting: Waiting) -> Iterator[Field]:
    row = waiting.row
    yield field("ref", _until_edited(waiting, waiting.ref))
    yield field("origin", row.origin)
    yield field("run", row.run_id)
    yield field("workflow", waiting.workflow)
    yield field("step", row.step)
    yield from _call(waiting)
    why = "question" if row.origin == "CONFIRMATION_REQUIRED" else "reason"
    for name, value in ((why, row.reason), ("rule", row.rule), ("scope", row.approver_scope)):
        if value is not None:
            yield field(name, value)
    if row.origin in ("APPROVAL_REQUIRED", "STEP_APPROVAL", "ESCALATION"):  # what no approval moves has none to count
        yield field("approvals", fill("{} of {}", len(waiting.approvals), row.approvals_needed))
        yield from (Field(fill("{}", number), fill("{}", name), "approved by") for number, name in enumerate(waiting.approvals, 1))
    if row.separate_requester:
        yield field("separation", "whoever asked for it cannot approve it")
    yield from _doubt(waiting)
    yield from probes.said(waiting)
    yield field("created", row.created_at)
    if row.expires_at is not None:
        yield field("expires", fill("{}{}", row.expires_at, ", this is past: it cannot be approved any more" if waiting.expired else ""))
    yield from _form(waiting.form)
    if row.origin in ("STEP_APPROVAL", "REVIEW"):
        yield from members("values", dict(waiting.values)) if waiting.values else members("output", waiting.output)
        yield from (Field(fill("{}", made.call.id), _made(made), "calls") for made in waiting.made)
    yield from _by_the_files(waiting)
    yield from (field("warning", text) for text in warnings(waiting))


def _by_the_files(waiting: Waiting) -> Iterator[Field]:
    """What a yes would come to, where the files of the home were read."""
    if waiting.changed is not None:
        yield field("warning", fill("its tool changed since ({}): it is not started as it is shown here", waiting.changed))
    if waiting.out_of_reach:
        yield field("warning", "nobody is left over to approve it: too few people of its scope may")


def _made(made: Made) -> Safe:
    given = made.call.arguments
    told = "arguments not stored" if given is None else show_json(json.loads(given))
    return fill("{}: {} {}", made.ended or "not settled", made.call.capability, told)


def _call(waiting: Waiting) -> Iterator[Field]:
    call, tool = waiting.call, waiting.definition or {}
    if call is None:
        return
    yield field("capability", call.capability)
    yield field("title", title(waiting))
    if call.arguments is None:
        yield field("arguments", "not stored: the call was refused when it came in, or it was redacted")
    else:
        yield from members("arguments", arguments(waiting))
    yield from _edit(waiting)
    if call.rationale is not None:
        yield field("rationale", call.rationale)
    if call.agent is not None:
        yield field("agent", call.agent)
    table = tool.get("table")
    if isinstance(table, dict):  # what is started, as the operator's file says it
        yield from (Field(member_name(name), show_json(value), str(tool.get("provider"))) for name, value in table.items())
        yield from members("filled", filled) if (filled := _filled(str(tool.get("provider")), table, arguments(waiting))) else ()
    yield from probes.tables(tool)
    for name in ("safety", "effect"):
        yield field(name, tool.get(name) or "not known: the definition is not stored")
    yield field("requested by", call.requested_by)
    yield field("revision", call.revision)
    yield field("digest", _until_edited(waiting, waiting.row.call_digest))


def _filled(provider: str, table: dict[str, Json], given: Json) -> Json:
    """What will be called, where the tool's provider can tell it of its table and the arguments; else nothing."""
    try:
        plugin = plugins.provider(provider)
        shows: Callable[[object, Json], Json] | None = getattr(plugin, "shows", None)
        return shows(tables.table(plugin.Fields, table), given) if shows is not None and isinstance(given, dict) else None
    except (ToolgateError, TypeError, ValueError, KeyError):  # the gate will refuse it, and say why
        return None


def _until_edited(waiting: Waiting, name: str | None) -> Safe:
    return fill("{}, as it is now: with this edit the call gets another" if waiting.to_be_edited else "{}", name)


def _edit(waiting: Waiting) -> Iterator[Field]:
    """What an edit replaces: the arguments before it, and where they differ."""
    old, new = waiting.before, arguments(waiting)
    if old is None:
        return
    if old.arguments is None:
        yield field("arguments before the edit", "not stored: they were redacted")
        return
    before: Json = json.loads(old.arguments)
    yield from members("arguments before the edit", before)
    found = changes.places(before, new)
    more = " and more" if len(found) == changes.MOST else ""
    yield field("changed by the edit", fill("{}{}", ", ".join(found) or "nothing", more))


def _doubt(waiting: Waiting) -> Iterator[Field]:
    row = waiting.row
    if row.revision is None:
        return
    yield field("starts so far", row.starts)
    if row.last is not None:
        yield field("last", row.last)
    if row.doubt is not None:
        yield field(
            "doubt", fill("an earlier start may have taken effect, its end is not known ({}): started again, this may run twice", row.doubt)
        )
    if waiting.still_running:
        yield field("still running", "a process of an earlier start is still alive: nothing starts this call until it is gone")


def _form(form: Json) -> Iterator[Field]:
    for item in form if isinstance(form, list) else []:
        if isinstance(item, dict):
            yield Field(fill("{}", item.get("id", "")), show_json({name: value for name, value in item.items() if name != "id"}), "form")
