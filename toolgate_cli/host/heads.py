"""The last head of each database, kept outside of the home: a database behind it is a restored copy, and what it holds may have run.

One small file for each database, by its id and its path, in the user's state folder. Nothing here is needed for a call to run: where the
folder cannot be written nothing is kept, and nothing is refused for it.
"""

from __future__ import annotations

import os
from contextlib import suppress

from .private import private_folder


class FileHeads:
    """`ports.Heads` for the database at `path` (absolute, links resolved)."""

    def __init__(self, path: str) -> None:
        self._path = path

    def kept(self, identity: str) -> tuple[int, str] | None:
        try:
            with open(self._file(identity), encoding="ascii") as file:
                seq, _, hash = file.read(200).strip().partition(":")
            return int(seq), hash
        except (OSError, ValueError):
            return None

    def keep(self, identity: str, seq: int, hash: str, *, accepted: bool = False) -> None:
        """Never goes back, unless a person `accepted` that the database did."""
        before = self.kept(identity)
        if before is not None and before[0] > seq and not accepted:
            return
        path = self._file(identity)
        scratch = f"{path}.{os.getpid()}"
        with suppress(OSError):
            private_folder(os.path.dirname(path))
            with open(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
                file.write(f"{seq}:{hash}\n")
            os.replace(scratch, path)

    def _file(self, identity: str) -> str:
        import hashlib

        state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
        name = hashlib.sha256(f"{identity}\n{self._path}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return os.path.join(state, "toolgate", "heads", name)
