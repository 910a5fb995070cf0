"""The command line over a desk that is not real, as a process: `python at_terminal.py LOG WORDS...`; LOG gets what the desk was asked."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.cli import given
from toolgate_cli.cli.frame import Frame
from toolgate_cli.cli.main import run

everything = given.waiting
given.waiting = lambda *words, **more: everything(*words, **more)._replace(expired=False)  # nobody is asked about what came too late
desk = given.FakeDesk(os.environ.get("TEXT", "pay").encode("ascii").decode("unicode_escape"))
if "OPEN" in os.environ:  # origins of what waits
    rows = tuple(given.waiting(origin, desk.text) for origin in os.environ["OPEN"].split())
    desk.pending = lambda run, limit: (rows, given.HEAD)
Frame.session = Frame.window = lambda self, **how: desk.session()  # type: ignore[assignment,method-assign]  # the stand-in
code = run(sys.argv[2:])
with open(sys.argv[1], "w") as log:
    log.write(" ".join(str(asked[0]) for asked in desk.asked))
    log.write("\n" + " ".join(name for name in ("rich", "pydantic", "jsonschema", "sqlite_utils", "typer") if name in sys.modules))
os._exit(code)
