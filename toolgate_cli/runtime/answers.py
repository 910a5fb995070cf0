"""What a use case answers: plain values that a view shows in any form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from ..core.errors import ToolgateError
from ..core.records import Call, Event, Row, Run
from ..core.types import Json, Provenance
from ..core.values import NamedTuple

EffectWord = Literal[
    "started", "continued", "approved", "voted", "rejected", "retried", "continued_tool", "answered", "reviewed", "cancelled", "recovered"
]


class Made(NamedTuple):
    """A call that an agent asked for, and how it was settled (None: it is not)."""

    call: Call
    ended: str | None


class Waiting(NamedTuple):
    """An open row with everything that a person is to see of it. `definition`: the pinned tool (None for other waits);
    `approvals`: names of those who voted; `form`: the items of an INPUT row; `output`: what a step at its gate completed with;
    `before`: the call as it was before it was edited; `values`: what a step at its gate that completed with nothing has written instead,
    by key; `made`: the calls that the agent of such a step has asked for. Only where the files were read: `out_of_reach`: nobody is left
    over to approve it; `changed`: what of its tool is not as it was parked."""

    row: Row
    workflow: str
    call: Call | None
    definition: Mapping[str, Json] | None
    approvals: tuple[str, ...]
    ref: str
    still_running: bool
    expired: bool
    form: Json = None
    output: Json = None
    before: Call | None = None
    values: Mapping[str, Json] | None = None
    made: tuple[Made, ...] = ()
    out_of_reach: bool = False
    changed: str | None = None

    def held_to(self, approvers: Mapping[str, tuple[str, ...]]) -> Waiting:
        """The same, with whether anybody is left over to approve it by these scopes."""
        if self.call is None or self.row.origin != "APPROVAL_REQUIRED":
            return self
        from ..core import quorum  # a listing has no use for it

        return self._replace(out_of_reach=quorum.is_out_of_reach(self.row, self.approvals, self.call.requested_by, approvers))

    def decided_as(self, call: Call) -> Waiting:
        """The same with another revision of its call, which an edit would make."""
        return self if self.call is None or call.revision == self.call.revision else self._replace(call=call, before=self.call)

    @property
    def to_be_edited(self) -> bool:
        """Whether the call is a revision that is still to be made: the ref and the digest are those of the one before it."""
        return self.call is not None and self.call.revision != self.row.revision


Consent: TypeAlias = "Callable[[Waiting], None] | None"  # asks a person about a row as it is to be decided; raises where they do not agree


class RunView(NamedTuple):
    """A run as it stands. `step`: path of the step it is at; `outputs`: step id -> output; `context` only where it was asked for;
    `changed`: the workflow's file differs from the pinned definition (None: not looked at); `redactions`: the events that say what was
    erased, and `erased`: the keys of the context whose values were, both with `context` only."""

    run: Run
    title: str | None
    step: str | None
    outputs: Mapping[str, Json]
    error: Mapping[str, Json] | None
    context: Mapping[str, tuple[Json, Provenance]] | None = None
    changed: bool | None = None
    redactions: tuple[Event, ...] = ()
    erased: tuple[str, ...] = ()


class Advice(NamedTuple):
    """A command that moves something on, to paste. `first`: what is to be known or done before it ("": nothing)."""

    command: str
    first: str = ""


class Answer(NamedTuple):
    """What a verb that moves a run answers with. `head`: `seq:hash`; `next`: what moves the run on; `fault`: what kept the run from being
    carried on after the verb had taken effect; `warnings`: what is doubtful in the workflow that was started."""

    effect: EffectWord
    run: RunView
    pending: tuple[Waiting, ...]
    head: str
    next: tuple[Advice, ...]
    fault: ToolgateError | None = None
    warnings: tuple[str, ...] = ()


class TakenBack(NamedTuple):
    """A database that was behind its kept head and was taken as it is: seq of its own last event (0: it has none), from which it goes on,
    and of the last event that was seen of it (None: that could not be read)."""

    seq: int
    seen: int | None


class Checked(NamedTuple):
    """One workflow file and what was found in it; `id` None where not even that could be read."""

    file: str
    id: str | None
    errors: tuple[str, ...]
    warnings: tuple[str, ...]


class Pinnable(NamedTuple):
    """One tool of a server. `remote`: its name there; `capabilities`: those it has here, none where its name does not fit; `before`: the
    definition that is pinned, `now` the one that is offered (None: there is none); `fault`: why what is offered cannot be pinned."""

    remote: str
    capabilities: tuple[str, ...]
    before: Mapping[str, Json] | None
    now: Mapping[str, Json] | None
    fault: str | None = None

    @property
    def change(self) -> Literal["added", "changed", "removed", "same", "left out"]:
        """What pinning does to it."""
        if self.now is None or self.fault is not None:
            return "left out" if self.before is None else "removed"
        return "added" if self.before is None else "same" if self.before == self.now else "changed"


class Offering(NamedTuple):
    """What a server offers beside what is pinned of it. `fingerprint`: of the server as it is now, `before`: as it was when it was
    pinned."""

    server: str
    fingerprint: str
    before: str | None
    tools: tuple[Pinnable, ...]

    @property
    def changes(self) -> bool:
        """Whether pinning would change anything."""
        return self.fingerprint != self.before or any(tool.change not in ("same", "left out") for tool in self.tools)


class Remark(NamedTuple):
    """One thing that an examination found: what of (`store`, `log`, `calls`, `files`), how bad, what is, and what to do ("": nothing)."""

    about: str
    level: Literal["ok", "warning", "error"]
    message: str
    hint: str = ""


class Redaction(NamedTuple):
    """What was erased of a call: how many revisions of it, the seqs of its events, and how many context values, outputs of steps and
    turns; `error`: the run's own error too. `still`: where else a text of the call stands, and stays. `head` and `fault` are of the time
    after it: `fault` says why the files of the store may still hold what was erased."""

    call_id: str
    run_id: str
    revisions: int
    events: tuple[int, ...]
    context: int
    steps: int
    turns: int
    error: bool
    still: tuple[str, ...]
    head: str = ""
    fault: ToolgateError | None = None

    @property
    def nothing(self) -> bool:
        """Whether there was nothing left to be erased."""
        return self.revisions == 0


class Verified(NamedTuple):
    """What `audit verify` found. `events`: how many hold of those that were read; `first_bad`: seq of the first event that does not hold,
    and why; `since`: the head with whose event the reading began (None: with the first event); `heads`: those that it was held against;
    `changed`: what in the store is not what the log says of it."""

    ok: bool
    events: int
    first_bad: int | None
    reason: str | None
    head: str
    since: str | None = None
    heads: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
