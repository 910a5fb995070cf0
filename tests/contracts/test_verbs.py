"""Every cell of the table of verbs, on every store: it is carried out with its effect, or refused, and then nothing has changed and what
the refusal names works."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

from tests.runtime.kit import STORES, Home
from tests.runtime.states import BRING_ABOUT, DOUBTS, edit, obey, way, ways
from tests.runtime.watch import changed
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.types import CALL_ORIGINS, Verb
from toolgate_cli.core.verbs import TABLE, Handler, State, works

STATES: tuple[State, ...] = tuple(state for state in get_args(State) if state != "UNKNOWN")  # no verb leads there
VERBS: tuple[Verb, ...] = get_args(Verb)
CELLS = [(state, verb) for state in STATES for verb in VERBS]
ENDED = ("FAILED_BY_DEFINITION", "FAILED_FOR_GOOD", "COMPLETED", "CANCELLED")  # nothing takes such a run on from where it stands
DONE, REFUSED = [cell for cell in CELLS if cell[1] in TABLE[cell[0]]], [cell for cell in CELLS if cell[1] not in TABLE[cell[0]]]


class Effect(NamedTuple):
    """What a handler brings about: the run's status, the first events, how many tools start, and the error that it ends with."""

    status: str
    events: tuple[str, ...]
    starts: int = 0
    error: str | None = None


T = "TOOL_INVOCATION_"
CALLS = (*CALL_ORIGINS, "EXPIRED", "UNANSWERED")
GOES_ON = "COMPLETED"
EFFECTS: dict[Handler, Effect] = {
    "start": Effect(GOES_ON, (T + "APPROVED", T + "STARTED", T + "COMPLETED"), starts=1),
    "lapsed": Effect("AWAITING_TOOL_APPROVAL", (), error="expired"),
    "answer_yes": Effect(GOES_ON, (T + "APPROVED", T + "STARTED", T + "COMPLETED"), starts=1),
    "answer_no": Effect(GOES_ON, (T + "REJECTED", T + "STARTED", T + "COMPLETED"), starts=1),
    "ask_again": Effect("AWAITING_TOOL_APPROVAL", (T + "RETRIED", T + "APPROVAL_PENDING")),
    "refuse": Effect(GOES_ON, (T + "REJECTED",)),
    "replay": Effect(GOES_ON, (T + "RETRIED", T + "STARTED", T + "COMPLETED"), starts=1),
    "give_up": Effect(GOES_ON, (T + "CONTINUED",)),
    "override": Effect("AWAITING_TOOL_DECISION", (T + "OVERRIDE_REJECTED",), error="policy_denied"),
    "pass": Effect(GOES_ON, ()),
    "fail": Effect("FAILED", ()),
    "answer": Effect(GOES_ON, ("INPUT_SUBMITTED",)),
    "take_over": Effect(GOES_ON, ("RUN_CONTINUED",)),
    "owned": Effect("RUNNING", (), error="run_owned"),
    "drive": Effect(GOES_ON, ("RUN_CONTINUED",)),
    "reposition": Effect("", ("STEP_RETRIED", "STEP_STARTED")),
    "cancel": Effect("CANCELLED", ()),
    "nothing": Effect("CANCELLED", ()),
    "settle": Effect("CANCELLED", (T + "CONTINUED",)),
}
SAID = {  # the event of a word to a step
    ("STEP_APPROVAL", "approve"): "STEP_APPROVED",
    ("STEP_APPROVAL", "reject"): "STEP_REJECTED",
    ("ESCALATION", "approve"): "APPROVED",
    ("ESCALATION", "reject"): "REJECTED",
    ("REVIEW", "review"): "STEP_REVIEWED",
}


@pytest.fixture(params=STORES)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path, request.param)
    yield made
    made.close()


