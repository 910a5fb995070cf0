"""A key that is read where nothing can have written it yet: most often it is misspelt, or written by a step that comes later."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..issues import Issues, meant, shorten
from .steps import ANY, Told

_GIVEN = ("inputs", "loop", "user", "args", "env", "secret")  # not written by steps, or not to be read: other checks look at these
MOST = 5000  # steps; what is larger was not written by hand


def check_data(
    steps: Mapping[str, Sequence[Told]], reached: Collection[str], inputs: Collection[str], shared: bool, issues: Issues
) -> None:
    """Warns. What may have been written is taken widely: by any earlier step of any way that leads here, and by later ones of a loop.
    `shared`: other workflows run this one in their own context, and may have written anything."""
    if not shared and sum(map(len, steps.values())) <= MOST:
        _Data(steps, inputs, issues).check(reached)


class _Data:
    def __init__(self, steps: Mapping[str, Sequence[Told]], inputs: Collection[str], issues: Issues) -> None:
        self._steps = steps
        self._inputs = frozenset(f"inputs.{name}" for name in inputs)
        self._issues = issues
        self._all: dict[str, frozenset[str]] = {}  # sequence -> what it may write, blocks inside included
        self._before: dict[str, set[str]] = {name: set() for name in steps}

    def check(self, reached: Collection[str]) -> None:
        for name in self._outside_in():
            if name in reached:
                self._walk(name)

    def _outside_in(self) -> list[str]:
        """Every sequence behind those that lead to it; there are no circles."""
        found: dict[str, None] = {}

        def visit(name: str) -> None:
            if name not in found:
                for step in self._steps[name]:
                    for block in step.runs:
                        visit(block)
                found[name] = None

        visit("")
        return [*reversed(found)]

    def _walk(self, name: str) -> None:
        written = set(self._before[name])
        again = self._replayed(name)
        for index, step in enumerate(self._steps[name]):
            here = written | again[index] if again[index] else written
            for key, path in step.reads:
                if not (is_there(key, here) or (step.talks and is_there(key, step.writes))):
                    self._warn(key, path)
            for block, repeated in step.runs.items():
                self._before[block] |= here | step.writes | (self._of(block) if repeated else frozenset())
            written |= self._after(step)

    def _replayed(self, name: str) -> list[set[str]]:
        """For every step of a sequence, what steps behind it may have written when it runs once more."""
        steps = self._steps[name]
        found: list[set[str]] = [set() for _ in steps]
        places = {step.id: index for index, step in enumerate(steps)}
        for end, step in enumerate(steps):
            for target in step.replays:
                start = places.get(target, end)
                written = set().union(*(self._after(each) for each in steps[start : end + 1]))
                for index in range(start, end + 1):
                    found[index] |= written
        return found

    def _after(self, step: Told) -> frozenset[str]:
        return step.writes.union(*(self._of(block) for block in step.runs))

    def _of(self, name: str) -> frozenset[str]:
        if name not in self._all:
            self._all[name] = frozenset().union(*(self._after(step) for step in self._steps[name]))
        return self._all[name]

    def _warn(self, key: str, path: tuple[int | str, ...]) -> None:
        known = self._of("")
        if is_there(key, known):
            self._issues.warn(path, f"{key} is read before anything can have written it", "it is written further on")
        else:
            near = meant(key, known | self._inputs)
            hints = [near] if near.startswith("did you mean") else []
            if key.partition(".")[0] not in ("steps", "tool") and (may := self._could_write()) is not None:
                hints.append(f'the step {may} writes only what it declares: writes = ["{shorten(key)}"]')
            self._issues.warn(path, f"nothing writes {key}", " or: ".join(hints))

    def _could_write(self) -> str | None:
        """The id of the only step that writes what an agent says."""
        talking = [step.id for steps in self._steps.values() for step in steps if step.talks]
        return talking[0] if len(talking) == 1 else None


def is_there(key: str, written: Collection[str]) -> bool:
    """Whether a key may have a value where these are written."""
    if key.partition(".")[0] in _GIVEN or ANY in written:
        return True
    return (f"steps.{key.rpartition('/')[2].removeprefix('steps.')}" if key.startswith("steps.") else key) in written
