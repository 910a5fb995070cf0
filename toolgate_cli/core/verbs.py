"""The one table of verbs (I6): what waits and what was asked decide what is done, and a refusal says which verb would work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from .errors import ToolgateError
from .types import Origin, Status, Verb
from .values import NamedTuple

State = Literal[
    "APPROVAL_REQUIRED",
    "EXPIRED",  # an approval whose time is over
    "APPROVAL_IN_DOUBT",  # an approval of a call that may have taken effect already, and must not a second time
    "CONFIRMATION_REQUIRED",
    "CONFIRMATION_IN_DOUBT",  # a confirmation of a call of which an earlier start may have taken effect, and must not a second time
    "UNANSWERED",  # a confirmation whose time is over: the tool is not started again
    "EXECUTION_FAILED",
    "FAILED_IN_DOUBT",  # a failure of such a call
    "NOT_VALID",  # a call whose arguments do not fit the schema
    "NOT_RECEIVED",  # a call refused at RECEIVE: stored without its arguments
    "OUTCOME_UNKNOWN",
    "POLICY_DENIED",
    "STEP_APPROVAL",
    "ESCALATION",
    "REVIEW",
    "INPUT",
    "RUNNING",
    "DRIVEN",  # running, and its owner is at work
    "PAUSED",
    "FAILED",
    "FAILED_BY_DEFINITION",  # where nothing but another definition, or another way to that step, does otherwise
    "FAILED_FOR_GOOD",  # at a step that its definition does not let be repeated, or not any more
    "COMPLETED",
    "CANCELLED",
    "UNKNOWN",  # a row of an origin that nothing here makes: other hands did
    "CANCELLED_IN_DOUBT",  # a row of a cancelled run: all that is left there is a call whose outcome is unknown
]
Handler = Literal[
    "start",
    "answer_yes",
    "answer_no",
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
    "owned",
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
    "APPROVAL_IN_DOUBT": {"approve": "start", "reject": "refuse", "cancel": "cancel"},
    "CONFIRMATION_REQUIRED": {"approve": "answer_yes", "reject": "answer_no", "cancel": "cancel"},
    "CONFIRMATION_IN_DOUBT": {"approve": "answer_yes", "reject": "refuse", "cancel": "cancel"},
    "UNANSWERED": {"approve": "lapsed", "reject": "refuse", "continue-tool": "give_up", "cancel": "cancel"},
    "EXECUTION_FAILED": {"reject": "refuse", "retry": "replay", "continue-tool": "give_up", "cancel": "cancel"},
    "FAILED_IN_DOUBT": {"reject": "refuse", "retry": "replay", "continue-tool": "give_up", "cancel": "cancel"},
    "NOT_VALID": {"reject": "refuse", "retry": "replay", "continue-tool": "give_up", "cancel": "cancel"},
    "NOT_RECEIVED": {"reject": "refuse", "continue-tool": "give_up", "cancel": "cancel"},
    "OUTCOME_UNKNOWN": {"reject": "refuse", "retry": "replay", "continue-tool": "give_up", "cancel": "cancel"},
    "POLICY_DENIED": {"approve": "override", "reject": "refuse", "retry": "override", "continue-tool": "give_up", "cancel": "cancel"},
    "STEP_APPROVAL": {"approve": "pass", "reject": "fail", "cancel": "cancel"},
    "ESCALATION": {"approve": "pass", "reject": "fail", "cancel": "cancel"},
    "REVIEW": {"review": "pass", "cancel": "cancel"},
    "INPUT": {"answer": "answer", "cancel": "cancel"},
    "UNKNOWN": {"cancel": "cancel"},
    "RUNNING": {"continue": "take_over", "cancel": "cancel"},
    "DRIVEN": {"continue": "owned", "cancel": "cancel"},
    "PAUSED": {"continue": "drive", "retry --step": "reposition", "cancel": "cancel"},
    "FAILED": {"retry --step": "reposition"},
    "FAILED_BY_DEFINITION": {"retry --step": "reposition"},
    "FAILED_FOR_GOOD": {"retry --step": "reposition"},  # from a step before that one
    "COMPLETED": {},
    "CANCELLED": {"cancel": "nothing"},
    "CANCELLED_IN_DOUBT": {"continue-tool": "settle", "cancel": "nothing"},
}
# The first of them is what a person is advised to do.
_WORKS: Mapping[State, str] = {
    "APPROVAL_REQUIRED": "approve | reject",
    "EXPIRED": "retry | reject",
    "APPROVAL_IN_DOUBT": "reject | approve --may-run-twice",
    "CONFIRMATION_REQUIRED": "approve | reject",
    "CONFIRMATION_IN_DOUBT": "reject | approve --may-run-twice",
    "UNANSWERED": "reject | continue-tool",
    "EXECUTION_FAILED": "retry | reject | continue-tool",
    "FAILED_IN_DOUBT": "continue-tool --outcome-file | retry --may-run-twice | reject",
    "NOT_VALID": "continue-tool | reject | retry",
    "NOT_RECEIVED": "continue-tool | reject",
    "OUTCOME_UNKNOWN": "continue-tool --outcome-file | retry --may-run-twice | reject",
    "POLICY_DENIED": "continue-tool | reject",
    "STEP_APPROVAL": "approve --step | reject --step",
    "ESCALATION": "approve --step | reject --step",
    "REVIEW": "review",
    "INPUT": "answer",
    "UNKNOWN": "cancel",
    "RUNNING": "continue | wait",
    "DRIVEN": "wait",
    "PAUSED": "continue | retry --step",
    "FAILED": "retry --step",
    "FAILED_BY_DEFINITION": "start",
    "FAILED_FOR_GOOD": "start",
    "COMPLETED": "runs show",
    "CANCELLED": "runs show",
    "CANCELLED_IN_DOUBT": "continue-tool --outcome-file",
}
# Where nothing moves it on: why, and what would do it again.
_OVER: Mapping[State, str] = {
    "FAILED_FOR_GOOD": "its step is not to be repeated, by the definition that it started with, and only a new start uses a mended file",
    "FAILED_BY_DEFINITION": "there it fails again, by the definition that it started with: only a new start uses a mended file, and only a "
    "retry --step of a step before it comes there otherwise",
    "COMPLETED": "it is over, and only a new start does all of it again",
    "CANCELLED": "it was ended for good, and only a new start does all of it again",
}
# What comes before the advice, where that alone would not be understood.
_FIRST: Mapping[State, str] = {
    "APPROVAL_IN_DOUBT": "an earlier start may have taken effect",
    "CONFIRMATION_IN_DOUBT": "an earlier start may have taken effect",
    "EXECUTION_FAILED": "mend the cause, then",
    "FAILED_IN_DOUBT": "an earlier start may have taken effect: find out, then",
    "NOT_VALID": "its arguments stay as they are: reject it or start anew, or go on without it",
    "NOT_RECEIVED": "its arguments were refused and are not stored: reject it or start anew, or go on without it",
    "OUTCOME_UNKNOWN": "find out what happened, then",
    "FAILED": "mend the cause, then",
    "FAILED_BY_DEFINITION": "mend the file, then",
    "CANCELLED_IN_DOUBT": "find out what happened, then",
}
# A state that is in no list of what waits, in the words of that list.
_NAMES: Mapping[State, str] = {
    "EXPIRED": "APPROVAL_REQUIRED that has expired",
    "APPROVAL_IN_DOUBT": "APPROVAL_REQUIRED of a call that may have taken effect",
    "FAILED_IN_DOUBT": "EXECUTION_FAILED of a call that may have taken effect",
    "NOT_VALID": "EXECUTION_FAILED of arguments that do not validate",
    "NOT_RECEIVED": "EXECUTION_FAILED of arguments that are not stored",
    "CONFIRMATION_IN_DOUBT": "CONFIRMATION_REQUIRED of a call that may have taken effect",
    "UNANSWERED": "CONFIRMATION_REQUIRED that has expired",
    "DRIVEN": "RUNNING",
    "FAILED_BY_DEFINITION": "FAILED",
    "FAILED_FOR_GOOD": "FAILED",
    "CANCELLED_IN_DOUBT": "OUTCOME_UNKNOWN of a cancelled run",
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


def name(state: State) -> str:
    """The state in the words that a person is shown."""
    return _NAMES.get(state, state)


def first(state: State) -> str:
    """What is to be known or done before the command that is advised; "" where the command says it all."""
    return _FIRST.get(state, "")


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
    over = "nothing of it is left to be cancelled; " if verb == "cancel" else ""  # it is refused where a run is over, and nowhere else
    raise ToolgateError("wrong_state", f"{verb} does not apply to {name(state)}: {over}{use(state)}", command(state, subject, detail))


def use(state: State) -> str:
    """What works there, in the words of a refusal."""
    if state in _OVER:
        return _OVER[state]
    ways = works(state).split(" | ")
    return f"use {' or '.join(filter(None, (', '.join(ways[:-1]), ways[-1])))}"


def moves(state: State, verb: Verb) -> bool:
    """Whether the verb does something there; a denial's and a late approval's does nothing but be refused."""
    return TABLE[state].get(verb) not in (None, "lapsed", "override")


class Waits(NamedTuple):
    """What of an open row decides which state it is. `expired` counts where an answer is waited for; `doubt`: a start of the call may have
    taken effect, and it is not declared safe to repeat; `refused`: the phase in which its arguments were."""

    origin: Origin
    expired: bool = False
    doubt: bool = False
    refused: Literal["RECEIVE", "VALIDATE"] | None = None


def state_of(run_status: Status, waits: Waits | None, driven: bool = False) -> State:
    """The row of the table for a run and the open row that the verb is about (None: it is about the run as a whole). `driven`: the owner
    of the run is at work."""
    if run_status == "CANCELLED":
        return "CANCELLED" if waits is None else "CANCELLED_IN_DOUBT"
    if waits is None:
        return "DRIVEN" if driven and run_status == "RUNNING" else _WAITING[run_status]
    origin = waits.origin
    if origin == "APPROVAL_REQUIRED":
        return "EXPIRED" if waits.expired else "APPROVAL_IN_DOUBT" if waits.doubt else origin
    if origin == "EXECUTION_FAILED" and (waits.doubt or waits.refused is not None):
        return "FAILED_IN_DOUBT" if waits.doubt else "NOT_RECEIVED" if waits.refused == "RECEIVE" else "NOT_VALID"
    if origin == "CONFIRMATION_REQUIRED":
        return "UNANSWERED" if waits.expired else "CONFIRMATION_IN_DOUBT" if waits.doubt else origin
    return origin if origin in TABLE else "UNKNOWN"
