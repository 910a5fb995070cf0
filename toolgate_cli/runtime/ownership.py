"""Who drives a run: the name of a lock that is gone the instant its process dies, with the host and boot that it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .ports import Ports


def mine(ports: Ports) -> str:
    """This process as the owner of a run: `name:host:boot`."""
    host, boot = ports.owners.place()
    return f"{ports.owners.mine()}:{host}:{boot}"


def alive(ports: Ports, owner: str, given_up: str | None = None) -> bool:
    """False only if the owner is known to be dead; of an owner on another host nothing is known but that a person has given it up."""
    name, host, boot = owner.split(":", 2)
    found = ports.owners.alive(name, host, boot)
    return name != given_up if found is None else found
