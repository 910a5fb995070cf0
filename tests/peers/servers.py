"""MCP servers that nobody here wrote, as `.ci/peers` installs them: where they are, how each is started, and two of its tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from . import npm
from .missing import missing

INSTALLED = Path(__file__).parents[2] / ".ci-peers"


class Ask(NamedTuple):
    """A call, and what is in its result. `done`: a file that is there, in the home, once it was made."""

    tool: str
    arguments: dict[str, Any]
    says: str
    done: str = ""


class Peer(NamedTuple):
    """`command`: how it is started, where it is installed; `read` changes nothing, `write` does."""

    name: str
    command: Callable[[], tuple[str, ...]]
    read: Ask
    write: Ask
    path: str = "/usr/local/bin:/usr/bin:/bin"


def _python(environment: str, program: str, *words: str) -> Callable[[], tuple[str, ...]]:
    def command() -> tuple[str, ...]:
        if not (INSTALLED / "made-by").exists():
            missing(f"{program} is not installed")
        return (str(INSTALLED / environment / "bin" / program), *words)

    return command


def _node(package: str, *words: str) -> Callable[[], tuple[str, ...]]:
    return lambda: (*npm.program(f"@modelcontextprotocol/{package}/dist/index.js"), *words)


ALL = {
    peer.name: peer
    for peer in (
        Peer(
            "git",
            _python("stateless", "mcp-server-git", "--repository", "repository"),
            Ask("git_log", {"repo_path": "repository"}, "the first"),
            Ask("git_create_branch", {"repo_path": "repository", "branch_name": "made"}, "made", "repository/.git/refs/heads/made"),
        ),
        Peer(
            "time",
            _python("stateless", "mcp-server-time"),
            Ask("get_current_time", {"timezone": "Etc/UTC"}, '"is_dst":false'),
            Ask("convert_time", {"source_timezone": "Etc/UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}, "T21:00:00"),
        ),
        Peer(
            "sqlite",
            _python("handshake", "mcp-server-sqlite", "--db-path", "notes.db"),
            Ask("list_tables", {}, ""),
            Ask("create_table", {"query": "CREATE TABLE notes (text TEXT)"}, "success"),
        ),
        Peer(
            "files",
            _node("server-filesystem", "."),
            Ask("list_directory", {"path": "."}, "toolgate.toml"),
            Ask("write_file", {"path": "made.txt", "content": "made"}, "made.txt", "made.txt"),
        ),
        Peer(
            "everything",
            _node("server-everything"),
            Ask("echo", {"message": "hello"}, "Echo: hello"),
            Ask("get-structured-content", {"location": "New York"}, '"temperature":'),
        ),
    )
}
