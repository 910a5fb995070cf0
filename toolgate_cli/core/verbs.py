"""The one table of verbs (I6): what waits and what was asked decide what is done, and a refusal says which verb would work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from .errors import ToolgateError
from .types import Origin, Status, Verb

State = Literal[
    "APPROVAL_REQUIRED",
    "EXPIRED",  # an approval whose time is over
    "EXECUTION_FAILED",
    "NOT_RECEIVED",  # a call refused at RECEIVE: stored without its arguments
    "OUTCOME_UNKNOWN",
    "POLICY_DENIED",
    "STEP_APPROVAL",
    "ESCALATION",
    "REVIEW",
    "INPUT",
    "RUNNING",
    "PAUSED",
    "FAILED",
    "COMPLETED",
    "CANCELLED",
    "UNKNOWN",  # a row of an origin that nothing here makes: other hands did
    "CANCELLED_IN_DOUBT",  # a row of a cancelled run: all that is left there is a call whose outcome is unknown
]
Handler = Literal[
    "start",
    "lapsed",
    "ask_again",
    "refuse",
    "replay",
    "give_up",
    "override",
    "pass",
    "fail",
    "answer",
    "take_over",
    "drive",
    "reposition",
    "cancel",
    "nothing",
    "settle",
]

# A verb that is not in a row is refused.
TABLE: Mapping[State, Mapping[Verb, Handler]] = {
    "APPROVAL_REQUIRED": {"approve": "start", "reject": "refuse", "cancel": "cancel"},
    "EXPIRED": {"approve": "lapsed", "reject": "refuse", "retry": "ask_again", "cancel": "cancel"},
    "EXECUTION_FAILED": {"reject": "refuse", "retry": "replay", "continue-tool": "give_up", "cancel": "cancel"},
    "NOT_RECEIVED": {"reject": "refuse", "continue-tool": "give_up", "cancel": "cancel"},
    "OUTCOME_UNKNOWN": {"reject": "refuse", "retry": "replay", "continue-tool": "give_up", "cancel": "cancel"},
    "POLICY_DENIED": {"approve": "override", "reject": "refuse", "retry": "override", "continue-tool": "give_up", "cancel": "cancel"},
    "STEP_APPROVAL": {"approve": "pass", "reject": "fail", "cancel": "cancel"},
    "ESCALATION": {"approve": "pass", "reject": "fail", "cancel": "cancel"},
    "REVIEW": {"review": "pass", "cancel": "cancel"},
    "INPUT": {"answer": "answer", "cancel": "cancel"},
    "UNKNOWN": {"cancel": "cancel"},
    "RUNNING": {"continue": "take_over", "cancel": "cancel"},
    "PAUSED": {"continue": "drive", "retry --step": "reposition", "cancel": "cancel"},
    "FAILED": {"retry --step": "reposition"},
    "COMPLETED": {},
    "CANCELLED": {"cancel": "nothing"},
    "CANCELLED_IN_DOUBT": {"continue-tool": "settle", "cancel": "nothing"},
}
_WORKS: Mapping[State, str] = {
    "APPROVAL_REQUIRED": "approve | reject",
    "EXPIRED": "retry | reject",
    "EXECUTION_FAILED": "retry | reject | continue-tool",
    "NOT_RECEIVED": "reject | continue-tool",
    "OUTCOME_UNKNOWN": "continue-tool --outcome-file | retry --may-run-twice | reject",
    "POLICY_DENIED": "reject | continue-tool",
    "STEP_APPROVAL": "approve --step | reject --step",
    "ESCALATION": "approve --step | reject --step",
    "REVIEW": "review",
    "INPUT": "answer",
    "UNKNOWN": "cancel",
    "RUNNING": "continue | wait",
    "PAUSED": "continue | retry --step",
    "FAILED": "retry --step",
    "COMPLETED": "runs show",  # it is over; a new start would do all of it again
    "CANCELLED": "runs show",
    "CANCELLED_IN_DOUBT": "continue-tool --outcome-file",
}
# The kind of row that a waiting status speaks of, for a run whose rows were not looked at.
_WAITING: Mapping[Status, State] = {
    "RUNNING": "RUNNING",
    "PAUSED": "PAUSED",
    "AWAITING_INPUT": "INPUT",
    "AWAITING_APPROVAL": "ESCALATION",
    "AWAITING_TOOL_APPROVAL": "APPROVAL_REQUIRED",
    "AWAITING_TOOL_DECISION": "EXECUTION_FAILED",
    "AWAITING_REVIEW": "REVIEW",
    "AWAITING_STEP_APPROVAL": "STEP_APPROVAL",
    "COMPLETED": "COMPLETED",
    "FAILED": "FAILED",
    "CANCELLED": "CANCELLED",
}


def works(state: State) -> str:
    """The verbs that move what is in this state, as "retry | reject"."""
    return _WORKS[state]


def command(state: State, subject: str = "", detail: str = "", verb: Verb | None = None) -> str:
    """The first command that works there, or the one of the verb where that works. `subject`: the id that it is about; `detail`: what its
    flag, if it has one, is given."""
    ways = works(state).split(" | ")
    first, dashes, flag = next((way for way in ways if way.partition(" ")[0] == verb), ways[0]).partition(" --")
    value = detail if flag in ("step", "outcome-file") else ""
    return " ".join(filter(None, ("toolgate", first, subject, dashes.strip() + flag, value)))


def handler(state: State, verb: Verb, subject: str = "", detail: str = "") -> Handler:
    """What the verb does there. ToolgateError("wrong_state") names the state and what works; `subject` and `detail` complete the hint."""
    found = TABLE[state].get(verb)
    if found is not None:
        return found
    if state == "UNKNOWN":
        raise ToolgateError("storage", "what waits there was changed by other hands", command(state, subject))
    verbs = works(state).split(" | ")
    use = " or ".join(filter(None, (", ".join(verbs[:-1]), verbs[-1])))
    raise ToolgateError("wrong_state", f"{verb} does not apply to {state}: use {use}", command(state, subject, detail))


def moves(state: State, verb: Verb) -> bool:
    """Whether the verb does something there; a denial's and a late approval's does nothing but be refused."""
    return TABLE[state].get(verb) not in (None, "lapsed", "override")


def state_of(run_status: Status, origin: Origin | None, arguments_missing: bool = False, expired: bool = False) -> State:
    """The row of the table for a run and the open row that the verb is about (`origin` None: it is about the run as a whole).
    `arguments_missing`: the call was refused at RECEIVE; `expired`: the time of the row is over, which counts for approvals alone."""
    if run_status == "CANCELLED":
        return "CANCELLED" if origin is None else "CANCELLED_IN_DOUBT"
    if origin is None:
        return _WAITING[run_status]
    if origin == "APPROVAL_REQUIRED" and expired:
        return "EXPIRED"
    if origin == "EXECUTION_FAILED" and arguments_missing:
        return "NOT_RECEIVED"
    return origin if origin in TABLE else "UNKNOWN"  # type: ignore[return-value]  # a state of that name
