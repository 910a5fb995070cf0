"""What the answer of a probe means: a read-only command that was asked about one call. What cannot be judged says nothing good (I5)."""

from __future__ import annotations

from . import canonical
from .effects import Reconciliation
from .errors import ToolgateError
from .results import ToolResult
from .soundness import clean
from .types import Json
from .values import NamedTuple


class Reconciled(NamedTuple):
    """What a reconciler found out; `result` only where it was applied, `message` why it is not known, or what is odd about that result
    (`mark`, as of a result of the tool itself)."""

    verdict: Reconciliation
    result: Json = None
    message: str = ""
    mark: str | None = None


def refusal(answer: ToolResult) -> tuple[str, str] | None:
    """Code and reason for which a precheck lets a call not through; None: it exited with 0 and left nothing behind."""
    if (fault := _fault(answer)) is not None:
        return "precheck_unavailable", f"the precheck gave no answer: {fault}"
    if answer.ok:
        return None
    said = answer.message if answer.message != f"exit code {answer.code}" else clean(answer.output[:200]).strip() or answer.message
    return "precheck_refused", f"the precheck refused: {clean(said)}"


def value(answer: ToolResult) -> Json:
    """What a probe printed, one strict JSON value or a bare line of text; None where it says nothing that counts."""
    if _fault(answer) is not None or not answer.ok or answer.truncated:
        return None
    try:
        return canonical.parse(answer.output)
    except ToolgateError:
        text = answer.output.strip()
        return text if text and text.isprintable() and text[0] not in '{["' else None


def reconciled(answer: ToolResult) -> Reconciled:
    """{"applied": true | false | "unknown", "result": ...}, exit 0; everything else is unknown."""
    if (fault := _fault(answer)) is not None:
        return Reconciled("unknown", message=fault)
    if not answer.ok:
        return Reconciled("unknown", message=clean(answer.message))
    try:
        found = None if answer.truncated else canonical.parse(answer.output)
    except ToolgateError:
        found = None
    if not isinstance(found, dict) or "applied" not in found or found.keys() - {"applied", "result"}:
        return Reconciled("unknown", message='it did not print {"applied": true | false | "unknown", "result": ...}')
    if found["applied"] is True:
        return Reconciled("applied", found.get("result"), clean(answer.message) if answer.mark else "", answer.mark)
    if found["applied"] is False:
        return Reconciled("not_applied")
    return Reconciled("unknown", message="it says that it is not known")


def _fault(answer: ToolResult) -> str | None:
    """Why it came to no end of its own."""
    if answer.ended != "answered" or answer.survivors or answer.left_behind is not None:
        return clean(answer.message) or "something that it started still runs"
    return None