@pytest.mark.parametrize(("state", "verb"), DONE)
def test_a_cell_of_the_table_is_carried_out(home: Home, state: State, verb: Verb) -> None:
    stand = BRING_ABOUT[state](home)
    handler = TABLE[state][verb]
    effect = EFFECTS[handler]
    before, status = home.dump(), home.run(stand.run).status
    seen, starts = len(home.events()), len(home.tools.starts)
    error = None
    try:
        way(state, verb, stand)(home.desk("bob"), stand)
    except ToolgateError as refusal:
        error = refusal.kind
    new = home.events()[seen:]
    assert error == effect.error
    assert home.run(stand.run).status == (effect.status or status)
    assert tuple(event.type for event in new)[: len(effect.events)] == effect.events
    assert len(home.tools.starts) - starts == effect.starts
    if (state, verb) in SAID:
        assert new[0].type == SAID[state, verb] and new[0].actor == "bob"
    if handler in ("lapsed", "nothing", "owned"):
        assert changed(before, home.dump()) == []
    elif handler == "override":
        assert changed(before, home.dump()) == ["events"]
    elif handler == "ask_again":
        assert home.row(stand.run).version == 2
    elif state != "CANCELLED_IN_DOUBT" or handler == "settle":
        assert bool(home.rows(stand.run)) == (handler == "cancel" and state in DOUBTS)  # a doubt is listed after a cancel
    assert not home.run(stand.run).status.startswith("AWAITING") or home.rows(stand.run)


EDITED: dict[State, tuple[str | None, tuple[str, ...], int]] = {  # of an approval with other arguments: error, first events, starts
    "APPROVAL_REQUIRED": (None, (T + "SUPERSEDED", T + "REQUESTED", T + "APPROVED", T + "STARTED", T + "COMPLETED"), 1),
    "EXPIRED": ("expired", (), 0),
    "CONFIRMATION_REQUIRED": ("invalid", (), 0),
    "UNANSWERED": ("expired", (), 0),
    "POLICY_DENIED": ("policy_denied", (T + "OVERRIDE_REJECTED",), 0),
}


@pytest.mark.parametrize("state", EDITED)
def test_an_approval_with_other_arguments_is_the_same_cell(home: Home, state: State) -> None:
    assert set(EDITED) == {state for state, verb in DONE if verb == "approve" and state in CALLS}
    error, events, starts = EDITED[state]
    stand = BRING_ABOUT[state](home)
    before, seen, ended, began = home.rows(stand.run), len(home.events()), None, len(home.tools.starts)
    try:
        edit(home.desk("bob"), stand)
    except ToolgateError as refusal:
        ended = refusal.kind
    assert ended == error and len(home.tools.starts) - began == starts
    assert tuple(event.type for event in home.events()[seen:])[: max(1, len(events))] == events
    assert home.rows(stand.run) == ([] if starts else before)


@pytest.mark.parametrize(("state", "verb"), REFUSED)
def test_a_cell_outside_the_table_changes_nothing_and_names_what_works(home: Home, state: State, verb: Verb) -> None:
    stand = BRING_ABOUT[state](home)
    before, starts = home.dump(), len(home.tools.starts)
    hints = set()
    for said in ways(verb, stand):
        with pytest.raises(ToolgateError) as caught:
            said(home.desk("bob"), stand)
        assert caught.value.kind == "wrong_state", caught.value
        words = ["only a new start"] if state in ENDED else [name.replace(" --step", "").split()[0] for name in works(state).split(" | ")]
        assert all(word in caught.value.message for word in words), caught.value
        hints.add(caught.value.hint)
        assert changed(before, home.dump()) == [] and len(home.tools.starts) == starts
    [hint] = hints
    obey(home, hint)
    assert (changed(before, home.dump()) != []) == (state not in ("COMPLETED", "CANCELLED", "DRIVEN"))  # only to be looked at


@pytest.mark.parametrize("state", STATES)
def test_what_is_said_to_work_is_in_the_table_and_is_not_only_cancel(state: State) -> None:
    flags = re.compile(r" --(outcome-file|may-run-twice)")
    named = {flags.sub("", name) for name in works(state).split(" | ")} - {"wait", "runs show", "start"}
    assert {name if name in VERBS else name.removesuffix(" --step") for name in named} <= set(TABLE[state])
    assert state in ("COMPLETED", "CANCELLED") or set(TABLE[state]) - {"cancel"}
