"""Where a command finds its home and its store, and who acts: flag > TOOLGATE_* > default, with where each came from."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Mapping
from typing import Literal, cast

from .core.errors import ToolgateError
from .core.person import SYSTEM, Person
from .core.values import NamedTuple

Output = Literal["auto", "table", "tsv", "json", "jsonl"]
Color = Literal["auto", "always", "never"]

OUTPUTS: tuple[str, ...] = ("auto", "table", "tsv", "json", "jsonl")
COLORS: tuple[str, ...] = ("auto", "always", "never")
_LONGEST_NAME = 128


class Settings(NamedTuple):
    """`home` and `db` are absolute. `actor`: the name that is claimed; `os_user`: what the system says. `origins`: setting -> "--actor",
    "TOOLGATE_ACTOR" (any variable) or "default"."""

    home: str
    db: str
    actor: str
    output: Output
    color: Color
    os_user: str
    uid: int
    origins: Mapping[str, str]


def settings(flags: Mapping[str, str | None], environ: Mapping[str, str]) -> Settings:
    """`flags`: home, db, actor, output, color as they were given, None where they were not. ToolgateError("usage") for what is no value."""
    origins: dict[str, str] = {}
    uid = os.getuid()
    user = os_user(uid)

    def pick(name: str, default: str, origin: str = "default") -> str:
        value, origins[name] = _pick(name, flags.get(name), environ, default, origin)
        return value

    home = _folder(pick("home", "."), origins["home"])
    db = _file(pick("db", os.path.join(home, ".toolgate", "toolgate.db")), origins["db"])
    actor = _actor(pick("actor", user), origins["actor"])
    output = _choice(pick("output", "auto"), OUTPUTS, origins["output"])
    color = _choice(pick("color", *_color(environ)), COLORS, origins["color"])
    return Settings(home, db, actor, cast(Output, output), cast(Color, color), user, uid, origins)


def person(settings: Settings, identity: Literal["declared", "os"]) -> Person:
    """Who acts. ToolgateError("not_authorised") where only the OS user counts and another name was given."""
    if identity == "os" and settings.actor != settings.os_user:
        raise ToolgateError(
            "not_authorised",
            f"the actor is {settings.os_user}, not {settings.actor}: identity.mode is os",
            "leave --actor and TOOLGATE_ACTOR out",
        )
    return Person(settings.actor, settings.os_user, settings.uid, os.uname().nodename)


def os_user(uid: int) -> str:
    """By the user's number; never by $USER, which anybody can set."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid-{uid}"


def _pick(name: str, flag: str | None, environ: Mapping[str, str], default: str, origin: str) -> tuple[str, str]:
    if flag is not None:
        return flag, f"--{name}"
    variable = f"TOOLGATE_{name.upper()}"
    if variable in environ:
        return environ[variable], variable
    return default, origin


def _color(environ: Mapping[str, str]) -> tuple[str, str]:
    """What the common variables say, and which did; see no-color.org and force-color.org."""
    if environ.get("NO_COLOR"):
        return "never", "NO_COLOR"
    if environ.get("FORCE_COLOR"):
        return ("never" if environ["FORCE_COLOR"] == "0" else "always"), "FORCE_COLOR"
    return ("never", "TERM") if environ.get("TERM") == "dumb" else ("auto", "default")


def _folder(text: str, origin: str) -> str:
    return os.path.abspath(_path(text, origin))


def _file(text: str, origin: str) -> str:
    if text.endswith("/"):
        raise ToolgateError("usage", f"{origin}: {text} is a folder, not a file", "name a file, or leave it out")
    path = os.path.abspath(_path(text, origin))
    if os.path.lexists(path) and _is_special(path):  # SQLite would wait for ever for the other end of a pipe
        raise ToolgateError("storage", f"{origin}: {text} is not a regular file", "name another file with --db")
    return os.path.realpath(path)  # the locks of those who use it stand beside it: one store, one place


def _is_special(path: str) -> bool:
    """Whether something is there that is no file, or a link that leads to nothing; what cannot be looked at is left to who opens it."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _path(text: str, origin: str) -> str:
    if not text or "\0" in text:
        raise ToolgateError("usage", f"{origin} is empty" if not text else f"{origin} is not a path", "give a path, or leave it out")
    return text


def _actor(text: str, origin: str) -> str:
    """A name that is the same for every reader: printable, no blanks around it, and not the program's own."""
    if not text:
        raise ToolgateError("usage", f"{origin} is empty", "give a name, or leave it out")
    if len(text) > _LONGEST_NAME or not text.isprintable() or text != text.strip() or "*" in text:
        hint = f"printable, without * and blanks around it, {_LONGEST_NAME} characters at most"
        raise ToolgateError("usage", f"{origin} is not a name", hint)
    if not _is_composed(text):
        raise ToolgateError("usage", f"{origin} is not a name", "letters with marks are written composed (Unicode NFC)")
    if text == SYSTEM.name and origin != "default":
        raise ToolgateError("usage", f"{origin}: {text} is toolgate itself", "give your own name")
    return text


def _is_composed(text: str) -> bool:
    if text.isascii():
        return True
    from unicodedata import is_normalized  # imported where it is needed: most names are ASCII

    return is_normalized("NFC", text)


def _choice(text: str, choices: tuple[str, ...], origin: str) -> str:
    if text not in choices:
        shown = text or "an empty word"
        raise ToolgateError("usage", f"{origin}: {shown} is not one of {', '.join(choices)}", f"{origin} is one of {', '.join(choices)}")
    return text
