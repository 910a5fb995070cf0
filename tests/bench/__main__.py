"""`python -m tests.bench NAME [WORDS]`: one of the measurements of this folder."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

NAMES = sorted(file.stem for file in Path(__file__).parent.glob("[a-z]*.py"))

if __name__ == "__main__":
    if sys.argv[1:2] == [] or sys.argv[1] not in NAMES:
        raise SystemExit(f"one of: {', '.join(NAMES)}")
    raise SystemExit(import_module(f"{__package__}.{sys.argv[1]}").main(sys.argv[2:]))
