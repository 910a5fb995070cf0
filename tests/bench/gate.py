"""What the gate itself costs one call in a running process, in bare validations of the same arguments by jsonschema.

`python -m tests.bench gate [N]` lets N calls (10,000) in and prints how many times the median of a validation (a `Draft202012Validator`
that stays) the median of the gate's own work is, with a policy of a few rules and with one of 300. Fails over a goal.

The work counts from where the text of a call comes in to where its claim stands: strict JSON, canonical bytes and digests, resolve,
authorise, validate, the schema's defaults, policy, the references of the command line, limits, and every statement in the store and event
of the chain that goes with them (call, REQUESTED, attempt, STARTED, the start that the run reserves). It is judged as the product judges
it: when it comes in, and again when it is to be started. No two calls are the same, so nothing that was found out of one spares another
its validation.

A hundred calls share a transaction in a real database, which is open before the clock starts and is taken back in the end: so BEGIN, the
kept head, COMMIT and its fsync are not in the figure, and neither is what a call does. Behind each call its arguments are validated, so
both find the processor as a process at work leaves it; in a loop that does nothing else a validation takes two thirds of that.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator

import toolgate_cli.cli.main  # noqa: F401  # it sets the collector of every command, so of both here
from toolgate_cli import bootstrap
from toolgate_cli.core.cursor import Frame
from toolgate_cli.core.intents import Asked, CallTools
from toolgate_cli.core.records import Definition, Run
from toolgate_cli.core.world import Needs
from toolgate_cli.host.mint import RandomMint
from toolgate_cli.runtime import batch, ownership, place
from toolgate_cli.runtime.engine import Engine
from toolgate_cli.runtime.work import Invoke
from toolgate_cli.settings import person, settings
from toolgate_cli.stores.sqlite import SqliteStore

CALLS = 10_000
TURN = 100  # calls in one transaction; those of the first are not counted
MOST = {4: 5.0, 300: 10.0}  # rules -> bare validations that one call may cost
NAME = "payments.transfer.create"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["account", "amount", "currency", "reference", "recipient"],
    "additionalProperties": False,
    "properties": {
        "account": {"type": "string", "pattern": "^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$"},
        "amount": {"type": "integer", "minimum": 1, "maximum": 1_000_000},
        "currency": {"type": "string", "enum": ["EUR", "CHF", "GBP", "USD"]},
        "reference": {"type": "string", "pattern": "^[A-Za-z0-9 .-]+$", "maxLength": 140},
        "recipient": {
            "type": "object",
            "required": ["name", "country"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": 70},
                "country": {"type": "string", "pattern": "^[A-Z]{2}$"},
            },
        },
        "urgent": {"type": "boolean", "default": False},
    },
}
TOOLS = f"""
schema = 1
[tools."{NAME}"]
title = "pay ${{args.amount}} ${{args.currency}}"
safety = "write"
permission = "payments.write"
input_schema_file = "schema.json"
[tools."{NAME}".command]
argv = ["true", "--from", "${{args.account}}", "--about", "${{args.reference}}"]
[context]
permissions = {{ "*" = ["payments.write"] }}
"""
FEW = (
    ("deny", "payments.**", '{ arg = "/amount", gt = 500000 }'),
    ("require_approval", "payments.transfer.*", '{ arg = "/currency", ne = "EUR" }, { arg = "/recipient/country", ne = "DE" }'),
    ("require_approval", "payments.**", '{ arg = "/urgent", eq = true }'),
    ("allow", NAME, '{ arg = "/amount", le = 500000 }'),
)
# with many rules one of ten is about the tool and asks for its arguments; the others are about other tools, three about each
OTHERS = ("area{}.thing.do", "area{}.*.do", "area{}.**")


class _Undone(Exception):  # no error: the transaction is taken back
    """The call was let in, and nothing of it is kept."""


def rules(number: int) -> Iterator[tuple[str, str, str]]:
    """Decision, pattern and conditions of so many."""
    yield from FEW
    for at in range(number - len(FEW)):
        decision = ("allow", "require_approval", "deny")[at % 3]
        if at % 10:
            yield decision, OTHERS[at % 3].format(at // 3), f'{{ arg = "/amount", gt = {at} }}'
        else:
            yield ("require_approval", "deny")[at % 20 // 10], "payments.**", f'{{ arg = "/recipient/name", eq = "nobody {at}" }}'


def home(folder: str, number: int) -> str:
    """A home whose policy has so many rules."""
    path = os.path.join(folder, f"home-{number}")
    os.mkdir(path)
    Path(path, "schema.json").write_text(json.dumps(SCHEMA))
    policy = (
        f'[[policy.rules]]\nname = "rule-{at}"\ndecision = "{decision}"\ncapability = "{pattern}"\nwhen = [{when}]\n'
        for at, (decision, pattern, when) in enumerate(rules(number))
    )
    others = (f'[tools."area{at}.thing.do"]\ninput_schema = "any-object"\ncommand.argv = ["true"]\n' for at in range(number // 3))
    Path(path, "toolgate.toml").write_text(TOOLS + "".join(others) + "".join(policy))
    return path


def arguments(number: int) -> dict[str, Any]:
    """Those of the call of that number; they are valid."""
    return {
        "account": f"DE{number % 90 + 10}AAAA{number:014d}",
        "amount": number % 400_000 + 1,
        "currency": "EUR",
        "reference": f"invoice 2026-{number:06d} of the second quarter",
        "recipient": {"name": f"Somebody {number}", "country": "DE"},
    }


class Taken(NamedTuple):
    """Seconds from the text of a call to its claim, of one validation of its arguments, and those of the first that SQLite took."""

    gate: float
    bare: float
    stored: float


class Timed:
    """A connection that counts the seconds of its statements."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.seconds = 0.0

    def execute(self, *asked: Any) -> Any:
        return self._counted(self._connection.execute, asked)

    def executemany(self, *asked: Any) -> Any:
        return self._counted(self._connection.executemany, asked)

    def _counted(self, run: Callable[..., Any], asked: tuple[Any, ...]) -> Any:
        began = time.perf_counter()
        try:
            return run(*asked)
        finally:
            self.seconds += time.perf_counter() - began


