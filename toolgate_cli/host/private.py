"""Folders and files that nobody but their user can read: what is made here is 0700 and 0600 from its first moment, whatever the umask."""

from __future__ import annotations

import errno
import os
import pwd
import stat
from contextlib import suppress

HOME_FOLDER = ".toolgate"  # of a home that is in a repository, it is no part of that


def private_folder(path: str) -> None:
    """Makes a folder and every missing parent, 0700 each; what exists already is left as it is. Raises OSError."""
    missing: list[str] = []
    at = os.path.abspath(path)
    while not os.path.isdir(at):
        missing.append(at)
        parent = os.path.dirname(at)
        if parent == at:
            break
        at = parent
    for folder in reversed(missing):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise
        else:
            _keep_out_of_git(folder)


def _keep_out_of_git(folder: str) -> None:
    """The store of a home is not to be added by who adds all of the home."""
    if os.path.basename(folder) != HOME_FOLDER:
        return
    with suppress(OSError):  # a disk that is full says so when the store itself is made
        number = os.open(os.path.join(folder, ".gitignore"), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(number, b"*\n")
        finally:
            os.close(number)


def open_file(path: str, flags: int, mode: int = 0o600) -> int:
    """Opens a regular file and nothing else: a link is not followed, and a pipe or a device is not waited for. Raises OSError."""
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, mode)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is not a file", path)


def new_private_file(path: str) -> bool:
    """Makes an empty 0600 file; False if there is something already, a symbolic link included. Raises OSError."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True


def tighten(path: str) -> None:
    """Takes the rights of group and others away from a file of ours; an absent one, or somebody else's, is left alone. Raises OSError."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return
    if found.st_mode & 0o077 and found.st_uid == os.geteuid():
        os.chmod(path, found.st_mode & 0o700)


def home_of_user() -> str:
    """The home of the effective user by the password database, whatever HOME says; "/" where that names none."""
    try:
        place = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return "/"
    return place if os.path.isabs(place) else "/"


def state_folder() -> str:
    """Where this program keeps what belongs to its user and to no home; absolute. A relative XDG_STATE_HOME does not count, as the XDG
    base directory specification has it: it would be another folder wherever a command is given."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(os.path.abspath(state), "toolgate")
