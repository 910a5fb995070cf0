"""Where a database may stand: on this host's own disk, in a private folder. Locks of a network file system lie: two could both win."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from ..core.errors import ToolgateError
from ..host.private import new_private_file, private_folder, tighten

_NETWORK = (
    " afs ceph cifs coda davfs fuse.cephfs fuse.davfs2 fuse.glusterfs fuse.rclone fuse.s3fs fuse.smbnetfs fuse.sshfs gfs2 glusterfs gpfs "
    "lustre ncpfs nfs nfs4 ocfs2 orangefs smb2 smb3 smbfs "
)


def network(path: str, mounts: str) -> str | None:
    """The network file system that holds `path` (real and absolute), None if it is local. `mounts`: text of /proc/self/mountinfo."""
    best, kind = "", ""
    for point, kind_of_it in _points(mounts):
        inside = point == "/" or path == point or path.startswith(point + "/")
        if inside and len(point) >= len(best):  # a later mount on the same point covers the earlier
            best, kind = point, kind_of_it
    return kind if f" {kind} " in _NETWORK else None


def is_mounted(path: str, mounts: str) -> bool:
    """Whether the file itself, and not a folder above it, is mounted where it stands: elsewhere it has another name."""
    return any(point == path for point, _ in _points(mounts))


def _points(mounts: str) -> Iterator[tuple[str, str]]:
    """Each mount point with the kind of its file system."""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) >= 5 and after:
            point = fields[4].replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
            yield point, after.split(" ", 1)[0]


def refuse_mount(path: str) -> None:
    """Raises ToolgateError("storage") where the file stands, or would stand, on a network file system, or is mounted by itself: SQLite
    keeps its log and its locks beside the name, so who comes by the other name would have others."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            mounts = file.read()
    except OSError:
        return  # no /proc: nothing is known, and SQLite still checks its own locks
    real = os.path.realpath(path)
    if kind := network(real, mounts):
        said = f"the database is on a network file system ({kind}), whose locks do not hold: {path}"
        raise ToolgateError("storage", said, "choose a local file with --db")
    if is_mounted(real, mounts):
        said = f"{path} has a second name (it is mounted by itself)"
        raise ToolgateError("storage", said, "a store has one name: mount its folder instead")


def refuse_pipes(path: str) -> None:
    """Raises ToolgateError("storage") where something else than a file has the name of one that SQLite opens: it would wait for ever."""
    for name in (path, path + "-journal"):
        try:
            kind = os.stat(name).st_mode
        except OSError:
            continue
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
            raise ToolgateError("storage", f"not a file: {name}", "remove it, or choose another store with --db")


def read_only_media(path: str) -> bool:
    """Whether nobody at all can write there, so that a copy without its companion files is complete."""
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY) and not _has_content(path + "-wal")


def _has_content(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0
    except FileNotFoundError:
        return False


def make_private(path: str) -> bool:
    """Makes an empty 0600 file, and its folder 0700 where that is missing; False if the file exists. Raises OSError."""
    private_folder(os.path.dirname(path))
    return new_private_file(path)


def tighten_all(path: str) -> None:
    """Takes the rights of others away from the file and its companions. Raises OSError."""
    for suffix in ("", "-wal", "-shm"):
        tighten(path + suffix)
