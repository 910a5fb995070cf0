"""A home with a desk in it: the real use cases over either store and the real files; time, processes, tools and models are the test's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from toolgate_cli import bootstrap, plugins
from toolgate_cli.core import canonical
from toolgate_cli.core.config import Model, Tool
from toolgate_cli.core.person import SYSTEM
from toolgate_cli.core.records import Event, EventQuery, Row, Run
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.turns import Completion, TurnRequest
from toolgate_cli.core.types import Json
from toolgate_cli.host.heads import FileHeads
from toolgate_cli.runtime.answers import Answer, Waiting
from toolgate_cli.runtime.desk import Desk
from toolgate_cli.runtime.plugs import InvokeLimits, StepKind
from toolgate_cli.runtime.unit import write
from toolgate_cli.settings import Settings
from toolgate_cli.stores.memory import MemoryStore
from toolgate_cli.stores.sqlite import SqliteStore

from . import texts
from .fakes import Clock, Host, Killed, Mint, Models, Owner, Pausing, Processes, Started, Tools, Wrong
from .watch import Dump, Watch, Watched, dump

STORES = ("memory", "sqlite")


class Home:
    """One folder, one store, any number of processes one after the other; every `desk` is a new process."""

    def __init__(self, folder: Path, kind: str, seed: str = "") -> None:
        self.folder = folder
        self.kind = kind
        self.clock, self.host, self.tools, self.models, self.watch = Clock(), Host(), Tools(), Models(), Watch()
        self.mint = Mint(seed)
        self._stores: list[Any] = []
        self.store = self.open_store()
        self.processes: list[Process] = []
        self.write(texts.operator())

    def open_store(self) -> Any:
        """The store as one more process opens it; the one in memory is shared."""
        if self.kind == "memory" and self._stores:
            return self._stores[0]
        made = MemoryStore(self.mint) if self.kind == "memory" else SqliteStore(str(self.folder / ".toolgate" / "toolgate.db"), self.mint)
        self._stores.append(made)
        return made

    def close(self) -> None:
        for store in self._stores:
            store.close()

    def write(self, operator: str | None = None, **flows: str) -> None:
        """toolgate.toml and workflow files, by id."""
        (self.folder / "script.toml").write_text(texts.SCRIPT)
        if operator is not None:
            (self.folder / "toolgate.toml").write_text(operator)
        for name, text in flows.items():
            (self.folder / f"{name}.toml").write_text(text)

    def desk(self, actor: str = "ann", store: Any = None) -> Desk:
        return self.process(actor, store).desk

    def process(self, actor: str = "ann", store: Any = None) -> Process:
        made = Process(self, actor, store or self.store)
        self.processes.append(made)
        return made

    # ---- what happened ----
    def dump(self) -> Dump:
        return dump(self.store)

    def run(self, id: str) -> Run:
        with self.store.read() as tx:
            run: Run | None = tx.run(id)
        assert run is not None
        return run

    def rows(self, run: str) -> list[Row]:
        with self.store.read() as tx:
            return list(tx.find_by_run(run))

    def row(self, run: str) -> Row:
        [row] = self.rows(run)
        return row

    def value(self, run: str, key: str) -> Json:
        """KeyError where it is absent."""
        with self.store.read() as tx:
            found = tx.value(run, key)
        if found is None or found.value is None:
            raise KeyError(key)
        return canonical.parse(found.value)

    def events(self, run: str | None = None, type: str | None = None) -> list[Event]:
        with self.store.read() as tx:
            return list(tx.events(EventQuery(run, type)))

    def types(self, run: str | None = None) -> list[str]:
        return [event.type for event in self.events(run)]

    def outcome(self, call: str) -> Any:
        with self.store.read() as tx:
            return tx.call(call)[1]

    # ---- the usual verbs, each as a process of its own ----
    def start(self, flow: str, actor: str = "ann", **inputs: Json) -> str:
        """Writes one of the usual workflows if it is not there, and starts it; the run's id."""
        if not (self.folder / f"{flow}.toml").exists():
            self.write(**{flow: texts.FLOWS[flow]})
        return self.desk(actor).start(flow, inputs, {}).run.run.id

    def vouch(self, run: str) -> None:
        """Makes the log say that the run's row is as it is: for tests in which something else was changed by other hands."""
        found = self.run(run)
        with write(self.desk()._ports, SYSTEM) as unit:
            unit.close(found)
            unit.record("RUN_RECOVERED", found, {})

    def killed(self, act: Callable[[], object]) -> None:
        """Something during which the process dies."""
        try:
            act()
        except Killed:
            return
        raise AssertionError("nobody was killed")

    def decide(self, verb: str, run: str, call: str | None = None, actor: str = "ann", **more: Any) -> Answer:
        """approve, reject, retry or continue_tool, by the words of the command line."""
        desk = self.desk(actor)
        target = desk.select([run] if call is None else [run, call], verb.replace("_", "-"))  # type: ignore[arg-type]  # a verb
        answer: Answer = getattr(desk, verb)(target, **more)
        return answer

    def answer(self, run: str, texts: Mapping[str, str], values: Mapping[str, Json]) -> Answer:
        desk = self.desk()
        return desk.answer(desk.select_step(run, None, "answer"), texts, values)

    def seen(self, run: str, actor: str = "ann") -> tuple[Desk, Waiting]:
        """A desk that has looked at the only call of a run and may decide it later."""
        desk = self.desk(actor)
        return desk, desk.select([run], "reject")


