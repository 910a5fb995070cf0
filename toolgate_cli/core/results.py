"""What a provider reports of one attempt, and what the tool's outcome rules make of it."""

from __future__ import annotations

from typing import Literal

from .types import Fact
from .values import NamedTuple


class ToolResult(NamedTuple):
    """The bare facts of one attempt, as a provider saw them; what they mean is judged in `outcomes`.

    `ended`: answered = the tool itself came to an end; unclear = it did, with a code that does not say whether it had an effect, unless
    the operator declared that it does; uncertain = timeout, signal, lost connection, cancelled; not_dispatched = proved that nothing was
    started or sent.
    """

    ended: Literal["answered", "unclear", "uncertain", "not_dispatched"]
    ok: bool = False  # the provider's own sign of success: exit 0, a 2xx, no error flag
    code: int | None = None  # exit code or status
    output: str = ""  # decoded, cut at the limit
    size: int = 0  # bytes before the cut
    digest: str = ""  # sha256 of all bytes, hex
    truncated: bool = False
    message: str = ""  # what went wrong, for a person; may hold the tool's own text
    survivors: tuple[str, ...] = ()  # processes that could not be killed
    left_behind: str | None = None  # name of the lock that a survivor may hold
    sign: str = "EXIT"  # the word for what `code` is: EXIT, STATUS
    mark: str | None = None  # what is odd about a success that counts all the same, as a stable code; `message` says it in words


class Judged(NamedTuple):
    """A result under the tool's declared outcome rules.

    `kind`: success | business (settled, the run advances) | permanent | not_dispatched | answered (the tool said "failed") | uncertain |
    confirm (it stopped half-way with a question, `message`, and a state, `body`)
    `body` is canonical JSON text of the result; for failures of the message.
    """

    kind: Literal["success", "business", "permanent", "not_dispatched", "answered", "uncertain", "confirm"]
    dispatched: Fact
    effect_applied: Fact
    code: str | None
    body: str
    message: str
