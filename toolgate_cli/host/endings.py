"""How a started process came to its end, and the result that a provider makes of it; a signal or a timeout is never an answer (I8)."""

from __future__ import annotations

from codecs import getincrementaldecoder
from typing import Literal

from ..core import sums
from ..core.results import ToolResult
from ..core.values import NamedTuple

MESSAGE_BYTES = 2048


class Ended(NamedTuple):
    """`number`: exit code or signal. `stderr`: the end of it. `fault`: why nothing was started.

    lost: the process is gone and nobody knows how.
    """

    how: Literal["exited", "signalled", "lost", "timed_out", "cancelled", "not_started"]
    number: int = 0
    stdout: bytes = b""
    size: int = 0
    digest: str = ""
    stderr: bytes = b""
    survivors: tuple[str, ...] = ()
    left_behind: str | None = None
    fault: str = ""

    @property
    def truncated(self) -> bool:
        return self.size > len(self.stdout)


def result(ended: Ended, timeout: float) -> ToolResult:
    if ended.how == "not_started":
        return ToolResult("not_dispatched", message=f"could not be started: {ended.fault}")
    words = last_words(ended.stderr)
    exited = ended.how == "exited"
    message = (words or f"exit code {ended.number}") if exited else ": ".join(filter(None, (manner(ended, timeout), words)))
    return ToolResult(
        "answered" if exited else "uncertain",
        ok=exited and ended.number == 0,
        code=ended.number if exited else None,
        output=_decode(ended.stdout, cut=ended.truncated),
        size=ended.size,
        digest=ended.digest,
        truncated=ended.truncated,
        message="" if exited and ended.number == 0 else message,
        survivors=ended.survivors,
        left_behind=ended.left_behind,
    )


def manner(ended: Ended, timeout: float) -> str:
    """How a process ended that did not come to its own end, without what it said."""
    what = {"signalled": f"ended by signal {ended.number}", "timed_out": f"timed out after {timeout:g}s", "cancelled": "cancelled"}
    return what.get(ended.how, "its end was not seen")


def answer(data: bytes, most: int) -> ToolResult:
    """The success of a tool that was no process, and all that it said. `most`: bytes of it that are kept."""
    kept = data[:most]
    cut = len(kept) < len(data)
    return ToolResult("answered", True, None, _decode(kept, cut=cut), len(data), sums.sha256(data).hexdigest(), cut)


def last_words(stderr: bytes) -> str:
    """The last whole lines, at most 2 KiB of them."""
    text = stderr.decode("utf-8", "backslashreplace").strip()
    raw = text.encode()
    if len(raw) <= MESSAGE_BYTES:
        return text
    text = raw[-MESSAGE_BYTES:].decode("utf-8", "ignore")
    _, newline, rest = text.partition("\n")
    return rest if newline and rest else text


def _decode(data: bytes, cut: bool) -> str:
    """Of a character that the cut went through nothing stays."""
    return getincrementaldecoder("utf-8")("backslashreplace").decode(data) if cut else data.decode("utf-8", "backslashreplace")
