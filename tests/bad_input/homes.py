"""Homes of the kind in given.py, what is in their stores, and what a refusal has to look like."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from .given import FILES
from .saying import Said, say

ACTS = [  # what brings about: the name of the run, and the words that start it
    ("asked", ["start", "pay", "-i", "to=asked"]),
    ("other", ["start", "pay", "-i", "to=other"]),
    ("denied", ["start", "drop"]),
    ("form", ["start", "form"]),
    ("review", ["start", "review"]),
    ("gate", ["start", "approval"]),
    ("failed", ["start", "broken"]),
    ("cancelled", ["start", "form"]),
    ("settled", ["start", "pay", "-i", "to=settled"]),
    ("failing", ["start", "pay", "-i", "to=failing"]),
    ("doubtful", ["start", "pay", "-i", "to=doubtful"]),
]


class Home:
    """`runs` and `calls`: ids by the names of ACTS; `refs`: of what waits."""

    def __init__(self, path: Path, ids: dict[str, dict[str, str]]) -> None:
        self.path = path
        self.ids = ids
        self.runs, self.calls, self.refs = ids["runs"], ids["calls"], ids["refs"]

    def say(self, *words: str, **how: Any) -> Said:
        return say(self.path, *words, **how)

    def write(self, name: str, content: str | bytes) -> None:
        (self.path / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    def mend(self) -> None:
        """All files as they were."""
        for name, content in FILES.items():
            path = self.path / name
            if path.is_symlink() or not path.is_file() or path.read_text(errors="replace") != content:
                remove(path)
                path.write_text(content)

    def pending(self) -> list[dict[str, Any]]:
        return rows(self.path)

    @property
    def database(self) -> Path:
        return self.path / ".toolgate" / "toolgate.db"

    def stand(self) -> tuple[str, str]:
        """All that must not have changed: what is stored, and what the tool did."""
        log = self.path / "calls.log"
        return dump(self.database), log.read_text() if log.exists() else ""


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def dump(database: Path) -> str:
    """A digest of every row of every table; "" where there is no database."""
    if not database.exists():
        return ""
    digest = hashlib.sha256()
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}" ORDER BY 1, 2' if table != "identity" else "SELECT * FROM identity"):
                digest.update(repr((table, row)).encode())
    return digest.hexdigest()


def make(path: Path) -> Home:
    """One run for each of ACTS."""
    for name, content in FILES.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(content)
    runs: dict[str, str] = {}
    for name, words in ACTS:
        said = say(path, *words, "--json")
        assert said.code in (0, 1), said
        runs[name] = json.loads(said.out)["run"]["id"]
    calls = {row["run_id"]: row["id"] for row in rows(path)}
    for name, mode, code in (("failing", "fail", 1), ("doubtful", "unclear", 9), ("settled", "ok", 0)):
        (path / "mode").write_text(mode)
        assert say(path, "approve", calls[runs[name]]).code == code
    assert say(path, "cancel", runs["cancelled"]).code == 0
    names = {id: name for name, id in runs.items()}
    open_rows = rows(path)
    ids = {
        "runs": runs,
        "calls": {names[run]: call for run, call in calls.items()},
        "refs": {names[row["run_id"]]: row["ref"] for row in open_rows},
    }
    (path / "ids.json").write_text(json.dumps(ids))
    return Home(path, ids)


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(say(path, "pending", "list", "--json").out)["items"]
    return found


def copy(home: Home, to: Path) -> Home:
    shutil.copytree(home.path, to, symlinks=True)
    return Home(to, home.ids)


def check_refusal(said: Said, code: int) -> None:
    """One clear message and nothing else: no answer, no trace of what is inside, nothing that a terminal would obey."""
    assert said.code == code, said
    assert said.out == "", said
    assert "Traceback" not in said.err and "ESCAPED" not in said.err and "internal fault" not in said.err, said
    if said.err.startswith("{"):
        check_json(said)
        return
    lines = said.err.split("\n")
    assert lines.pop() == "" and lines[0].startswith("error: "), said
    kinds = [line.partition(": ")[0] for line in lines]
    assert kinds == sorted(kinds) and set(kinds) <= {"error", "hint"}, said  # what is, one or more, and then what to do
    for line in lines:
        text = line.partition(": ")[2]
        assert line.isprintable() and text and text == text.strip(), said
        assert not re.match(r"[A-Z][a-z]", text) and (text.endswith("...") or not text.endswith(".")), said


def check_json(said: Said) -> None:
    assert said.err.isascii() and said.err.count("\n") == 1, said
    error = json.loads(said.err)["error"]
    assert set(error) == {"kind", "message", "hint", "exit_code", "retryable"} and error["exit_code"] == said.code, said
