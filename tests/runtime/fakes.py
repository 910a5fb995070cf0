"""What stands outside of a desk, as a test sets it: time, ids, processes that live and die, tools, models, and a step kind that pauses."""

from __future__ import annotations

import base64
import hashlib
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

from toolgate_cli.core import durations
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.intents import Continued, Done, Intent, Pause, View
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.turns import Completion, TurnRequest
from toolgate_cli.core.types import Json
from toolgate_cli.runtime.plugs import Answer, InvokeLimits, StepKind

OK = ToolResult("answered", ok=True, code=0, output='"done"', size=6)
FAILED = ToolResult("answered", ok=False, code=1, message="it failed")
LOST = ToolResult("uncertain", message="timed out after 1s")
UNSENT = ToolResult("not_dispatched", message="could not be started")
PERMANENT = ToolResult("answered", ok=False, code=64, message="never")
ASKS = ToolResult("answered", ok=False, code=70, output='{"question":"Pay?","state":1}', message="exit code 70")
DECLINED = ToolResult("answered", ok=False, code=3, message="no money")


class Killed(BaseException):
    """A process ended here as by kill -9: nothing that it would have done afterwards happens."""


class Wrong(BaseException):
    """What a test expected while a tool ran is not so; an ordinary exception would count as the tool's own end."""


class Clock:
    """Stands still but for a millisecond with every look; `sleep` and `pass_time` move it. `behind`: seconds that it is set back."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.behind = 0.0
        self.slept: list[float] = []
        self.while_asleep: Callable[[], object] | None = None

    def now(self) -> str:
        self.seconds += 0.001
        return durations.later("2026-01-31T12:00:00.000Z", self.seconds - self.behind)

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        if self.while_asleep is not None:
            self.while_asleep()

    def pass_time(self, seconds: float) -> None:
        self.seconds += seconds


class Mint:
    """Ids that look random and are the same in every run; `next_ids` come first."""

    def __init__(self, seed: str = "") -> None:
        self._seed = seed
        self._made = itertools.count(1)
        self.next_ids: list[str] = []

    def id(self, letter: str) -> str:
        if self.next_ids and self.next_ids[0].startswith(letter):
            return self.next_ids.pop(0)
        return letter + base64.b32encode(self._bytes()).decode().lower()[:13]

    def salt(self) -> str:
        return self._bytes().hex()[:32]

    def jitter(self) -> float:
        return 0.5

    def _bytes(self) -> bytes:
        return hashlib.sha256(f"{self._seed}{next(self._made)}".encode()).digest()


class Host:
    """Which owners live and which fences are held; `killed` are calls whose process tree was killed."""

    def __init__(self) -> None:
        self.living: set[str] = set()
        self.held: set[str] = set()
        self.killed: list[str] = []
        self.inside: str | None = None
        self.interrupted: BaseException | None = None  # of the process that asks, swallowed on its way
        self.count = 0


class Owner:
    """`ports.Owners` of one process on the host; its lock is taken on first use, as a real one is."""

    def __init__(self, host: Host, outside: Callable[[str], None], where: tuple[str, str] = ("here", "boot")) -> None:
        self._host = host
        self._outside = outside
        self._where = where
        host.count += 1
        self.name = f"o{host.count:013d}"
        self.taken = False

    def mine(self) -> str:
        if not self.taken:
            self._outside("taking the owner's lock")
            self.taken = True
            self._host.living.add(self.name)
        return self.name

    def alive(self, name: str, host: str, boot: str) -> bool | None:
        return name in self._host.living if (host, boot) == self._where else None

    def at_work(self) -> dict[int, str]:
        return {int(name[1:]): name for name in self._host.living}

    def place(self) -> tuple[str, str]:
        return self._where

    def left_behind(self, name: str | None) -> bool:
        return name in self._host.held

    def session(self, name: str | None) -> tuple[int, int, str] | None:
        return None

    def left_over(self) -> tuple[str, ...]:
        return ()

    def forget(self, name: str) -> None:
        assert name not in self._host.living, "the lock of a living owner was removed"


class Processes:
    """`ports.Processes`."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.above: tuple[int, ...] = ()

    def kill_call(self, call_id: str, before: float | None = None, session: tuple[int, int, str] | None = None) -> tuple[str, ...]:
        self._host.killed.append(call_id)
        return ()

    def ancestors(self) -> tuple[int, ...]:
        return self.above

    def heed(self) -> None:
        if self._host.interrupted is not None:
            raise self._host.interrupted

    def inside_call(self) -> str | None:
        return self._host.inside


class Started(NamedTuple):
    """One start of a tool, as the provider saw it. `process`: who called."""

    capability: str
    call: str
    key: str
    arguments: str
    limits: InvokeLimits
    process: Any
    answer: Answer | None = None


class Tools:
    """The world of the tools: `plan` says, by capability, how the next starts end (a result, or what computes one); then all is well."""

    def __init__(self) -> None:
        self.starts: list[Started] = []
        self.plan: dict[str, list[ToolResult | Callable[[Started], ToolResult]]] = {}
        self.asked: list[tuple[str, Started]] = []  # probes, by name
        self.answers: dict[str, list[ToolResult | Callable[[Started], ToolResult]]] = {}

    def invoke(self, started: Started) -> ToolResult:
        self.starts.append(started)
        left = self.plan.get(started.capability, [])
        how = left.pop(0) if left else OK
        return how if isinstance(how, ToolResult) else how(started)

    def ask(self, name: str, started: Started) -> ToolResult:
        """A probe answers as `answers` say, by its name; then with nothing, and exit 0."""
        self.asked.append((name, started))
        left = self.answers.get(name, [])
        how = left.pop(0) if left else ToolResult("answered", ok=True, code=0)
        return how if isinstance(how, ToolResult) else how(started)

    def names(self) -> list[str]:
        return [started.capability for started in self.starts]


class Models:
    """Every model: `turns` are commands by step, one list a turn (or what computes it), or a whole answer."""

    def __init__(self) -> None:
        self.asked: list[TurnRequest] = []
        self.turns: dict[str, list[Any]] = {}

    def complete(self, request: TurnRequest) -> Completion:
        self.asked.append(request)
        turns = self.turns.get(request.step, [])
        if request.ordinal >= len(turns):
            raise ToolgateError("failed", f"no turn {request.ordinal} of {request.step}")
        turn = turns[request.ordinal]
        said = turn(request) if callable(turn) else turn
        return said if isinstance(said, Completion) else Completion(said)


def call(capability: str, **arguments: Json) -> dict[str, Json]:
    return {"type": "tool_invocation", "capability": capability, "arguments": arguments}


COMPLETE: dict[str, Json] = {"type": "complete", "output": "over"}


class Pausing:
    """The kind `fail`, but a reason that begins with "pause" pauses, and goes on when it is continued; "break" breaks."""

    def __init__(self, real: StepKind) -> None:
        self._real = real
        self.Fields = real.Fields
        self.ENDS = getattr(real, "ENDS", False)

    def plan(self, step: Any, view: View) -> Intent:
        if step.reason.startswith("break"):
            raise LookupError("a fault of the step kind")
        if not step.reason.startswith("pause"):
            return self._real.plan(step, view)
        return Done() if isinstance(view.arrived, Continued) else Pause(step.reason)
