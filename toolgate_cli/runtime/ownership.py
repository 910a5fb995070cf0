"""Who drives a run: the name of a lock that is gone the instant its process dies, with the host and boot that it belongs to."""

from __future__ import annotations

from .ports import Ports


def mine(ports: Ports) -> str:
    """This process as the owner of a run: `name:host:boot`."""
    host, boot = ports.owners.place()
    return f"{ports.owners.mine()}:{host}:{boot}"


def alive(ports: Ports, owner: str) -> bool:
    """False only if the owner is known to be dead; of an owner on another host nothing is known."""
    name, host, boot = owner.split(":", 2)
    return ports.owners.alive(name, host, boot) is not False
