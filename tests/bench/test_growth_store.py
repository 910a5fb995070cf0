"""The store on which growth is measured is one as the program makes it: copies of runs that nobody could tell from runs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.bench import growth


def test_a_store_that_was_filled_with_copies_verifies_and_recovers_nothing(tmp_path: Path) -> None:
    home = growth.begun(str(tmp_path / "home"))
    growth.Copies(home[0]).fill(2 * growth.WAITING)
    verified = json.loads(growth.said(*home, "audit", "verify", "--json"))
    assert verified["ok"] and verified["events"] > 20 * growth.WAITING - 50
    assert len(json.loads(growth.said(*home, "pending", "list", "--json"))["items"]) == 3
    assert json.loads(growth.said(*home, "recover", "--json"))["items"] == []
