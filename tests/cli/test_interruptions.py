"""Who interrupts a command that only looks is told no more than that; of one that may have started a tool they are told what that means."""

from __future__ import annotations

import subprocess
import sys

import pytest

from toolgate_cli.cli import faults
from toolgate_cli.cli.frame import Frame


@pytest.mark.parametrize("raised", [KeyboardInterrupt, faults.Terminated])
def test_what_may_have_started_a_tool_says_what_became_of_it(tmp_path, raised, capsys):
    subprocess.run([sys.executable, "-m", "toolgate_cli", "init", str(tmp_path)], check=True, capture_output=True, timeout=60)

    def command():
        with Frame(home=str(tmp_path)).session():
            raise raised

    assert faults.told([], command) in (130, 143)
    assert "a call that was running then is an unknown outcome" in capsys.readouterr().err

    def looking():
        with Frame(home=str(tmp_path)).window():
            raise raised

    assert faults.told([], looking) in (130, 143)
    assert capsys.readouterr().err in ("error: interrupted\n", "error: terminated\n")