class Process:
    """One command: it has its own lock, and a store that serves it only while it lives."""

    def __init__(self, home: Home, actor: str, store: Any) -> None:
        self.home = home
        self.owner = Owner(home.host, home.watch.outside)
        self.store = Watched(store, home.watch)
        self.surroundings = Processes(home.host)
        db = str(home.folder / ".toolgate" / "toolgate.db")
        settings = Settings(str(home.folder), db, actor, "json", "never", "os-" + actor, 1000, {})
        ports = bootstrap.ports(settings, self.store, mint=home.mint, owners=self.owner, clock=_Sleeping(home), processes=self.surroundings)
        files = _Files(home, ports.files, self)
        provider, heads = (lambda tool: _Provider(self, tool)), _Heads(home)
        self.desk = bootstrap.seat(settings, ports._replace(files=files, provider=provider, step_kind=step_kind, heads=heads))

    def end(self) -> None:
        """The process is over; its lock with it."""
        self.home.host.living.discard(self.owner.name)
        self.store.dead = True

    def die(self) -> Any:
        self.end()
        raise Killed


def dies(started: Started) -> ToolResult:
    """A tool during which its caller is killed."""
    result: ToolResult = started.process.die()
    return result


def step_kind(name: str) -> StepKind:
    real = plugins.step_kind(name)
    return Pausing(real) if name == "fail" else real


class _Provider:
    def __init__(self, process: Process, tool: Tool) -> None:
        self._process = process
        self._tool = tool

    def invoke(self, claim: Any, limits: InvokeLimits) -> ToolResult:
        started = Started(self._tool.capability, claim.call_id, claim.key, claim.arguments, limits, self._process, claim.answer)
        if limits.asks:
            self._process.home.watch.outside("a probe is asked")
            return self._process.home.tools.ask(claim.probe.name, started)
        try:
            self._process.home.watch.outside("a tool is started")
            return self._process.home.tools.invoke(started)
        except AssertionError as error:
            raise Wrong(str(error)) from error


class _Files:
    """The real files; models are the test's."""

    def __init__(self, home: Home, real: Any, process: Process) -> None:
        self._home = home
        self._real = real
        self._process = process

    def __getattr__(self, name: str) -> Any:
        if name in ("world", "prepare", "workflow", "inputs", "check", "observe"):
            self._home.watch.outside(f"files.{name}")
        return getattr(self._real, name)

    def model(self, model: Model) -> Any:
        return _Adapter(self._home, self._process)


class _Adapter:
    def __init__(self, home: Home, process: Process) -> None:
        self._home = home
        self._process = process

    def complete(self, fields: object, folder: str, request: TurnRequest, means: object) -> Completion:
        self._home.watch.outside("a model is asked")
        return self._home.models.complete(request)


class _Heads(FileHeads):
    """The ids of all homes here are the same, and yet each has a history of its own."""

    def __init__(self, home: Home) -> None:
        super().__init__()
        self._folder = str(home.folder)

    def _file(self, identity: str) -> str:
        return super()._file(self._folder + identity)


class _Sleeping:
    """The home's clock, which is never slept by in a transaction."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def now(self) -> str:
        return self._home.clock.now()

    def monotonic(self) -> float:
        return self._home.clock.monotonic()

    def sleep(self, seconds: float) -> None:
        self._home.watch.outside("sleeping")
        self._home.clock.sleep(seconds)


def payload(event: Event) -> Mapping[str, Json]:
    found = canonical.parse(event.payload or "{}")
    assert isinstance(found, dict)
    return found
