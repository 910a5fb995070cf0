"""What ties the events of a run to the job that it runs for: `context.correlation`, filled from the environment when a run starts."""

from __future__ import annotations

import os

from ..core import references
from ..core.errors import ToolgateError
from ..core.types import Json

_MOST = 256  # characters: it stands in every event of the run


def fill(template: str) -> str:
    """Raises ToolgateError("invalid") naming the variable that is not set, or where the text is not one short line."""
    filled = references.fill(template, _variable)
    assert isinstance(filled, str)
    if not 0 < len(filled) <= _MOST or not filled.isprintable():
        raise ToolgateError("invalid", f"context.correlation is not one line of 1 to {_MOST} characters", f"it is made of {template}")
    return filled


def _variable(name: str) -> Json:
    return os.environ[name.removeprefix("env.")]
