"""What only looks: listings, one thing in full, the log, waiting, verifying. What waits, runs
and events need the store alone: they are shown while the files of the home are broken.

It imports nothing of what decides or drives: a listing is not to pay for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ..core import chain
from ..core.errors import ToolgateError
from ..core.records import Event, EventQuery, Row, RunQuery
from . import departed, heads, looking, selecting, standing
from .answers import Advice, Checked, Offering, Remark, RunView, Verified, Waiting

if TYPE_CHECKING:
    from ..core.config import Tool
    from ..core.outline import Outline
    from ..core.progress import Reached
    from ..core.records import Run
    from ..core.types import Status
    from ..core.world import World
    from .ports import Ports
    from .store import Reader
    from .verifying import Progress


class Window:
    """Over the ports; nobody in particular stands at it."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._world: World | None = None
        self.unread: tuple[ToolgateError, ...] = ()  # what the last list had to leave out

    def pending(self, run: str | None, limit: int) -> tuple[tuple[Waiting, ...], str]:
        self._notice()
        with self._ports.store.read() as tx:
            id = selecting.run(tx, run).id if run is not None else None
            found = looking.pending(self._ports, tx, id, limit), looking.head(tx)
            self.unread = tuple(tx.unread)
            return found

    def taken_back(self) -> str | None:
        """Why this store decides nothing: it is older than what was seen of it. None: it is not."""
        return heads.taken_back(self._ports)

    def show_pending(self, words: Sequence[str]) -> tuple[Waiting, str]:
        """A call, or where a run waits for something else, that."""
        self._notice()
        with self._ports.store.read() as tx:
            return self._waiting(tx, selecting.shown(tx, words, self._moment(tx))), looking.head(tx)

    def next_of(self, waiting: Waiting) -> tuple[Advice, ...]:
        """As `next`, of one thing that waits."""
        with self._ports.store.read() as tx:
            run = tx.run(waiting.row.run_id)
        return () if run is None else self.next(run, (waiting,))

    def as_now(self, target: Waiting) -> Waiting:
        """The same, held against the files as they are now; as it is where those cannot be read."""
        from ..core.world import Needs

        call, row = target.call, target.row
        with suppress(ToolgateError):
            world = self._load()
            target = target.held_to(world.config.approvers)
            if call is not None and row.definition is not None and call.capability in world.config.tools:
                self._world = world = self._ports.files.prepare(world, Needs(tools=(call.capability,)))
                ready = world.ready[call.capability]
                if ready.digest != row.definition:
                    from . import parking

                    with self._ports.store.read() as tx:
                        target = target._replace(changed=parking.changed(tx, row, ready))
        return target

    def runs(self, status: Status | None, limit: int) -> tuple[tuple[RunView, ...], str]:
        self._notice()
        with self._ports.store.read() as tx:
            found = looking.runs(tx, RunQuery(status, limit=limit)), looking.head(tx)
            self.unread = tuple(tx.unread)
            return found

    def show_run(self, run: str) -> tuple[RunView, tuple[Waiting, ...], str]:
        self._notice()
        with self._ports.store.read() as tx:
            found = selecting.run(tx, run)
            view, rows, head = looking.run_view(tx, found, context=True), looking.pending(self._ports, tx, found.id, 1000), looking.head(tx)
        return view._replace(changed=self._changed(found.workflow, found.definition)), rows, head

    def next(self, run: Run, rows: Sequence[Waiting]) -> tuple[Advice, ...]:
        """What moves on what was shown of a run; nothing where nothing in this store is decided, or that cannot be told."""
        try:
            if self.taken_back() is not None:
                return ()
            with self._ports.store.read() as tx:
                return looking.advised(self._ports, tx, run, rows)
        except ToolgateError:
            return ()

    def events(self, run: str | None, type: str | None, after: int, limit: int | None) -> tuple[Iterator[Event], str]:
        """Events in rising order, as they are read: the newest `limit`, or the first `limit` behind `after`."""
        with self._ports.store.read() as tx:
            id = selecting.run(tx, run).id if run is not None else None
            head = looking.head(tx)
        return self._events(EventQuery(id, type, None, after, limit, newest=limit is not None and after == 0)), head

    def _events(self, query: EventQuery) -> Iterator[Event]:
        with self._ports.store.read() as tx:
            yield from tx.events(query)

    def wait(self, run: str, until: str, timeout: float | None) -> tuple[RunView, tuple[Waiting, ...], str, bool]:
        """Until a run is `done`, `decided` (nothing of it waits for a person) or asks for an `approval`; False where the time was up
        first."""
        clock = self._ports.clock
        end = None if timeout is None else clock.monotonic() + timeout
        while True:
            view, rows, head = self.show_run(run)
            if looking.reached(view.run, rows, until):
                return view, rows, head, True
            if until == "done" and (rows or view.run.status == "PAUSED"):
                return view, rows, head, False  # it will not be done before a person has decided
            if end is not None and clock.monotonic() >= end:
                return view, rows, head, False
            clock.sleep(0.2)

    def head(self) -> str:
        with self._ports.store.read() as tx:
            return looking.head(tx)

    def verify(self, known: chain.Head | None = None, since: chain.Head | None = None, progress: Progress | None = None) -> Verified:
        """The chain, held against heads that were kept: the given one, and the one that was kept outside the home. See `verifying`."""
        from . import verifying

        return verifying.verify(self._ports, known, since, progress)

    def export(self, since: int = 0, hash: str | None = None) -> Iterator[str]:
        """The log behind an event, as lines that can be verified elsewhere. See `verifying`."""
        from . import verifying

        return verifying.export(self._ports, since, hash)

    def examine(self) -> Iterator[Remark]:
        """Everything about this home that a person should know. See `examining`."""
        from . import examining

        return examining.examine(self._ports)

    def workflows(self, id: str | None) -> Sequence[Checked]:
        return self._ports.files.check(id)

    def workflow(self, id: str) -> Outline:
        """A workflow as a tree. ToolgateError as `Files.workflow`."""
        from . import outlining

        return outlining.of_workflow(self._ports, id)

    def progress(self, run: str) -> tuple[Reached, ...]:
        """Where a run stands in the tree of the definition that it started with; empty where that is not what was pinned."""
        from . import outlining

        with self._ports.store.read() as tx:
            return outlining.of_run(self._ports, tx, selecting.run(tx, run))

    def tools(self, agent: str | None = None, workflow: str = "", principal: str = "") -> tuple[Tool, ...]:
        """All; of an agent those that it is shown in a run of that workflow that this person started."""
        config = self._load().config
        if agent is None:
            return tuple(config.tools.values())
        if agent not in config.agents:
            raise ToolgateError("not_found", f"no agent {agent} in toolgate.toml", f"agents: {', '.join(config.agents) or 'none'}")
        from ..core.exposure import shown

        return shown(config, agent, workflow, principal)

    def tool(self, capability: str) -> Tool:
        tools = self._load().config.tools
        if capability not in tools:
            from difflib import get_close_matches

            near = " or ".join(get_close_matches(capability, tools, 2))
            hint = f"did you mean {near}" if near else "toolgate tools list"
            raise ToolgateError("not_found", f"no tool {capability} in toolgate.toml", hint)
        return tools[capability]

    def offering(self, server: str) -> Offering:
        """What a server offers now beside what is pinned of it. Nobody pins from inside a tool: ToolgateError("self_approval")."""
        if (call := self._inside()) is not None:
            raise from_inside("tools pin", call)
        self._ports.owners.mine()  # as who decides: the server that is started now is inside of this
        return self._ports.files.offering(server)

    def pin(self, offered: Offering) -> str:
        """Pins what was shown; the path of the lock file."""
        return self._ports.files.pin(offered)

    def init(self, folder: str) -> tuple[str, ...]:
        return self._ports.files.begin(folder)

    def bring(self, folder: str, home: str) -> tuple[str, ...]:
        return self._ports.files.bring(folder, home)

    # ---- what all of them stand on ----
    def _inside(self) -> str | None:
        """What this command was started by: the call that the environment names, or one of the owner that a process above it is; else that
        owner: a tool, its probe or a server may have left the environment behind, and while only a probe is asked there is no attempt."""
        processes = self._ports.processes
        if (call := processes.inside_call()) is not None:
            return call
        at_work = self._ports.owners.at_work()
        owner = next((at_work[pid] for pid in processes.ancestors() if pid in at_work), None) if at_work else None
        if owner is None:
            return None
        with self._ports.store.read() as tx:
            return next((attempt.row.id for attempt in tx.attempts(None) if attempt.owner == owner), owner)

    def _load(self) -> World:
        if self._world is None:
            self._world = self._ports.files.world()
        return self._world

    def _notice(self) -> None:
        """What looks records what dead processes left where it may write, and kills nothing."""
        with self._ports.store.read() as tx:
            if not departed.dead(self._ports, tx.attempts(None)):
                return
        if heads.taken_back(self._ports) is not None:
            return  # nothing is written into a database that somebody took back
        from . import recovery  # almost never needed

        try:
            recovery.take_back(self._ports, None, kill=False)
        except ToolgateError:
            return  # it is shown all the same

    def _moment(self, tx: Reader) -> standing.Moment:
        return standing.moment(tx, self._ports)

    def _waiting(self, tx: Reader, row: Row) -> Waiting:
        run = tx.run(row.run_id)
        return looking.waiting(self._ports, tx, row, run.workflow if run else "")

    def _changed(self, workflow: str, definition: str) -> bool | None:
        """Whether the file differs from what the run was started with; None where it cannot be read now."""
        try:
            return self._ports.files.workflow(workflow).digest != definition
        except ToolgateError:
            return None


def from_inside(verb: str, call: str) -> ToolgateError:
    """What refuses a person's word that a tool gives."""
    return ToolgateError("self_approval", f"{verb} was called from inside a tool ({call})", "a person decides, outside of any call")
