"""Answers to show, hostile text for every field of them, and a desk that records what it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from toolgate_cli.core import canonical, exported
from toolgate_cli.core.config import ExitRules, Tool
from toolgate_cli.core.cursor import Frame
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.outline import Node, Outline, Way
from toolgate_cli.core.progress import progress
from toolgate_cli.core.records import Call, Event, Row, Run
from toolgate_cli.runtime.answers import (
    Advice,
    Answer,
    Checked,
    Offering,
    Pinnable,
    Redaction,
    Remark,
    RunView,
    Verified,
    Waiting,
)

RUN = "r0123456789abc"
CALL = "c0123456789abc"
REF = CALL + "@0123456789ab"
HEAD = "7:" + "ab" * 32
AT = "2026-01-31T12:00:00.123Z"

# an unclosed and a stray tag, a link, an emoji name; erasing, colours, 8-bit CSI, the clipboard; what reorders, hides or breaks lines
HOSTILE = (
    "[/foo][red]x[/red][link=file:///etc/passwd]y[/link] [b + :skull: \\n pay\x1b[2K\rls\x1b]52;c;aGk=\x07 \x9b31m\x08\x7f\x00"
    "\u202egpj.exe\u2066\u200b\ufeff\u2028\u00a0\u3000\U000e0041\u115f\ufe0f\ntoolgate approve\tx"
)


def run(status: str = "AWAITING_TOOL_APPROVAL", text: str = "pay") -> Run:
    return Run(RUN, text, "d" * 64, text, status, "[]", 1, None, 0, 0, None, AT, AT)  # type: ignore[arg-type]  # any status


def view(status: str = "AWAITING_TOOL_APPROVAL", text: str = "pay") -> RunView:
    error = {"message": text, "step": text, "support_id": 9} if status == "FAILED" else None
    context: dict[str, Any] = {text: ({text: [text]}, "tool"), text * 2: (None, "tool")}
    said = event(text)._replace(type="REDACTED", payload=canonical.encode({"reason": text}))
    return RunView(run(status, text), text, text, {text: text}, error, context, False, (said,), (text * 2,))


def row(origin: str = "APPROVAL_REQUIRED", text: str = "pay") -> Row:
    revision = 1 if origin not in ("INPUT", "REVIEW", "STEP_APPROVAL", "ESCALATION") else None
    return Row(
        CALL,
        1,
        RUN,
        text,
        origin,
        revision,
        "e" * 64,
        "f" * 64,
        "policy",
        text,
        text,
        text,
        2,
        True,
        3,
        "unsafe",
        text,
        None,
        5,
        AT,
        AT,
        "stay",  # type: ignore[arg-type]  # any origin
    )


def _definition(text: str) -> dict[str, Any]:
    return {"safety": "write", "effect": "unsafe", "provider": "command", "table": {"argv": [text], text: text}}


def waiting(origin: str = "APPROVAL_REQUIRED", text: str = "pay") -> Waiting:
    called = Call(CALL, 1, RUN, text, text, canonical.encode({text: text, "n": 1.0}), "a" * 64, "k", text, text, text, text, text, AT)
    stored = row(origin, text)
    form = [{"id": text, "type": "TEXT", "label": text, "required": True, "options": [text]}] if origin == "INPUT" else None
    call = called if stored.revision is not None else None
    return Waiting(stored, text, call, _definition(text) if call else None, (text,), REF, True, True, form)


def answer(effect: str = "approved", status: str = "COMPLETED", *rows: Waiting, text: str = "pay") -> Answer:
    return Answer(effect, view(status, text), rows, HEAD, (Advice("toolgate approve " + text),) if rows else ())  # type: ignore[arg-type]  # any effect


def event(text: str = "pay") -> Event:
    return Event(
        4, AT, RUN, text, CALL, text, "e" * 64, 1, "TOOL_INVOCATION_STARTED", text, canonical.encode({text: [text]}), "s", "c", "p", "h"
    )


def tool(text: str = "pay") -> Tool:
    """A capability is a checked name; everything else is free text."""
    name, schema, declared = "ledger.pay", {"title": text}, {"argv": [text]}
    return Tool(name, text, text, "write", "unsafe", 10.0, 1, text, True, schema, "d", text, None, ExitRules(), (), declared)  # type: ignore[arg-type]


def edited(target: Waiting, arguments: Any, title: str | None = None) -> Waiting:
    """The same as it is to be with other arguments."""
    assert target.call is not None
    changed = target.call._replace(arguments=canonical.encode(arguments), title=title, revision=target.call.revision + 1)
    return target.decided_as(changed)


def outline(text: str = "pay") -> Outline:
    """Names that a file was refused for come out of a store that was changed by other hands."""
    item = {"id": text, "type": text, "label": text, "required": True, "options": [text]}
    inside = Node(text, text, text, text, ((text, text),), (), ())
    asks = Node("ask", "input", None, "none", (("form", text),), (), (item,))
    leads = Node(text, "branch", text, "review", (("on", text),), (Way(text, text, (inside,)), Way(None, text, None)), ())
    return Outline(text, text, {text: {"title": text}}, (asks, leads))


def offering(text: str) -> Offering:
    """A tool of each kind of change."""
    now, other = {"name": text, "description": text, "inputSchema": {text: text}}, {"name": text, "inputSchema": {}}
    tools = (
        Pinnable(text, (text,), None, now),
        Pinnable(text, (), other, now),
        Pinnable(text, (text,), now, None),
        Pinnable(text, (text,), None, now, text),
    )
    return Offering(text, "a" * 64, "b" * 64, tools)


class FakeDesk:
    """Answers every question with one of the above; `asked` holds what was asked, in order."""

    def __init__(self, text: str = "pay", refuse: ToolgateError | None = None) -> None:
        self.text = text
        self.refuse = refuse
        self.asked: list[tuple[Any, ...]] = []
        self.unread = ()

    def taken_back(self) -> None:
        return None

    def next(self, run: Run, rows: Sequence[Waiting]) -> tuple[Advice, ...]:
        return tuple(advice for waiting in rows for advice in self.next_of(waiting))

    def next_of(self, waiting: Waiting) -> tuple[Advice, ...]:
        subject = waiting.row.run_id if waiting.call is None else waiting.ref
        return (
            Advice(f"toolgate answer {subject}") if waiting.call is None else Advice(f"toolgate retry {subject}", "mend the cause, then"),
        )

    def as_now(self, target: Waiting) -> Waiting:
        return target

    def __getattr__(self, name: str) -> Any:
        answers = {
            "select": waiting("APPROVAL_REQUIRED", self.text),
            "select_step": waiting("STEP_APPROVAL", self.text),
            "pending": ((waiting("APPROVAL_REQUIRED", self.text), waiting("INPUT", self.text)), HEAD),
            "show_pending": (waiting("OUTCOME_UNKNOWN", self.text), HEAD),
            "runs": ((view("RUNNING", self.text), view("FAILED", self.text)), HEAD),
            "show_run": (view("AWAITING_INPUT", self.text), (waiting("INPUT", self.text),), HEAD),
            "events": (iter([event(self.text), event(self.text)]), HEAD),
            "wait": (view("COMPLETED", self.text), (), HEAD, True),
            "verify": Verified(False, 4, 3, self.text, HEAD),
            "export": iter([exported.line({"schema": self.text}), exported.line({"head": HEAD})]),
            "examine": iter([Remark("store", "error", self.text, self.text), Remark("log", "ok", self.text)]),
            "redactable": waiting("APPROVAL_REQUIRED", self.text).call,
            "redact": Redaction(
                CALL,
                RUN,
                1,
                (4, 5),
                1,
                1,
                1,
                True,
                (f"context {self.text}", "call c2345672345672"),
                HEAD,
                ToolgateError("storage", self.text),
            ),
            "workflows": (Checked(self.text, self.text, (self.text,), (self.text,)),),
            "workflow": outline(self.text),
            "progress": progress(outline(self.text).steps, (Frame("", 1, 0, "inside"), Frame(self.text)), {}, "RUNNING"),
            "tools": (tool(self.text),),
            "tool": tool(self.text),
            "offering": offering(self.text),
            "pin": self.text,
            "init": (self.text,),
            "bring": (self.text,),
            "recover": (answer("recovered", "FAILED", waiting("EXECUTION_FAILED", self.text), text=self.text),),
        }

        def ask(*words: Any, **more: Any) -> Any:
            consent = more.pop("ask", None)
            if consent is not None:  # as the real one: before anything is done
                consent(edited(words[0], more["arguments"]) if more.get("arguments") else words[0])
            self.asked.append((name, *words, more) if more else (name, *words))
            if self.refuse is not None:
                raise self.refuse
            if name == "select_step" and "answer" in words:
                return waiting("INPUT", self.text)
            return answers.get(name) or answer("approved", "COMPLETED", waiting("REVIEW", self.text), text=self.text)

        return ask

    def session(self) -> AbstractContextManager[FakeDesk]:
        return nullcontext(self)


# every command with words that it takes
COMMANDS = [
    ["start", "pay", "-i", "to=bob"],
    ["continue", RUN],
    ["answer", RUN, "street=x"],
    ["cancel", RUN],
    ["retry", RUN, "--step", "s"],
    ["retry", CALL],
    ["approve"],
    ["approve", RUN, "--step", "s"],
    ["reject", RUN, CALL],
    ["reject", RUN, "--step", "s"],
    ["review", RUN, "-m", "fine"],
    ["continue-tool", CALL],
    ["recover"],
    ["pending", "list"],
    ["pending", "show"],
    ["runs", "list"],
    ["runs", "show", RUN],
    ["events", RUN],
    ["wait", RUN],
    ["audit", "verify"],
    ["audit", "export"],
    ["doctor"],
    ["audit", "redact", CALL, "-m", "asked for"],
    ["workflow", "check"],
    ["workflow", "schema"],
    ["workflow", "show", "pay"],
    ["workflow", "import", "nowhere", "--into", "new"],
    ["tools", "list"],
    ["tools", "show", "pay"],
    ["tools", "pin", "pay", "--yes"],
    ["init"],
]
