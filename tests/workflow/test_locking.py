"""The lock file of servers: what is written reads back as what was pinned, whatever the texts of a server are."""

from __future__ import annotations

import pytest

from toolgate_cli.core import offered
from toolgate_cli.workflow.locking import Locked, read_lock, write_lock


@pytest.mark.parametrize("text", ["", "one", "two\nlines", "two\r\nlines", "a\rb\r\nc\n", '\'"""\'\\', "\x1b[2K", "\u2028\ufeff"])
def test_what_is_written_reads_back(text: str) -> None:
    definition = {"name": "pay", "description": text, "inputSchema": {"type": "object", "description": text}}
    servers = {"ledger": Locked("0" * 64, {"pay": definition})}
    assert read_lock(write_lock(servers)) == servers
    assert offered.digest(read_lock(write_lock(servers))["ledger"].tools["pay"]) == offered.digest(definition)
