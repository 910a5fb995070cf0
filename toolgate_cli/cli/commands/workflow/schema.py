"""`workflow schema`: what makes an editor complete and check the files."""

from __future__ import annotations

import json
from typing import Annotated, Final

from ... import output
from ...declared import option
from ...frame import Frame
from ...streams import OUT

PURPOSE: Final = "Know"

OfOperator = Annotated[bool, option("--operator", help="Of toolgate.toml instead of a workflow.")]


def run(frame: Frame, operator: OfOperator = False) -> int:
    """Print the JSON Schema of workflow files, for editors.

    It needs no home, and is the same in every one.
    """
    from .... import bootstrap

    machine = frame.format() in ("json", "jsonl")
    made = bootstrap.schema("operator" if operator else "workflow")
    if machine:
        output.json_line(made)
    else:
        OUT.raw(json.dumps(made, indent=2) + "\n")
    return 0
