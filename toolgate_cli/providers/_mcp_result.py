"""What a response to tools/call means: the structured result, or the text, or everything; `isError` is the tool's own "failed" (I8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core import canonical
from ..core.results import ToolResult
from ..core.soundness import clean
from ..core.types import Json
from ..host import endings
from ._mcp_session import Answer, refusal

if TYPE_CHECKING:
    from ..runtime.plugs import InvokeLimits

INEXACT = "INEXACT_RESULT"


def result(answer: Answer, limits: InvokeLimits) -> ToolResult:
    error, said = answer.message.get("error"), answer.message.get("result")
    if error is not None:
        return ToolResult("answered", message=cut(f"the server refused the call: {refusal(error)}", limits))
    if not isinstance(said, dict):
        return ToolResult("uncertain", message="its answer holds neither a result nor an error")
    kind = said.get("resultType", "complete")
    if kind == "input_required":
        return ToolResult("answered", message="the tool asks for more input while it runs, which it is not given")
    if kind != "complete":
        return ToolResult("uncertain", message="its answer is of a kind that is not known here")
    if said.get("isError") not in (None, False):
        return ToolResult("answered", message=cut(_text(said) or "the tool failed without a word", limits))
    if answer.inexact is not None:
        marked = _kept(answer.inexact, limits)
        return marked._replace(mark=INEXACT, message="the result holds what JSON cannot carry exactly, and is kept as the line that came")
    if not isinstance(said.get("content"), list) and "structuredContent" not in said:
        return ToolResult("uncertain", message="its answer holds no content")
    return _kept(_output(said), limits)


def _output(said: Mapping[str, Json]) -> str:
    """The structured result as JSON; the text where that is all there is; else every block of content as JSON."""
    if said.get("structuredContent") is not None:
        return canonical.encode(said["structuredContent"])
    content = said.get("content")
    only = content[0] if isinstance(content, list) and len(content) == 1 else None
    text = only.get("text") if isinstance(only, dict) and only.get("type") == "text" else None
    return text if isinstance(text, str) else canonical.encode({"content": content})


def _text(said: Mapping[str, Json]) -> str:
    content = said.get("content")
    blocks = [block.get("text") for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return "\n".join(text for text in blocks if isinstance(text, str))


def _kept(text: str, limits: InvokeLimits) -> ToolResult:
    return endings.answer(limits.secrets.scrub_bytes(clean(text).encode()), limits.output_bytes)


def cut(text: str, limits: InvokeLimits) -> str:
    """What a server says of a failure: the end of it, without values of secrets."""
    return endings.last_words(limits.secrets.scrub(clean(text)).encode())