class Gate:
    """The product over a home, with a run that asks for calls."""

    def __init__(self, path: str) -> None:
        chosen = settings({"home": path}, {})
        ports = bootstrap.ports(chosen, SqliteStore(chosen.db, RandomMint()))
        self.engine = Engine(ports, person(chosen, "os"), ports.files.world(), ())
        self.validator = Draft202012Validator(SCHEMA)
        self.engine.prepare(Needs(tools=(NAME,), schemas=(NAME,)))
        with self.engine.write() as unit:
            owner = ownership.mine(ports)
            self.run = Run("r1", "one", "0", chosen.actor, "RUNNING", "[]", 1, owner, 0, 0, None, unit.now, unit.now)
            tool = self.engine.world.ready[NAME]  # an earlier call has stored its definition
            unit.tx.add([Definition("0", "workflow", "{}"), Definition(tool.digest, "tool", tool.definition)])
            unit.begin(self.run)
            unit.record("RUN_STARTED", self.run, {})

    def calls(self, numbers: Iterable[int], *, timed: bool = False) -> Iterator[Taken]:
        """`timed`: the seconds in SQLite too, which costs a call some more."""
        with suppress(_Undone), self.engine.write() as unit:
            tx: Any = unit.tx
            connection = Timed(tx._connection)
            if timed:
                tx._connection = connection
            run = unit.run(self.run.id)
            assert run is not None
            for number in numbers:
                given = arguments(number)
                asked = CallTools((Asked(NAME, json.dumps(given), "it is due", "call-1", raw=True),))
                connection.seconds = 0.0
                began = time.perf_counter()
                frame, needs = batch.open_batch(unit, run, Frame(""), "pay", asked, self.engine.world)
                started, following = batch.go_on(unit, run, frame, self.engine.world)
                place.put(unit, started, run.version)
                unit.flush()
                claimed = time.perf_counter()
                self.validator.validate(given)
                yield Taken(claimed - began, time.perf_counter() - claimed, connection.seconds)
                assert needs is None and isinstance(following, Invoke), following
                tx.finish(following.claim.attempt)
                run = run._replace(version=run.version + 1)
            raise _Undone


def compare(folder: str, number: int, calls: int) -> Taken:
    """The medians of so many calls, and of some more in SQLite."""
    gate = Gate(home(folder, number))
    taken = [each for first in range(0, calls + TURN, TURN) for each in gate.calls(range(first, first + TURN))][TURN:]
    stored = [each.stored for _ in range(10) for each in gate.calls(range(TURN), timed=True)]
    return Taken(median(each.gate for each in taken), median(each.bare for each in taken), median(stored))


def main(words: list[str]) -> int:
    calls = next((int(word) for word in words if word.isdigit()), CALLS)
    met = True
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = os.path.join(folder, "state")
        for number, most in MOST.items():
            ours, bare, stored = compare(folder, number, calls)
            found = ours / bare
            met = met and found <= most
            sys.stdout.write(
                f"{number} rules: {ours * 1e6:.0f} us a call, {stored * 1e6:.0f} of them in SQLite; a bare validation {bare * 1e6:.0f} us: "
                f"{found:.2f}x (goal {most:g}x{'' if found <= most else ': MISSED'})\n"
            )
            sys.stdout.flush()
    return 0 if met else 1
