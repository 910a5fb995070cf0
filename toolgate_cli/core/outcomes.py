"""What the result of an attempt means under the tool's declared rules; what cannot be judged is uncertain, never a success (I8)."""

from __future__ import annotations

from typing import Literal

from . import canonical
from .conditions import holds
from .config import Condition, FailWhen, Tool
from .errors import ToolgateError
from .results import Judged, ToolResult
from .soundness import clean
from .types import Fact, Json

_Kind = Literal["business", "permanent", "not_dispatched", "answered", "uncertain"]


def judge(tool: Tool, result: ToolResult) -> Judged:
    """The four facts of one result. Declared exit codes come before the provider's own sign of success; `fail_when` is asked only of a
    success and can only make it a failure. Never raises for what a tool wrote."""
    if result.ended == "not_dispatched":
        return _not_dispatched(result.message or "the tool was not started")
    if result.ended == "uncertain":
        return _uncertain("NO_ANSWER", result.message or "the tool did not come to an end of its own")
    declared = _declared(tool, result)
    if declared is not None:
        return declared
    if not result.ok:
        code = "TOOL_FAILED" if result.code is None else f"{result.sign}_{result.code}"
        if result.ended == "unclear":
            return _uncertain(code, result.message or f"the tool ended with {code}, which does not say what it did")
        return _failure("answered", "yes", "unknown", code, result.message or f"the tool failed with {code}")
    return _of_success(tool, result)


def _declared(tool: Tool, result: ToolResult) -> Judged | None:
    """What the operator declared of this code; one that is in several lists counts as the one that permits least."""
    code = result.code
    if code is None:
        return None
    if code in tool.exit.permanent:
        return _failure(
            "permanent", "yes", "unknown", f"{result.sign}_{code}", result.message or f"the tool ended with {code}, a permanent failure"
        )
    if code == tool.exit.confirm:
        return _question(result)
    if code in tool.exit.business:
        return _business(tool.exit.business[code], result.message)
    if code in tool.exit.not_dispatched:
        return _not_dispatched(result.message or f"the tool ended with {code}: nothing was dispatched")
    return None


def _question(result: ToolResult) -> Judged:
    """{"question": text, "state": anything}; a question that cannot be read is no end that anybody could judge."""
    found, _ = _output(result)
    if not isinstance(found, dict) or found.keys() - {"question", "state"} or not isinstance(asked := found.get("question"), str):
        return _uncertain("UNJUDGEABLE", "the tool stopped half-way with a question that cannot be read")
    if not asked.strip():
        return _uncertain("UNJUDGEABLE", "the tool stopped half-way with an empty question")
    return Judged("confirm", "yes", "unknown", "CONFIRM", canonical.encode(found.get("state")), clean(asked))


def _of_success(tool: Tool, result: ToolResult) -> Judged:
    parsed, is_json = _output(result)
    if tool.fail_when:
        if not is_json:
            return _uncertain("UNJUDGEABLE", "the tool ended well, but fail_when cannot be judged: its output is not JSON, or was cut")
        verdicts = [(rule, _verdict(rule, parsed)) for rule in tool.fail_when]
        for rule, verdict in verdicts:
            if verdict == "fails":
                return _business(rule.code, "")
        for rule, verdict in verdicts:
            if verdict == "unjudgeable":
                return _uncertain("UNJUDGEABLE", f"the tool ended well, but fail_when cannot be judged at {rule.condition.at!r}")
    return Judged("success", "yes", "yes", result.mark, canonical.encode(parsed), clean(result.message) if result.mark else "")


def _output(result: ToolResult) -> tuple[Json, bool]:
    """The output as one strict JSON value, else as text; what was cut is text, since a part of a number is a number too."""
    if not result.truncated:
        try:
            return canonical.parse(result.output), True
        except ToolgateError:
            pass
    return clean(result.output), False


def _verdict(rule: FailWhen, document: Json) -> Literal["fails", "passes", "unjudgeable"]:
    condition = rule.condition
    try:
        if condition.op != "exists" and not holds(Condition(condition.at, "exists", True), document, False):
            return "unjudgeable" if rule.on_missing == "fail" else "passes"
        held = holds(condition, document, True)
        if held != holds(condition, document, False):
            return "unjudgeable"
    except Exception:  # noqa: BLE001 - whatever went wrong: a rule that cannot be evaluated says nothing about the result
        return "unjudgeable"
    return "fails" if held else "passes"


def _not_dispatched(message: str) -> Judged:
    return _failure("not_dispatched", "no", "no", "NOT_DISPATCHED", message)


def _uncertain(code: str, message: str) -> Judged:
    return _failure("uncertain", "unknown", "unknown", code, message)


def _business(code: str, message: str) -> Judged:
    return _failure("business", "yes", "no", code, message or f"the tool answered {code}")


def _failure(kind: _Kind, dispatched: Fact, effect_applied: Fact, code: str, message: str) -> Judged:
    message = clean(message)
    return Judged(kind, dispatched, effect_applied, code, canonical.encode(message), message)
