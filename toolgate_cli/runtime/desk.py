"""The use cases as one object over the ports: what a command line, or any other front, may ask for.

Before anything decides or drives, attempts of dead processes are taken back. What a decision on a call does not need is imported where it
is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from ..core.config import Identity
from ..core.definition import opened
from ..core.errors import LACKING, ToolgateError, after_the_fact
from ..core.person import Person
from ..core.records import Call, Row, RowQuery
from ..core.types import Json, Verb
from . import deciding, heads, looking, recovery, sealing, selecting, standing
from .answers import Answer, Consent, EffectWord, Redaction, TakenBack, Waiting
from .cases import Decision, Word
from .engine import Engine
from .unit import write
from .window import Window, from_inside

if TYPE_CHECKING:
    from ..core.world import World
    from .ports import Ports
    from .store import Reader


class Desk(Window):
    """`who(mode)` is the person at it, under the identity mode of toolgate.toml; it raises where the mode refuses the name;
    `operator` is the same person by the operating system's word alone."""

    def __init__(self, ports: Ports, who: Callable[[Identity], Person], operator: Person) -> None:
        super().__init__(ports)
        self._who = who
        self._operator = operator

    def unkept(self) -> str | None:
        """Why no head was kept of what was decided here: there is no place for it."""
        return self._ports.heads.unkept

    # ---- runs ----
    def start(self, workflow: str, given: Mapping[str, Json], texts: Mapping[str, str]) -> Answer:
        """`given` are JSON values, `texts` are as typed: text where the input is a string, else JSON."""
        from . import starting

        engine = self._engine()
        engine.world.secrets.refuse("an input", dict(given), dict(texts))
        bundle = self._ports.files.workflow(workflow)
        run = starting.start(engine, bundle, self._ports.files.inputs(bundle, given, texts))
        return self._answer(run, "started", engine)._replace(warnings=bundle.warnings)

    def continue_run(self, run: str) -> Answer:
        from . import starting

        inside = self._inside()
        id = self._run(run, "continue")
        engine = self._engine(id)
        starting.continue_run(engine, id, inside)
        return self._answer(id, "continued", engine)

    def cancel(self, run: str, reason: str | None) -> Answer:
        """Needs no files: a run can be stopped while they are broken; then the name that counts is the operating system's."""
        from . import starting

        self._take_back(self._guard("cancel"))
        id = self._run(run, "cancel")
        with write(self._ports, self._stopper(reason)) as unit:
            starting.cancel(unit, id, reason)
        return self._answer(id, "cancelled")

    def retry_step(self, run: str, step: str, reason: str | None = None, *, may_run_twice: bool = False) -> Answer:
        from . import starting

        self._guard("retry --step")
        id = self._run(run)
        engine = self._engine(id, reason)
        starting.retry_step(engine, id, step, reason, may_run_twice=may_run_twice)
        answer = self._answer(id, "retried", engine)
        view = answer.run
        return answer._replace(run=view._replace(changed=self._changed(view.run.workflow, view.run.definition)))

    def accept_rollback(self) -> TakenBack | None:
        """A database that is behind its kept head is taken as it is, and that is on record; None: it is not behind."""
        self._guard("recover")
        with write(self._ports, self._stopper(), believed=True) as unit:
            last, identity = unit.tx.head(), unit.tx.identity()
            kept = self._ports.heads.kept(identity)
            if heads.behind(unit.tx, kept) is None:
                return None
            told: Json = f"{kept[0]}:{kept[1]}" if isinstance(kept, tuple) else kept
            unit.record("RUN_RECOVERED", None, {"accepted_rollback_from": told, **unit.person.facts()})
        assert unit.head is not None
        self._ports.heads.accept(identity, unit.head.seq, unit.head.hash)
        return TakenBack(last.seq if last else 0, kept[0] if isinstance(kept, tuple) else None)

    def recover(self, run: str | None, owner_dead: str | None) -> tuple[Answer, ...]:
        """Takes over what dead processes left, and rejects what expired where its rule says so."""
        from . import starting

        if owner_dead is not None:
            self._guard("recover")  # a person's word
        heads.refuse_rollback(self._ports, self._look())
        id = self._run(run) if run is not None else None
        touched = dict.fromkeys(recovery.take_back(self._ports, id, given_up=owner_dead))
        for row in self._calls(id):
            recovery.end_survivors(self._ports, row)
        engine = self._engine()
        touched |= dict.fromkeys(starting.take_over_dead(engine, id, owner_dead))
        touched |= dict.fromkeys(starting.reject_expired(engine, id))
        with self._ports.store.read() as tx:
            for complaint in sealing.complaints(tx, id):
                engine.faults.setdefault(complaint.run, ToolgateError("storage", complaint.text, "toolgate audit verify"))
                touched[complaint.run] = None
        return tuple(self._answer(run_id, "recovered", engine) for run_id in touched)

    def redactable(self, word: str) -> Call:
        """The stored call of that id, or of that unique prefix."""
        self._guard("redact")
        with self._settled() as tx:
            return selecting.call(tx, word)

    def redact(self, call: Call, reason: str) -> Redaction:
        """Erases what a settled call holds, from the files of the store too. Needs no files of the home, as `cancel`."""
        from . import redaction

        with write(self._ports, self._stopper(reason)) as unit:
            erased = redaction.redact(unit, call.id, reason)
        try:
            self._ports.store.scrub()
        except ToolgateError as fault:
            erased = erased._replace(fault=fault)
        return erased._replace(head=self.head())

    # ---- decisions ----
    def select(self, words: Sequence[str], verb: Verb) -> Waiting:
        """The one open call that [RUN] [CALL] means."""
        with self._settled() as tx:
            return self._waiting(tx, selecting.row(tx, words, verb, self._moment(tx)))

    def select_step(self, run: str, step: str | None, verb: Verb) -> Waiting:
        with self._settled() as tx:
            return self._waiting(tx, selecting.step(tx, run, step, verb, self._moment(tx)))

    # Of all of them `ask` is called with what is to be decided, once nothing refuses that; None: the verb itself is the decision.
    def approve(
        self,
        target: Waiting,
        *,
        reason: str | None = None,
        may_run_twice: bool = False,
        arguments: Mapping[str, Json] | None = None,
        ask: Consent = None,
    ) -> Answer:
        """`arguments`: the call is to run with these instead of its own."""
        return self._decide(target, Decision("approve", reason, may_run_twice, arguments=arguments), ask)

    def reject(self, target: Waiting, *, reason: str | None = None, ask: Consent = None) -> Answer:
        return self._decide(target, Decision("reject", reason), ask)

    def retry(self, target: Waiting, *, reason: str | None = None, may_run_twice: bool = False, ask: Consent = None) -> Answer:
        return self._decide(target, Decision("retry", reason, may_run_twice), ask)

    def continue_tool(
        self, target: Waiting, *, reason: str | None = None, outcome: Mapping[str, Json] | None = None, ask: Consent = None
    ) -> Answer:
        return self._decide(target, Decision("continue-tool", reason, outcome=outcome), ask)

    def approve_step(self, target: Waiting, *, reason: str | None = None, ask: Consent = None) -> Answer:
        return self._step(target, Word("approve", reason), ask)

    def reject_step(self, target: Waiting, *, reason: str | None = None, ask: Consent = None) -> Answer:
        return self._step(target, Word("reject", reason), ask)

    def review(self, target: Waiting, *, note: str, ask: Consent = None) -> Answer:
        return self._step(target, Word("review", note), ask)

    def answer(self, target: Waiting, texts: Mapping[str, str], values: Mapping[str, Json]) -> Answer:
        return self._step(target, Word("answer", None, texts, values))

    def _decide(self, target: Waiting, decision: Decision, ask: Consent) -> Answer:
        seen = self._guard(decision.verb, target.row)
        recovery.end_survivors(self._ports, target.row)
        said = (dict(given) for given in (decision.outcome, decision.arguments) if given is not None)
        engine = self._engine(target.row.run_id, decision.reason, *said, seen=seen)
        scopes = engine.world.config.approvers
        effect = deciding.decide(engine, target.row, decision, ask and (lambda call: ask(target.decided_as(call).held_to(scopes))))
        return self._answer(target.row.run_id, effect, engine)

    def _step(self, target: Waiting, word: Word, ask: Consent = None) -> Answer:
        from . import gates

        seen = self._guard(word.verb, target.row)
        engine = self._engine(target.row.run_id, word.note, dict(word.texts), dict(word.values), seen=seen)
        effect = gates.decide(engine, target.row, word, None if ask is None else lambda: ask(target))
        return self._answer(target.row.run_id, effect, engine)

    # ---- what all of them stand on ----
    def _engine(self, run: str | None = None, *said: Json, seen: heads.Seen | None = None) -> Engine:
        """`run`: the only one that it will drive; None: any. `said`: what the person gives that will be stored; ToolgateError("invalid")
        where the value of a secret is in it. `seen`: what was looked at already, of this run."""
        world = self._load()
        person = self._known(world, *said)
        seen = seen or self._look(run)
        kinds = opened(seen.definition).kinds() if seen.definition is not None else self._ports.step_kinds()
        engine = Engine(self._ports, person, world, kinds)
        self._take_back(seen)
        return engine

    def without_secrets(self, error: ToolgateError) -> ToolgateError:
        """The same, with no value of a secret in what it says: it may quote what was typed, or a file that is broken (I12)."""
        try:
            secrets = self._load().secrets
        except ToolgateError:
            return error
        error.message, error.hint = secrets.scrub(error.message), secrets.scrub(error.hint)
        error.each = tuple((secrets.scrub(fault), secrets.scrub(hint)) for fault, hint in error.each)
        error.choices = tuple(choice._replace(about=secrets.scrub(choice.about)) for choice in error.choices)
        return error

    def _known(self, world: World, *said: Json) -> Person:
        person = self._who(world.config.identity)
        world.secrets.refuse("what you gave", person.name, *said)
        return person

    def _look(self, run: str | None = None) -> heads.Seen:
        with self._ports.store.read() as tx:
            return heads.look(tx, run)

    @contextmanager
    def _settled(self) -> Iterator[Reader]:
        """A snapshot of a database that is to be believed, taken after what dead processes left was recorded."""
        with self._ports.store.read() as tx:
            seen = heads.look(tx)
            if heads.is_settled(self._ports, seen):  # almost always: then it is this one
                yield tx
                return
        self._take_back(seen)
        with self._ports.store.read() as tx:
            yield tx

    def _take_back(self, seen: heads.Seen) -> None:
        """What dead processes left is recorded, unless the database itself is not to be believed."""
        heads.refuse_rollback(self._ports, seen)
        if seen.attempts:
            recovery.take_back(self._ports, None)

    def _stopper(self, *said: Json) -> Person:
        try:
            world = self._load()
        except ToolgateError:
            return self._operator
        return self._known(world, *said)

    def _guard(self, verb: Verb | Literal["recover", "redact"], row: Row | None = None) -> heads.Seen:
        """A verb that decides refuses to run inside a tool. What was seen, for what comes next."""
        inside = self._inside()
        seen = self._look(row.run_id if row is not None else None)
        if inside is None:
            return seen
        if row is not None:
            with write(self._ports, self._stopper()) as unit:
                run = unit.tx.run(row.run_id)
                if run is not None:
                    unit.decided("DECISION_REFUSED", run, row, None, {"verb": verb, "kind": "self_approval", "inside": inside})
        raise from_inside(verb, inside)

    def _calls(self, run: str | None) -> tuple[Row, ...]:
        with self._ports.store.read() as tx:
            return tuple(row for row in tx.rows(RowQuery(run, limit=10_000)) if row.revision is not None)

    def _run(self, word: str, verb: Verb | None = None) -> str:
        """The id. Of a run that has failed the verb is judged here already: to say what works, a kind of step may have to be imported, and
        no write transaction does that (I7)."""
        with self._ports.store.read() as tx:
            found = selecting.run(tx, word, selecting.DECIDING)
            if verb is not None and found.status == "FAILED" and sealing.holds(tx, found):
                standing.handler(tx, found, None, verb, self._moment(tx))
            return found.id

    def _answer(self, run: str, effect: EffectWord, engine: Engine | None = None) -> Answer:
        fault = None
        if engine is not None:
            self._world = engine.world  # with what was fetched for it
            fault = engine.faults.get(run)
        if fault is not None:
            self._ports.owners.mine()  # asked for below, where no lock is taken any more
        try:
            told = None if fault is None else self.without_secrets(fault)
            return looking.answer(self._ports, run, effect, told, None if engine is None else engine.world.config.approvers)
        except ToolgateError as unread:
            raise ToolgateError("failed", f"what was decided stays decided, and cannot be shown: {unread.message}", unread.hint) from None
        except LACKING as lacking:
            raise after_the_fact(lacking) from None
