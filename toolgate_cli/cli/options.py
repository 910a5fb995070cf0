"""The options and arguments of all commands: one spelling each, everywhere."""

from __future__ import annotations

from typing import Annotated, Final

from .declared import Argument, option
from .frame import Color, Format, Frame

# ---- shared by every command ----
Home = Annotated[str | None, option("-C", "--home", metavar="DIR", help="Folder with toolgate.toml (TOOLGATE_HOME; default: here).")]
Db = Annotated[str | None, option("--db", metavar="FILE", help="The store (TOOLGATE_DB; default: HOME/.toolgate/toolgate.db).")]
Actor = Annotated[str | None, option("--actor", metavar="NAME", help="Who decides (TOOLGATE_ACTOR; default: the OS user).")]
Output = Annotated[Format | None, option("-o", "--output", help="Format of stdout (TOOLGATE_OUTPUT; default: auto).")]
JsonOutput = Annotated[bool, option("--json", help="The same as -o json.")]
UseColor = Annotated[Color | None, option("--color", help="Colour (NO_COLOR, FORCE_COLOR, TERM=dumb; default: auto).")]
Quiet = Annotated[bool, option("-q", "--quiet", help="No notes and no next: lines on stderr.")]
Verbose = Annotated[bool, option("-v", "--verbose", help="Show where an internal fault was.")]


def frame(
    home: Home = None,
    db: Db = None,
    actor: Actor = None,
    output: Output = None,
    json: JsonOutput = False,
    color: UseColor = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> Frame:
    """Its parameters are the options that every command has."""
    return Frame(home, db, actor, output, json, color, quiet, verbose)


# ---- what a command is about ----
RunId = Annotated[str, Argument(metavar="RUN", help="A run: its id, or its first 4 (deciding: 8) characters or more.")]
AskedRun = Annotated[str | None, Argument(metavar="RUN", help="A run: its id, or its first 8 characters or more.")]
MaybeRun = Annotated[str | None, Argument(metavar="[RUN]", help="Only this run.")]
Words = Annotated[
    list[str] | None,
    Argument(metavar="[RUN] [CALL]", help="A call, its ref, or a run; none: the only call that waits."),
]
StepPath = Annotated[str | None, option("--step", metavar="STEP", help="The step gate or escalation that the run waits for.")]
FromStep = Annotated[str | None, option("--step", metavar="STEP", help="The top-level step from which the run is driven again.")]

# ---- how it is decided ----
Reason = Annotated[str | None, option("-m", "--reason", "--note", metavar="TEXT", help="Why; it is recorded.")]
Yes = Annotated[bool, option("-y", "--yes", help="Decide without a question.")]
NoInput = Annotated[bool, option("--no-input", help="Never ask; where a question would be needed, fail.")]
MayRunTwice = Annotated[bool, option("--may-run-twice", help="Start a call although an earlier start may have taken effect.")]
Arguments = Annotated[
    str | None, option("--arguments", metavar="FILE", help="Run the call with the JSON object in this file instead; - is stdin.")
]
ExitStatus = Annotated[bool, option("--exit-status", help="Exit 8 when a person is needed.")]

# ---- what is looked at ----
MOST: Final = 1_000_000  # of anything that is listed
Limit = Annotated[int, option("--limit", least=1, most=MOST, metavar="N", help="At most so many.")]
