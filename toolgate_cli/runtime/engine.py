"""The drive loop: an outside work, then one transaction, until the run waits or ends. Driving needs ownership; deciding does not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from ..core import conditions, effects, quorum
from ..core.errors import LACKING, ToolgateError, after_the_fact
from ..core.intents import Arrived, Filled, Finding, Observed
from ..core.person import Person
from ..core.records import Attempt, Run
from ..core.results import ToolResult
from ..core.turns import Completion
from ..core.verdict import time_left
from ..core.world import Needs, Probe, World
from . import asking, gate, narrowing, ownership, sealing, settling
from .advance import advance
from .place import fail_step, put, waiting
from .plugs import Means
from .unit import Unit, write
from .work import Ask, Fill, Invoke, More, Observing, Prepare, Rest, Work

if TYPE_CHECKING:
    from .ports import Ports

Came: TypeAlias = ToolResult | Completion | Filled | Observed | ToolgateError | None  # what an outside work brought
PASSES = 100  # how often a world that keeps changing is read again
ASKS = 3  # how often one probe is run for one pass: it is asked anew where a file changed meanwhile, and may be what changes it


class Engine:
    """One command's drive, of runs with steps of these kinds. `world` is read again whenever a verdict says that a file is not the one that
    was read."""

    def __init__(self, ports: Ports, person: Person, world: World, kinds: Collection[str]) -> None:
        self.ports = ports
        self.person = person
        self.world = world
        self.faults: dict[str, ToolgateError] = {}  # run -> what kept it from being carried on
        self._passes = 0
        self._asks: dict[tuple[str, str], int] = {}  # probe and call -> how often it was run in this pass
        for name in kinds:
            ports.step_kind(name)  # imported now: no module is while the store is locked (I7)
        self._warm()

    def _warm(self) -> None:
        config = self.world.config
        ruled = [condition for rule in config.policy.rules for condition in rule.when]
        conditions.warm([*ruled, *(fails.condition for tool in config.tools.values() for fails in tool.fail_when)])
        quorum.warm(config.policy.rules)

    def write(self) -> AbstractContextManager[Unit]:
        ownership.mine(self.ports)  # the lock is taken before the first transaction, not in it
        return write(self.ports, self.person)

    @contextmanager
    def apart(self, run_id: str) -> Iterator[None]:
        """What is wrong with one of several runs is kept, to be told beside it, and keeps nobody from the others."""
        try:
            yield
        except ToolgateError as fault:
            if fault.kind != "storage" or fault.retryable:
                raise
            self.faults[run_id] = fault

    def prepare(self, needs: Needs) -> None:
        """Fetches what a verdict needs; outside any transaction."""
        self._passes += 1
        if self._passes > PASSES:
            raise ToolgateError("invalid", "the files of this home keep changing", "let them come to rest, then try again", retryable=True)
        conditions.fetch(needs.modules)
        if needs.files:
            self.world = self.ports.files.world()
            self._warm()
        self.world = self.ports.files.prepare(self.world, needs)
        self._ask(needs.probes)

    def _ask(self, probes: Sequence[Probe]) -> None:
        for probe in probes:
            of = probe.name, probe.call_id
            if self._asks.get(of, 0) >= ASKS:
                what = f"the files of this home change while the {probe.name} of {probe.capability} is asked"
                raise ToolgateError("invalid", what, "it is to change nothing: mend it, then try again", retryable=True)
            answer = gate.ask(self.ports, probe, self.world)
            if answer is not None:
                self._asks[of] = self._asks.get(of, 0) + 1
                self.world = self.world._replace(answers={**self.world.answers, probe: answer})

    def forget(self) -> None:
        """What probes answered counts for one pass, and never for a later one."""
        self._asks.clear()
        if self.world.answers:
            self.world = self.world._replace(answers={})

    def carry(self, run_id: str, work: Work | None) -> None:
        """Drives until the run waits, ends, or is somebody else's. What led here has taken effect: a fault on the way is kept, to be told
        beside how the run stands."""
        try:
            self._carry(run_id, work)
        except ToolgateError as fault:
            self.faults[run_id] = fault
        except LACKING as fault:
            self.faults[run_id] = after_the_fact(fault)
        finally:
            self.forget()

    def _carry(self, run_id: str, work: Work | None) -> None:
        self._passes = 0
        self.forget()
        while work is not None:
            if not isinstance(work, Prepare):
                self.forget()
            came = self._perform(work)
            self._passes = 0 if not isinstance(work, Prepare) else self._passes
            try:
                work = self._record(run_id, work, came)
            except ToolgateError as fault:
                if not fault.retryable or not isinstance(work, Invoke):
                    raise
                work = self._record(run_id, work, came)  # the store was busy, and what came of a call is worth a second wait

    def _record(self, run_id: str, work: Work, came: Came) -> Work | None:
        with self.write() as unit:
            # what came of a call is kept whatever other hands did meanwhile; nothing else is done for such a run
            run = unit.tx.run(run_id) if isinstance(work, Invoke) else unit.run(run_id)
            assert run is not None, run_id
            return self._take_in(unit, run, work, came)

    def _perform(self, work: Work) -> Came:
        """The outside work itself; no transaction is open."""
        match work:
            case Invoke(claim):
                try:
                    return gate.invoke(self.ports, claim, self.world)
                except BaseException:
                    with suppress(ToolgateError):  # then recovery finds it; the interruption itself is never swallowed
                        self._interrupted(claim)
                    raise
            case Ask(model, request, _, _):
                clock = self.ports.clock
                began = clock.monotonic()
                means = Means(self.world.secrets, clock.monotonic, clock.sleep, self.ports.mint.jitter)
                try:
                    said = self.ports.files.model(model).complete(model.fields, self.ports.home, request, means)
                    return self._heard(said._replace(seconds=clock.monotonic() - began))
                except ToolgateError as error:
                    if error.retryable:  # nothing was asked, so the step has not failed: the run goes on from here
                        raise ToolgateError(error.kind, error.message, f"toolgate continue {request.run_id}", retryable=True) from None
                    return ToolgateError(error.kind, self.world.secrets.scrub(error.message))
                except Exception as error:  # noqa: BLE001  # an adapter that is broken ends its step, else nothing could move the run
                    return ToolgateError("failed", f"the model adapter failed: {type(error).__name__}")
            case Fill(bundle, given, _):
                try:
                    return Filled(self.ports.files.inputs(bundle, given, {}))
                except ToolgateError as error:
                    return ToolgateError(error.kind, self.world.secrets.scrub(f"inputs of {bundle.id}: {error.message}"))
            case Observing(looks):
                return Observed(tuple(map(self._clean, self.ports.files.observe(looks))))
            case Prepare(needs, _):
                self.prepare(needs)
            case Rest(seconds, _):
                from . import repeating  # noqa: F401  # now: no module is imported while the store is locked (I7)

                self.ports.clock.sleep(seconds)
            case More():
                pass
        return None

    def _heard(self, said: Completion) -> Completion:
        """ToolgateError("invalid") for a turn with the value of a secret in it: nothing of it is stored."""
        self.world.secrets.refuse("the model's turn", said.commands, said.text, asking.commands(said) if self.world.secrets else None)
        scrub = self.world.secrets.scrub
        return said._replace(fault=said.fault and scrub(said.fault), answered_by=said.answered_by and scrub(said.answered_by))

    def _clean(self, found: Finding) -> Finding:
        """A finding with the value of a secret in it is none: nothing of it is stored (I12)."""
        name = self.world.secrets.leaks(found.value, found.error)
        return found if name is None else Finding(error=f"what was found holds the value of the secret {name}")

    def _interrupted(self, claim: gate.Claim) -> None:
        """Somebody stopped this process while the tool ran: its end is not known, and that is recorded before anything else."""
        with self.write() as unit:
            run = unit.tx.run(claim.run_id)
            assert run is not None, claim.run_id
            settling.settle(unit, run, claim, ToolResult("uncertain", message="interrupted while it ran"), self.world.config)
            if run.status not in ("COMPLETED", "FAILED", "CANCELLED") and unit.is_sound(run):
                put(unit, waiting(unit, run)._replace(owner=None if self._owned(unit, run) else run.owner), run.version)

    def _take_in(self, unit: Unit, run: Run, work: Work, came: Came) -> Work | None:
        match work:
            case Invoke(claim):
                assert isinstance(came, ToolResult)
                following = settling.settle(unit, run, claim, came, self.world.config)
                if following is not None:
                    pause = effects.backoff(following.number - following.row.starts - 1, unit.ports.mint.jitter())
                    left = time_left(self.world.config, run.created_at, unit.now)
                    return Rest(max(0.0, min(pause, left)), following)
                return self.move_on(unit, run)
            case Rest(_, waiting_attempt) | Prepare(_, Attempt() as waiting_attempt):
                from . import repeating

                return repeating.repeat(unit, run, waiting_attempt, self.world) or self.move_on(unit, run)
            case Ask() | Fill():
                return self._answered(unit, run, work, came)
            case Observing():
                assert isinstance(came, Observed)
                return advance(unit, run, self.world, came) if self._owned(unit, run) else None
            case _:
                return advance(unit, run, self.world) if self._owned(unit, run) else None

    def _answered(self, unit: Unit, run: Run, work: Ask | Fill, came: Came) -> Work | None:
        if not self._owned(unit, run):
            return None  # cancelled or taken over while the model answered: what it said is not carried out
        if isinstance(work, Ask) and isinstance(came, Completion):
            run = asking.count(unit, run, came, self.world.config)
            asking.tell(unit, run, work, came)
        if isinstance(work, Ask) and work.choice is not None:
            assert isinstance(came, (Completion, ToolgateError))
            came = narrowing.settle(unit, run, work, came)
            if came is None:
                return advance(unit, run, self.world)  # the step asks for its turn again, and is shown what was chosen
        if isinstance(came, ToolgateError):
            corrects = work.corrects if isinstance(work, Ask) else None
            reason = came.message if corrects is None else f"{corrects}; asked again: {came.message}"
            put(unit, fail_step(unit, run, work.path, reason)._replace(owner=None), run.version)
            return None
        if isinstance(work, Ask):
            assert isinstance(came, Completion)
            if came.fault is not None:
                put(unit, fail_step(unit, run, work.path, came.fault)._replace(owner=None), run.version)
                return None
            return advance(unit, run, self.world, asking.store(unit, run, work, came))
        assert isinstance(came, Filled)
        return advance(unit, run, self.world, came)

    def move_on(self, unit: Unit, run: Run, arrived: Arrived = None) -> Work | None:
        """After something of a run was settled or parked: whoever leaves no row and no attempt takes ownership and drives."""
        if not unit.is_sound(run):
            self.faults[run.id] = sealing.changed(run.id)
            return None
        if run.status in ("COMPLETED", "FAILED", "CANCELLED"):
            return None
        if self._owned(unit, run):
            return advance(unit, run, self.world, arrived)
        if unit.tx.attempts(run.id) or unit.tx.find_by_run(run.id):
            put(unit, waiting(unit, run), run.version)
            return None
        if run.owner is not None and ownership.alive(unit.ports, run.owner):
            return None  # its owner is at work and carries it on
        return self.take(unit, run, arrived)

    def take(self, unit: Unit, run: Run, arrived: Arrived = None) -> Work | None:
        """Takes ownership and drives."""
        return advance(unit, run._replace(owner=ownership.mine(unit.ports), status="RUNNING"), self.world, arrived)

    def _owned(self, unit: Unit, run: Run) -> bool:
        return run.status not in ("COMPLETED", "FAILED", "CANCELLED") and run.owner == ownership.mine(unit.ports)
