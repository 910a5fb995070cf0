"""The session of a tool, as a line in the lock that it inherits: what of it lives on without its mark and its lock is found by it (I8)."""

from __future__ import annotations

import os
import re

from . import tree
from .tree import Session

_LINE = re.compile(rb"(\d{1,10}) (\d{1,18}) (\S{1,99}) (\S{0,99})\n")
_WIDTH = 240  # bytes


def line(session: Session) -> bytes:
    return b"%d %d %s %s\n" % (session.id, session.start, _numbering(), os.fsencode(session.mark))


def read(descriptor: int) -> Session | None:
    """The session that the line in an open lock tells of; None where there is none, or one whose numbers mean nothing here."""
    found = _LINE.fullmatch(os.pread(descriptor, _WIDTH, 0))
    if found is None or found[3] != _numbering():
        return None
    return Session(int(found[1]), int(found[2]), os.fsdecode(found[4]))


def lives(session: Session) -> bool:
    seen = tree.everything()
    return any(not seen[pid].dead for pid in tree.of_session(seen, session))


def _numbering() -> bytes:
    """What numbers of processes belong to: this boot, and our namespace of them."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read().strip()
        return boot + b"/" + os.fsencode(os.readlink("/proc/self/ns/pid"))
    except OSError:
        return b"unknown"
