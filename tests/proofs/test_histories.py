"""Histories of a few people, a clock and files that change: after each act the program stands where the model of the design stands.

HISTORY=NUMBER repeats one history (the number is in the message of a failure); SEED_OF_PROOFS chooses which histories are played.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import pytest
from proofs import homes
from proofs.deciders import KINDS, RANK, Act, Call, End, World

from tests.runtime import texts
from tests.runtime.fakes import FAILED, LOST, OK, Killed
from tests.runtime.kit import STORES, Home, dies, payload
from toolgate_cli.core import canonical, chain
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Accepted, EventQuery, Row
from toolgate_cli.runtime.answers import Waiting

pytestmark = pytest.mark.timeout(14_400)  # of the long version
LONG, SHORT = 20_000, 480  # histories on each store
PARTS = 8  # of all histories, so that several processors share them
Tell = Callable[[str, int], None]
PEOPLE = ("alice", "bob", "dora")
TEXTS = ("a", "b", "c")
ASKING = [name for name, kind in KINDS.items() if kind.decision == "ask"]
TOOLS = [(effect, about) for effect in ("unsafe", "idempotent", "idempotent", "read_only") for about in ("old", "new")]
ENDS: dict[End, Any] = {"ok": OK, "failed": FAILED, "lost": LOST, "dies": dies}
DECIDED = ("TOOL_INVOCATION_APPROVED", "TOOL_INVOCATION_RETRIED")
FLOW = texts.flow("pay", texts.uses("s", "pay.it"), texts.AFTER)


class History:
    """One run from its start to where nobody wants anything more of it: the program and the model side by side."""

    def __init__(self, home: Home, number: int) -> None:
        self.home, self.dice, self.told = home, random.Random(number), [f"HISTORY={number} on {home.kind}"]
        self.world = World({}, ("unsafe", "old"), set())
        self.seen: dict[str, Row] = {}
        self.keys: dict[int, str] = {}  # revision -> the key that its starts had
        self.doubt: str | None = None
        self.counted = 0
        self.words: list[str] = []
        self._change()
        requester, text, end = self.dice.choice(PEOPLE), self.dice.choice(TEXTS), self._end()
        self.call = Call(requester, text)
        self.home.tools.plan["pay.it"] = [ENDS[end]]
        self._told(f"{requester} starts it with {text}, {end}")
        said = self._word(lambda: self.home.desk(requester).start("pay", {"text": text}, {}))
        self.run = self.home.events(type="RUN_STARTED")[0].run_id or ""
        self._check(said, self.call.begin(self.world, end))

    def play(self) -> list[str]:
        """How each verb ended, of the acts and of the start."""
        for _ in range(self.dice.randint(5, 12)):
            if self.call.origin is None and self.dice.random() < 0.6:
                break
            if self.dice.random() < 0.4:
                self._change()
            act = self._act()
            self._told(repr(act))
            self.home.tools.plan["pay.it"] = [ENDS[act.end]]
            said = self._word(lambda act=act: self._perform(act))  # type: ignore[misc]  # the act of this turn
            self._check(said, self.call.say(self.world, act))
        return self.words

    # ---- what happens ----
    def _change(self) -> None:
        """Some of the files, or the time, or all of it at the beginning."""
        world, dice, first = self.world, self.dice, not self.world.policy
        what = dice.choice(("policy", "tool", "tool", "desk", "time"))
        if first or what == "policy":
            names = [*KINDS] if dice.random() < 0.5 else [dice.choice([*KINDS]), dice.choice(ASKING)]
            world.policy = {text: dice.choice(names) for text in TEXTS}
        if first or what == "tool":
            world.tool = dice.choice(TOOLS)
        if first or what == "desk":
            world.desk = set(dice.choice((("alice", "bob"), PEOPLE, ("bob", "dora"))))
        if what == "time":
            world.hours += 2
            self.home.clock.pass_time(7200)
        self._told(f"now {world}")
        (self.home.folder / "toolgate.toml").write_text(operator(world))

    def _act(self) -> Act:
        dice, person = self.dice, self.dice.choice(PEOPLE)
        rows = self.home.rows(self.run)
        if rows and (person not in self.seen or dice.random() < 0.7):
            self.seen[person] = rows[0]  # else they decide what they saw before
        fits = {"APPROVAL_REQUIRED": ("approve", "approve", "approve", "edit", "edit", "edit", "retry", "reject")}.get(
            self.call.origin or "", ("retry", "retry", "retry", "retry", "approve", "edit", "continue-tool", "reject")
        )
        verb = dice.choice((*fits, "cancel") if dice.random() < 0.3 else fits)
        if person not in self.seen:
            verb = "cancel"
        text = dice.choice(TEXTS) if verb == "edit" else None
        seen = self.seen[person].version if person in self.seen else 0
        name = "approve" if verb == "edit" else verb
        return Act(name, person, seen, self._end(), dice.random() < 0.5, text, dice.random() < 0.4)  # type: ignore[arg-type]  # a verb

    def _end(self) -> End:
        return self.dice.choice((*get_args(End), "failed", "lost"))

    def _perform(self, act: Act) -> Any:
        desk = self.home.desk(act.person)
        if act.verb == "cancel":
            return desk.cancel(self.run, None)
        target = Waiting(self.seen[act.person], "pay", None, None, (), "", False, False)
        match act.verb:
            case "approve":
                return desk.approve(target, may_run_twice=act.flag, arguments=None if act.text is None else {"text": act.text})
            case "retry":
                return desk.retry(target, may_run_twice=act.flag)
            case "reject":
                return desk.reject(target)
        return desk.continue_tool(target, outcome={"applied": True, "result": 1} if act.outcome else None)

    def _word(self, act: Callable[[], Any]) -> str:
        """The effect of a verb, or the kind of its refusal; what a killed process leaves is recorded by whoever looks next."""
        before = len(self.home.tools.starts)
        try:
            return str(act().effect)
        except ToolgateError as error:
            assert len(self.home.tools.starts) == before, self._why("a refused verb has started something")
            return error.kind
        except Killed:
            self.home.desk().pending(None, 10)
            return "killed"

    # ---- what is so afterwards ----
    def _check(self, said: str, expected: str) -> None:
        if expected == "started" and said == "killed":
            expected = said
        self.words.append(said)
        assert said == expected, self._why(f"the program says {said}, the model {expected}")
        rows, call = self.home.rows(self.run), self.call
        status = self.home.run(self.run).status
        waits = f"AWAITING_TOOL_{'APPROVAL' if call.origin == 'APPROVAL_REQUIRED' else 'DECISION'}"
        assert status == (waits if call.status == "WAITING" else call.status), self._why(f"the run is {status}")
        found = [(r.origin, r.version, r.revision, r.doubt, r.starts, *_terms(r)) for r in rows]
        wanted = (call.origin, call.version, call.revision, call.doubt, call.starts, *call.terms[1:])
        assert found == ([] if call.origin is None else [wanted]), self._why(f"there is {found}, the model has {wanted}")
        if rows:
            with self.home.store.read() as tx:
                votes = {vote.actor for vote in tx.votes(rows[0])}
            assert votes == call.votes, self._why(f"{votes} have voted, in the model {call.votes}")
        self._hold(rows)

    def _hold(self, rows: list[Row]) -> None:
        """What must be so whatever the model says."""
        with self.home.store.read() as tx:
            events = list(tx.events(EventQuery()))
            verified = chain.verify(iter(events), tx.identity())
        assert verified.first_bad is None, self._why(f"the chain breaks: {verified}")
        starts = [at for at, event in enumerate(events) if event.type == "TOOL_INVOCATION_STARTED"]
        made = self.home.tools.starts
        assert len({(events[at].call_id, events[at].attempt) for at in starts}) == len(starts) == len(made) == self.call.starts, self._why(
            "starts, their events and the model are not as many"
        )
        for at in starts:
            said = payload(events[at])["cleared"] == "policy" or events[at - 1].type in DECIDED
            assert said, self._why(f"nobody let the event {at + 1} start anything")
        for start in made[self.counted :]:
            key = self.keys.setdefault(self.call.revision, start.key)
            assert canonical.parse(start.arguments) == {"text": self.call.text}, self._why(f"{start.arguments} ran")
            assert key == start.key and len({*self.keys.values()}) == len(self.keys), self._why("a key is not of its revision alone")
        self.counted = len(made)
        doubt = rows[0].doubt if rows else None
        assert not rows or self.doubt is None or (doubt and RANK.index(doubt) >= RANK.index(self.doubt)), self._why("a doubt was lost")
        self.doubt = doubt

    def _told(self, what: str) -> None:
        self.told.append(what)

    def _why(self, what: str) -> str:
        return "\n".join([what, *self.told])


def _terms(row: Row) -> tuple[bool, int, bool]:
    return row.approver_scope is not None, row.approvals_needed, row.separate_requester


def operator(world: World) -> str:
    """toolgate.toml."""
    parts = ['schema = 1\n[policy]\ndefault = "deny"\n']
    for name, kind in KINDS.items():
        held = [text for text, chosen in world.policy.items() if chosen == name]
        more = [f'when = [{{ arg = "/text", in = [{", ".join(map(repr, held))}] }}]']
        if kind.decision == "ask":
            more += ['approver_scope = "desk"'] * kind.terms.desk + ["separate_requester = true"] * kind.terms.apart
            more += [f"approvals = {kind.terms.needed}"]
            more += [f'expires_in = "1h"\non_expiry = "{kind.hour}"'] if kind.hour else []
        if held:
            decision = "require_approval" if kind.decision == "ask" else kind.decision
            parts.append(f'[[policy.rules]]\nname = "{name}"\ncapability = "pay.*"\ndecision = "{decision}"\n' + "\n".join(more) + "\n")
    effect, about = world.tool
    return "\n".join([*parts, texts.tool("pay.it", effect, about=about), f"[approvers]\ndesk = {sorted(world.desk)}\n"])


def play(folder: Path, store: str, number: int, known: set[Accepted]) -> list[str]:
    """One history in a home of its own; how its verbs ended. `known`: what was found valid before, so that it is not checked again."""
    folder.mkdir()
    (folder / "pay.toml").write_text(FLOW)
    home = Home(folder, store, seed=str(number))
    try:
        with home.store.write() as tx:
            tx.add(known)
        words = History(home, number).play()
        known |= checked(home)
        return words
    finally:
        home.close()
        shutil.rmtree(folder)


def checked(home: Home) -> set[Accepted]:
    if home.kind == "memory":
        return set(home.store._tables.checked)
    with closing(sqlite3.connect(home.folder / ".toolgate" / "toolgate.db")) as db:
        return {Accepted(*found) for found in db.execute("SELECT digest, checker FROM checked")}


def chosen(part: int, long: bool) -> list[int]:
    """The numbers of the histories of a part."""
    if "HISTORY" in os.environ:
        return [int(os.environ["HISTORY"])] if part == 0 else []
    base = int(os.environ.get("SEED_OF_PROOFS", "0")) or random.SystemRandom().randrange(1, 10**9)
    return [base * 100_000 + number for number in range(part, LONG if long else SHORT, PARTS)]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("store", STORES)
def test_a_history_goes_as_the_design_says(store: str, part: int, long: bool, tally: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    known: set[Accepted] = set()
    with homes.folder() as folder:
        monkeypatch.setenv("XDG_STATE_HOME", str(folder))  # of the kept heads: on no disk either
        for number in chosen(part, long):
            words = play(folder / "home", store, number, known)
            tally("histories", 1)
            for word in words:
                tally(word, 1)
