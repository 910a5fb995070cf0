"""What a plug-in's `Fields` may say about a field beside its type: `Annotated[str, Names("block")]`; the load checks are made from it.

A marker applies to every text in the field: to the value itself, to the items of a list, to the values of a mapping
(`Annotated[dict[str, str], Names("block")]`), unless it says `of="keys"`; `When` and `Schema` are of the whole value. A plug-in's
fields are plain types:
`str`, `bool`, `int`, `float`, `Json`, `Literal[...]`, `tuple[T, ...]`, `Mapping[str, T]` or `dict[str, T]`, `T | None`, another annotated
NamedTuple for a table inside the table. A field without a default is required.
"""

from __future__ import annotations

from typing import Literal

from .values import NamedTuple

RESERVED_NAMES: tuple[str, ...] = ("end", "continue", "fail")  # what an arm of a branch may say instead of a block
RESERVED_PREFIXES: tuple[str, ...] = ("inputs.", "tool.", "loop.", "user.", "__")  # of keys that no command, answer or assignment may write

HIDDEN = "__"  # how keys begin that the program keeps for itself: nobody is shown them


class Names(NamedTuple):
    """The text is the name of something that must exist; `earlier step`: one that stands before this one in its sequence and can be run
    again. `or_words`: the reserved words `end`, `continue`, `fail` are allowed as well."""

    what: Literal["block", "form", "agent", "tool", "step", "earlier step", "workflow"]
    or_words: bool = False
    of: Literal["values", "keys"] = "values"


class Key(NamedTuple):
    """The text is a context key that the step writes. `any_word`: "*" is allowed and means every key."""

    of: Literal["values", "keys"] = "values"
    any_word: bool = False


class Reads(NamedTuple):
    """The text is a context key that the step reads. `any_word`: "*" is allowed and means every key; `outputs`: `steps.ID` is allowed and
    means the output of that step."""

    any_word: bool = False
    outputs: bool = False


class Presumed(NamedTuple):
    """What counts where the field is not written and the field `beside` it says `word`: it is shown, the plug-in itself keeps to it."""

    value: int
    beside: str
    word: str


class Duration(NamedTuple):
    """The text is a duration ("250ms", "30s", "5m", "4h", "14d"); the plug-in gets it as `float` seconds (annotate `float`)."""


class Path(NamedTuple):
    """The text is the path of a file, relative to the home, that must not lead out of it."""


class Pointer(NamedTuple):
    """The text is a JSON pointer."""


class Pattern(NamedTuple):
    """The text is a pattern of names: `*` within a segment, `**` across segments."""

    of: Literal["tool"] = "tool"


class Between(NamedTuple):
    """The number, or the length of the text or list, is in these bounds, both ends included; None = no bound."""

    least: float | None = None
    most: float | None = None


class Secret(NamedTuple):
    """`${secret.NAME}` may stand in the text, and nowhere else: the plug-in fills it when it is called, with what it is handed then."""


class Filled(NamedTuple):
    """References `${...}` in this field are filled by `View.fill`; they are checked when the file is loaded, as in every text of a step."""


class When(NamedTuple):
    """The value is a list of conditions on context values, `{ key = "decision", at = "/x", eq = "refund" }`; read by `guards.read`."""


class Schema(NamedTuple):
    """The value is a JSON Schema."""


class Defect(NamedTuple):
    """What is wrong with the fields of a step together, from its kind's `check`, of a tool from its provider's, or with a file
    that a model plays, from its adapter's.
    `path`: of keys and indices inside that table."""

    path: tuple[str | int, ...]
    text: str
    hint: str = ""
