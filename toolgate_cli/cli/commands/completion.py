"""`completion`: what makes a shell complete commands, options and ids."""

from __future__ import annotations

import os
from typing import Annotated, Final, Literal

from ..declared import Argument
from ..frame import Frame
from ..streams import OUT

PURPOSE: Final = "Know"
_SHELLS: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "shells")

Shell = Annotated[Literal["bash", "zsh", "fish"], Argument(metavar="bash|zsh|fish", help="The shell.")]


def run(_frame: Frame, shell: Shell) -> int:
    """Print what makes a shell complete ids, names and options.

    In bash: eval "$(toolgate completion bash)".
    """
    with open(os.path.join(_SHELLS, f"{shell}.txt"), encoding="utf-8") as file:
        OUT.raw(file.read())
    return 0
