"""The only wiring: which store, which files, which clock and which plug-ins a command stands on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from . import plugins
from .core.errors import ToolgateError
from .core.person import Person
from .core.records import Accepted
from .host.clock import SystemClock
from .host.mint import RandomMint
from .host.owners import FileOwners
from .host.processes import HostProcesses, use_fence
from .runtime.desk import Desk
from .runtime.ports import Ports
from .settings import Settings, person
from .stores.sqlite import SqliteStore
from .workflow.files import HomeFiles
from .workflow.kinds import Kinds

if TYPE_CHECKING:
    from .core.config import Identity, Tool
    from .runtime.plugs import Provider
    from .runtime.ports import Clock, Files, Mint, Owners, Processes
    from .runtime.store import Store


@contextmanager
def open_session(settings: Settings, *, begun: bool = True) -> Iterator[Desk]:
    """A desk on the home that the settings name; closed with everything that it holds. A home has a toolgate.toml, broken or not;
    `begun=False`: one that is only to be written. ToolgateError("invalid") where it is not there."""
    if begun and not os.path.lexists(os.path.join(settings.home, "toolgate.toml")):
        raise ToolgateError("invalid", f"no toolgate.toml in {settings.home}", "toolgate init, or name the home with -C DIR")
    folder = os.path.dirname(settings.db)
    mint, owners = RandomMint(), FileOwners(os.path.join(folder, "owners"))
    store = SqliteStore(settings.db, mint)
    use_fence(owners.fence, owners.release)
    try:
        yield desk(settings, store, mint=mint, owners=owners)
    finally:
        store.close()
        owners.close()


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
    folder = os.path.join(os.path.dirname(settings.db), "owners")
    return Ports(
        store=store,
        clock=clock or SystemClock(),
        mint=mint or RandomMint(),
        owners=owners or FileOwners(folder),
        processes=processes or HostProcesses(),
        files=files(settings, store),
        provider=_provider,
        step_kind=plugins.step_kind,
        home=settings.home,
    )


def seat(settings: Settings, ports: Ports) -> Desk:
    """The person of the settings, at a desk over these ports."""
    operator = person(settings._replace(actor=settings.os_user), "os")
    return Desk(ports, who(settings), operator)


def files(settings: Settings, store: Store) -> Files:
    def remembered(seen: Accepted) -> bool:
        with store.read() as tx:
            return tx.accepted(seen)

    kinds = Kinds(plugins.providers, plugins.provider, plugins.step_kinds, plugins.step_kind, plugins.models, plugins.model)
    return HomeFiles(settings.home, kinds, remembered)


def who(settings: Settings) -> Callable[[Identity], Person]:
    return lambda mode: person(settings, mode)


def _provider(tool: Tool) -> Provider:
    return plugins.provider(tool.provider)
