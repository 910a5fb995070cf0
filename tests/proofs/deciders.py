"""What the design says of one call and the people who decide it, as a small model: no line of it is taken from the program.

`say` is a verb of a person: it changes the model as the design would have it and answers with the effect, or the kind of the refusal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

End = Literal["ok", "failed", "lost", "dies"]
RANK = ("read_only", "idempotent", "unsafe")  # a later one permits less


class Terms(NamedTuple):
    """What a row asks for: the rule that says so, whether approvers have to be of the desk, how many, and none of them who asked."""

    rule: str | None
    desk: bool = False
    needed: int = 1
    apart: bool = False


NOTHING = Terms(None)


class Kind(NamedTuple):
    """A rule. `hour`: what becomes of a row after an hour."""

    decision: Literal["allow", "deny", "ask"]
    terms: Terms
    hour: Literal["stay", "reject"] | None = None


KINDS: dict[str, Kind] = {
    "allow": Kind("allow", Terms("allow")),
    "deny": Kind("deny", Terms("deny")),
    "one": Kind("ask", Terms("one", desk=True)),
    "two": Kind("ask", Terms("two", desk=True, needed=2)),
    "apart": Kind("ask", Terms("apart", apart=True)),
    "strict": Kind("ask", Terms("strict", desk=True, needed=2, apart=True)),
    "brief": Kind("ask", Terms("brief"), "stay"),
    "gone": Kind("ask", Terms("gone"), "reject"),
}


@dataclass
class World:
    """The files and the clock. `policy`: argument -> name of its rule; `tool`: its effect and the rest of its definition."""

    policy: dict[str, str]
    tool: tuple[str, str]
    desk: set[str]
    hours: int = 0


class Act(NamedTuple):
    """A verb of a person on the version that they have seen. `text`: the argument of an edit; `end`: how a start would end."""

    verb: Literal["approve", "reject", "retry", "continue-tool", "cancel"]
    person: str
    seen: int
    end: End
    flag: bool = False
    text: str | None = None
    outcome: bool = False


WORKS = {  # origin -> the verbs that are not refused as wrong_state
    "APPROVAL_REQUIRED": {"approve", "reject"},
    "EXPIRED": {"approve", "reject", "retry"},
    "EXECUTION_FAILED": {"reject", "retry", "continue-tool"},
    "OUTCOME_UNKNOWN": {"reject", "retry", "continue-tool"},
    "POLICY_DENIED": {"approve", "reject", "retry", "continue-tool"},
}


@dataclass
class Call:
    """One call. `origin` None: nothing waits any more; `shown`: the tool as it was when the call was parked or started."""

    asker: str
    text: str
    status: Literal["WAITING", "COMPLETED", "CANCELLED"] = "WAITING"
    origin: str | None = "APPROVAL_REQUIRED"
    version: int = 0
    revision: int = 1
    terms: Terms = NOTHING
    shown: tuple[str, str] | None = None
    ends: tuple[int, str] | None = None  # the hour after which it has expired, and what becomes of it then
    doubt: str | None = None
    starts: int = 0
    votes: set[str] = field(default_factory=set)

    def begin(self, world: World, end: End) -> str:
        """The first pass of the gate."""
        kind = KINDS[world.policy[self.text]]
        if kind.decision == "allow":
            self.version, self.terms = 1, kind.terms
            return self._start(world, end, "started")
        self._park(world, kind)
        return "started"

    def say(self, world: World, act: Act) -> str:
        if act.verb == "cancel":
            return self._cancel()
        if self.origin is None or act.seen != self.version:
            return "claim_lost"
        over = self.ends is not None and world.hours > self.ends[0]
        if self.status == "WAITING" and over and self.ends is not None and self.ends[1] == "reject":
            return self._settle("expired")
        works = {"continue-tool"} if self.status == "CANCELLED" else WORKS["EXPIRED" if over else self.origin]
        if act.verb not in works:
            return "wrong_state"
        if self.terms.desk and act.person not in world.desk:
            return "scope"
        if self.terms.apart and act.person == self.asker and act.verb in ("approve", "retry") and not (over and act.verb == "retry"):
            return "self_approval"
        if self.origin == "POLICY_DENIED" and act.verb in ("approve", "retry"):
            return "policy_denied"
        if act.verb == "reject":
            return self._settle("rejected")
        if act.verb == "continue-tool":
            unknown = self.doubt is not None or self.origin == "OUTCOME_UNKNOWN"
            if (act.outcome and not unknown) or (self.status == "CANCELLED" and not act.outcome):
                return "wrong_state"
            return self._settle("continued_tool")
        if over:
            return "expired" if act.verb == "approve" else self._ask_again(world, act)
        if act.text not in (None, self.text):
            return self._edit(world, act)
        return self._approve(world, act) if act.verb == "approve" else self._retry(world, act)

    # ---- the verbs that may start it ----
    def _approve(self, world: World, act: Act) -> str:
        kind = KINDS[world.policy[self.text]]
        if self._doubtful(world, act, self.doubt):
            return "unknown_outcome"
        if kind.decision == "deny" or self.shown != world.tool:
            return self._park(world, kind)
        if act.person in self.votes:
            return "wrong_state"
        self.votes.add(act.person)
        counting = self.votes & world.desk if self.terms.desk else self.votes
        return "voted" if len(counting) < self.terms.needed else self._start(world, act.end, "approved")

    def _retry(self, world: World, act: Act) -> str:
        kind = KINDS[world.policy[self.text]]
        if self._doubtful(world, act, self.doubt):
            return "unknown_outcome"
        if kind.decision == "deny" or (self.shown != world.tool and kind.decision == "ask"):
            return self._park(world, kind)
        return self._start(world, act.end, "retried")

    def _ask_again(self, world: World, act: Act) -> str:
        kind = KINDS[world.policy[self.text]]
        if kind.decision == "allow":
            return "unknown_outcome" if self._doubtful(world, act, self.doubt) else self._start(world, act.end, "retried")
        refusal = self._park(world, kind)
        return "retried" if kind.decision == "ask" else refusal

    def _edit(self, world: World, act: Act) -> str:
        assert act.text is not None
        kind = KINDS[world.policy[act.text]]
        if kind.decision == "deny":
            return "policy_denied"
        same = self.shown == world.tool and kind.decision == "ask" and kind.terms == self.terms and not kind.terms.apart
        starts = self.shown == world.tool and (kind.decision == "allow" or (same and kind.terms.needed == 1))
        doubt = "unsafe" if self.doubt == "idempotent" else self.doubt  # its key made it harmless, and the new one is another
        if (starts or same) and self._doubtful(world, act, doubt):
            return "unknown_outcome"
        self.text, self.revision, self.asker, self.doubt = act.text, self.revision + 1, act.person, doubt
        self.terms = self.terms._replace(rule=kind.terms.rule if starts else None)
        if starts:
            return self._start(world, act.end, "approved")
        refusal = self._park(world, kind)
        if same:
            self.votes = {act.person}
        return "voted" if same else refusal

    # ---- what comes of them ----
    def _doubtful(self, world: World, act: Act, doubt: str | None) -> bool:
        return doubt is not None and not act.flag and _stricter(doubt, world.tool[0]) == "unsafe"

    def _start(self, world: World, end: End, word: str) -> str:
        effect = world.tool[0]
        self.starts, self.shown, self.ends, self.votes = self.starts + 1, world.tool, None, set()
        if end == "ok":
            return self._settle(word)
        self.version += 1
        if self.doubt is not None or end != "failed":
            self.doubt = _stricter(self.doubt or effect, effect)
        known = end == "failed" or (end == "lost" and self.doubt == "read_only")
        self.origin = "EXECUTION_FAILED" if known else "OUTCOME_UNKNOWN"
        return "killed" if end == "dies" else word

    def _park(self, world: World, kind: Kind) -> str:
        self.version, self.shown, self.ends, self.votes = self.version + 1, world.tool, None, set()
        if kind.decision == "deny":
            self.origin = "POLICY_DENIED"
            return "policy_denied"
        self.origin = "APPROVAL_REQUIRED"
        if kind.decision == "ask":
            self.terms = kind.terms
            self.ends = None if kind.hour is None else (world.hours, "stay" if self.doubt else kind.hour)
        return "superseded"

    def _settle(self, word: str) -> str:
        self.origin, self.ends = None, None
        self.status = "COMPLETED" if self.status == "WAITING" else self.status
        return word

    def _cancel(self) -> str:
        if self.status == "COMPLETED":
            return "wrong_state"
        if self.status == "WAITING":
            self.status, self.ends = "CANCELLED", None
            if self.doubt in (None, "read_only"):
                self.origin = None
            elif self.origin != "OUTCOME_UNKNOWN":
                self.origin, self.version, self.votes = "OUTCOME_UNKNOWN", self.version + 1, set()
        return "cancelled"


def _stricter(one: str, other: str) -> str:
    return max(one, other, key=RANK.index)
