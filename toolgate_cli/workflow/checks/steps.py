"""What a step names, writes and reads, told from the markers of its kind's `Fields`: what the checks of ways and of data go by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...core import patterns, references
from ...core.config import Config
from ...core.errors import ToolgateError
from ...core.fields import RESERVED_NAMES, Key, Names, Reads, When
from ...core.marks import Marked, held, marked
from ...core.types import Json
from ...core.values import NamedTuple
from .. import models, shapes
from ..kinds import Kinds
from ..positions import KeyPath
from .tools import texts

ANY = "*"  # as a key: every key
NOT_FILLED = ("id", "type", "gate", shapes.CONDITIONS)  # keys of a step whose texts are no templates

Sequences = Mapping[str, "tuple[KeyPath, list[Json]]"]


class Told(NamedTuple):
    """One step. `arms`: what its choice leads to, blocks and reserved words; () where it chooses nothing; `runs`: block -> whether it may
    run more than once; `replays`: earlier steps that it may run again; `ends`: nothing behind it is reached, by its kind alone."""

    id: str
    path: KeyPath
    arms: tuple[str, ...]
    runs: Mapping[str, bool]
    replays: tuple[str, ...]
    ends: bool
    writes: frozenset[str]
    reads: tuple[tuple[str, KeyPath], ...]
    talks: bool  # it goes on after it has written, so it may read what it wrote itself


def told(sequences: Sequences, forms: Mapping[str, Json], config: Config, kinds: Kinds) -> dict[str, list[Told]]:
    """Every step of a file without errors, by its sequence."""
    return {
        name: [_step(step, (*path, number), forms, config, kinds) for number, step in enumerate(steps) if isinstance(step, dict)]
        for name, (path, steps) in sequences.items()
    }


def written(raw: Mapping[str, Json], config: Config, kinds: Kinds) -> frozenset[str]:
    """Every key that a workflow may write; its file may still be wrong."""
    blocks, forms = raw.get("blocks"), raw.get("forms")
    sequences = [raw.get("steps"), *(blocks.values() if isinstance(blocks, dict) else ())]
    found: set[str] = set()
    for step in (each for steps in sequences if isinstance(steps, list) for each in steps if isinstance(each, dict)):
        if (kind := step.get("type")) not in kinds.step_kinds() or step.get("share") is True:
            return frozenset((ANY,))
        there = tuple(marked(kinds.step_kind(str(kind)).Fields, step))
        found.update(_writes(str(step.get("id")), there, forms if isinstance(forms, dict) else {}, config))
    return frozenset(found)


def _step(step: dict[str, Json], path: KeyPath, forms: Mapping[str, Json], config: Config, kinds: Kinds) -> Told:
    kind = kinds.step_kind(str(step["type"]))
    found = tuple(marked(kind.Fields, step, path))
    named = [(marker, each) for each in found if isinstance(marker := each.marker, Names)]
    blocks = [(marker, each) for marker, each in named if marker.what == "block"]
    own = set(step) - {*models.names(shapes.Common), shapes.CONDITIONS}  # one key alone says no more than which block
    arms = tuple(each.text for marker, each in blocks if marker.or_words)
    return Told(
        id=str(step["id"]),
        path=path,
        arms=(*arms, "continue") if arms and shapes.CONDITIONS in step else arms,
        runs={
            each.text: not marker.or_words and len(own) > 1
            for marker, each in blocks
            if not (marker.or_words and each.text in RESERVED_NAMES)
        },
        replays=tuple(each.text for marker, each in named if marker.what.endswith("step")),
        ends=bool(getattr(kind, "ENDS", False)) and shapes.CONDITIONS not in step,
        writes=frozenset((*_writes(str(step["id"]), found, forms, config), *((ANY,) if step.get("share") is True else ()))),
        reads=(*_reads(step, found, path), *_conditions(kind.Fields, step, path)),
        talks=any(marker.what == "agent" for marker, _ in named),
    )


def _writes(id: str, found: tuple[Marked, ...], forms: Mapping[str, Json], config: Config) -> Iterator[str]:
    yield f"steps.{id}"
    for marker, _, text in found:
        if isinstance(marker, Key):
            yield text
        elif isinstance(marker, Names) and marker.what == "form":
            items = forms.get(text)
            yield from (f"{text}.{item.get('id')}" for item in (items if isinstance(items, list) else ()) if isinstance(item, dict))
        elif isinstance(marker, Names) and marker.what == "tool":
            yield from _results(text)
        elif isinstance(marker, Names) and marker.what == "agent":
            if text not in config.agents:  # of another file, which is told there
                yield ANY
                continue
            allowed = config.agents[text].tools
            yield from (key for tool in config.tools if any(patterns.matches(one, tool) for one in allowed) for key in _results(tool))
        elif isinstance(marker, Names) and not marker.what.endswith(("block", "step", "workflow")):
            yield ANY  # something that this check knows nothing of may write anything


def _results(tool: str) -> tuple[str, str]:
    return f"tool.{tool}", f"tool.{tool}.error"


def _reads(step: Mapping[str, Json], found: tuple[Marked, ...], path: KeyPath) -> Iterator[tuple[str, KeyPath]]:
    for marker, where, text in found:
        if isinstance(marker, Reads) and not (marker.any_word and text == ANY):
            yield text.partition("#")[0], where
    for where, text in texts({key: value for key, value in step.items() if key not in NOT_FILLED}, path):
        try:
            names = references.names(text)
        except ToolgateError:
            continue  # of a text that is no template: it was looked at as what it is
        yield from ((name.partition("#")[0], where) for name in names)


def _conditions(fields: type, step: Mapping[str, Json], path: KeyPath) -> Iterator[tuple[str, KeyPath]]:
    lists = [((*path, shapes.CONDITIONS), step.get(shapes.CONDITIONS, []))]
    lists += [(each.path, each.value) for each in held(fields, step, path) if isinstance(each.marker, When)]
    for where, listed in lists:
        for number, table in enumerate(listed if isinstance(listed, list) else []):
            if isinstance(table, dict):
                yield str(table["key"]), (*where, number, "key")
