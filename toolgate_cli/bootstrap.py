"""The only wiring: which store, which files, which clock and which plug-ins a command stands on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal, cast

from . import plugins
from .core.errors import ToolgateError
from .core.person import Person
from .core.records import Accepted
from .host import lasting
from .host.clock import SystemClock
from .host.heads import FileHeads
from .host.mint import RandomMint
from .host.owners import FileOwners
from .host.processes import HostProcesses, use_fence
from .runtime.ports import Ports
from .settings import Settings, person
from .stores.sqlite import open_store

if TYPE_CHECKING:
    from .core.config import Identity, Tool
    from .core.types import Json
    from .runtime.desk import Desk
    from .runtime.plugs import Provider
    from .runtime.ports import Clock, Files, Mint, Owners, Processes
    from .runtime.store import Reader, Store
    from .runtime.window import Window
    from .workflow.kinds import Kinds


@contextmanager
def open_session(settings: Settings) -> Iterator[Desk]:
    """A desk on the home that the settings name; closed with everything that it holds. A home has a toolgate.toml, broken or not:
    ToolgateError("invalid") where it is not there."""
    with _ports(settings) as opened:
        desk = seat(settings, opened)
        try:
            yield desk
        except ToolgateError as error:
            desk.without_secrets(error)
            raise


@contextmanager
def open_window(settings: Settings, *, begun: bool = True, readonly: bool = False) -> Iterator[Window]:
    """The same for what only looks. `begun=False`: a home that is only to be written; `readonly`: not even rights are mended."""
    from .runtime.window import Window

    with _ports(settings, begun=begun, readonly=readonly) as opened:
        yield Window(opened)


@contextmanager
def _ports(settings: Settings, *, begun: bool = True, readonly: bool = False) -> Iterator[Ports]:
    if begun and not os.path.lexists(os.path.join(settings.home, "toolgate.toml")):
        raise ToolgateError("invalid", f"no toolgate.toml in {settings.home}", _where_else(settings))
    owners = FileOwners(_locks(settings))
    store = open_store(settings.db, RandomMint(), readonly=readonly)
    use_fence(owners.fence, owners.release)
    try:
        yield ports(settings, store, owners=owners)
    finally:
        lasting.end_all()
        store.close()
        with suppress(OSError):  # the answer was given, and the locks end with the process
            owners.close()


def _where_else(settings: Settings) -> str:
    """Where no home was named, one above is; it is never taken unasked: what is decided there is another matter."""
    above = os.path.dirname(settings.home)
    while settings.origins["home"] == "default" and above != os.path.dirname(above):
        if os.path.lexists(os.path.join(above, "toolgate.toml")):
            import shlex  # off the way of what finds its home

            return f"there is a home above: toolgate -C {shlex.quote(os.path.relpath(above))}, or toolgate init makes one here"
        above = os.path.dirname(above)
    return "toolgate init, or name the home with -C DIR"


@contextmanager
def open_reader(settings: Settings) -> Iterator[Reader]:
    """The store as it is, for what must leave no trace in it."""
    store = open_store(settings.db, RandomMint(), readonly=True)
    try:
        with store.read() as tx:
            yield tx
    finally:
        store.close()


def _locks(settings: Settings) -> str:
    return os.path.join(os.path.dirname(settings.db), "owners")


def desk(
    settings: Settings,
    store: Store,
    *,
    mint: Mint | None = None,
    owners: Owners | None = None,
    clock: Clock | None = None,
    processes: Processes | None = None,
) -> Desk:
    """A desk over any store; what is not given is this computer's own."""
    return seat(settings, ports(settings, store, mint=mint, owners=owners, clock=clock, processes=processes))


def ports(
    settings: Settings,
    store: Store,
    *,
    mint: Mint | None = None,
    owners: Owners | None = None,
    clock: Clock | None = None,
    processes: Processes | None = None,
) -> Ports:
    """Everything that the use cases may touch, of this home."""
    return Ports(
        store=store,
        clock=clock or SystemClock(),
        mint=mint or RandomMint(),
        owners=owners or FileOwners(_locks(settings)),
        heads=FileHeads(),
        processes=processes or HostProcesses(),
        files=cast("Files", _OnUse(lambda: files(settings, store))),
        provider=_provider,
        step_kind=plugins.step_kind,
        step_kinds=plugins.step_kinds,
        home=settings.home,
    )


def seat(settings: Settings, ports: Ports) -> Desk:
    """The person of the settings, at a desk over these ports."""
    from .runtime.desk import Desk

    operator = person(settings._replace(actor=settings.os_user), "os")
    return Desk(ports, who(settings), operator)


class _OnUse:
    """A port that is made, and its module imported, when it is used: what only looks at the store does not pay for the loader. Ports have
    methods alone, so what was found once is kept."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> object:
        made = self.__dict__["_made"] = self.__dict__.get("_made") or self._make()
        found = self.__dict__[name] = getattr(made, name)
        return found


def files(settings: Settings, store: Store) -> Files:
    from .workflow.files import HomeFiles

    def remembered(seen: Accepted) -> bool:
        with store.read() as tx:
            return tx.accepted(seen)

    # an own descriptor of these must not be closed: the locks of the store and of this process would be gone with it
    apart = (*(settings.db + end for end in ("", "-wal", "-shm", "-journal")), _locks(settings))
    return HomeFiles(settings.home, _kinds(), remembered, apart=apart)


def schema(of: Literal["workflow", "operator"]) -> dict[str, Json]:
    """The JSON Schema of a file; it needs no home."""
    from .workflow.editors import operator_schema, workflow_schema

    return workflow_schema(_kinds()) if of == "workflow" else operator_schema(_kinds())


def _kinds() -> Kinds:
    from .workflow.kinds import Kinds

    return Kinds(plugins.providers, plugins.provider, plugins.step_kinds, plugins.step_kind, plugins.models, plugins.model)


def who(settings: Settings) -> Callable[[Identity], Person]:
    return lambda mode: person(settings, mode)


def _provider(tool: Tool) -> Provider:
    return plugins.provider(tool.provider)
