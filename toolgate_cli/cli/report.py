"""The report of an internal fault: where it was, and no values; an exception's text may hold arguments or secrets (I12)."""

from __future__ import annotations

import os
import platform
import sys
import traceback

from .. import __version__
from ..host.private import state_folder


def frames(fault: BaseException) -> list[str]:
    """Types and places of a fault and of what it came from, innermost cause first."""
    before = fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__)
    earlier = [*frames(before), "which led to\n"] if before is not None else []
    return [*earlier, f"{type(fault).__module__}.{type(fault).__qualname__}\n", *traceback.format_tb(fault.__traceback__)]


def write(fault: BaseException) -> str | None:
    """Writes a report that only its owner can read; its path, or None where none could be written."""
    folder = os.path.join(state_folder(), "reports")
    path = os.path.join(folder, f"{os.getpid()}-{os.urandom(4).hex()}.txt")
    facts = f"toolgate {__version__}, Python {platform.python_version()}, {sys.platform}\n"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(facts + "".join(frames(fault)))
    except OSError:
        return None
    return path
