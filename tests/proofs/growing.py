"""Workflows that nobody wrote: every kind of step, nested as it comes, from a number; bounded, and mostly with a way to an end."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from tests.runtime import texts

Table = dict[str, Any]
WORDS = ("a", "b", "c", "")
BEGIN = {"w": "a", "n": 1, "k": 2, "l": ["a", "b"], "m": ["c"], "t": {"a": 1}}  # what is there from the first step on: key -> value
TOOLS = ("free.send",) * 3 + ("ask.send",) * 3 + ("idem.put",) * 2 + ("read.it", "unsafe.put", "deny.send")
KINDS = (
    ["tool"] * 5 + ["agent"] * 4 + ["block"] * 4 + ["branch"] * 3 + ["retry_previous"] * 4 + ["workflow"] * 2 + ["input"] * 2
    + ["assign"] * 2 + ["spar", "validate", "resource", "aggregate", "fail"]
)  # fmt: skip
DEEP = 3
FORMS = """
[[forms.ship]]
id = "street"
type = "TEXT"
label = "Street"
required = true
[[forms.ship]]
id = "w"
type = "SINGLE_CHOICE"
options = ["a", "b"]
label = "Which"
required = true
"""
AGENTS = """
[agents.once]
model = "default"
prompt = "x"
max_turns = 1
tools = ["free.*", "ask.*"]
[agents.judge]
model = "default"
prompt = "is it good?"
"""
OPERATOR = texts.operator(more=AGENTS)
DATA = {"data.json": '{"a": [1, 2]}', "note.txt": "a note"}  # files of the home that steps look at


class Grown(NamedTuple):
    """`files`: workflow id -> its text, "w0" is the one that is started; `steps`: id -> its table, no id is there twice; `tops`: ids of
    the steps of "w0" itself."""

    files: dict[str, str]
    steps: dict[str, Table]
    tops: list[str]

    def table(self, path: str) -> Table:
        return self.steps[path.rsplit("/", 1)[-1]]

    def gate(self, path: str) -> str:
        """What the step at a path declares."""
        return str(self.table(path).get("gate", "none"))

    def place(self, path: str) -> int:
        """Of its top-level step."""
        return self.tops.index(path.split("/")[0])


def grow(number: int) -> Grown:
    made = _Growing(random.Random(number))
    made.flow(0)
    return Grown(made.files, made.steps, made.tops)


class _Growing:
    def __init__(self, dice: random.Random) -> None:
        self.dice, self.left = dice, dice.randint(3, 16)
        self.files: dict[str, str] = {}
        self.steps: dict[str, Table] = {}
        self.tops: list[str] = []

    def flow(self, depth: int) -> str:
        id = f"w{len(self.files)}"
        self.files[id] = ""
        blocks: dict[str, list[Table]] = {}
        steps = [self._table("assign", set=BEGIN), *self._sequence(blocks, depth)]
        self.tops = [str(table["id"]) for table in steps]  # the last that comes to its end is the first that was begun
        self.files[id] = texts.flow(id, *steps, blocks=blocks, more=FORMS)
        return id

    def _table(self, kind: str, **fields: object) -> Table:
        table = texts.step(f"s{len(self.steps)}", kind, **fields)
        self.steps[str(table["id"])] = table
        return table

    def _sequence(self, blocks: dict[str, list[Table]], depth: int, *more: Table) -> list[Table]:
        steps: list[Table] = []
        for _ in range(self.dice.randint(1, 5 if depth == 0 else 3)):
            if self.left <= 0:
                break
            self.left -= 1
            steps.append(self._any(blocks, depth, steps))
        steps += more
        return steps or [self._assign()]

    def _any(self, blocks: dict[str, list[Table]], depth: int, before: list[Table]) -> Table:
        kind = self.dice.choice(KINDS)
        if (kind in ("block", "branch", "workflow") and depth >= DEEP) or (kind == "retry_previous" and not before):
            kind = "tool"
        table: Table | None = getattr(self, f"_{kind}")(blocks, depth, before) if kind in INSIDE else getattr(self, f"_{kind}")()
        table = table or self._tool()
        if kind != "fail" and self.dice.random() < 0.25:
            table["gate"] = self.dice.choice(("approval", "review"))
        if kind == "fail" or self.dice.random() < 0.12:
            table["if"] = [{"key": "w", "in": self.dice.sample(WORDS, 2 if kind != "fail" else 1)}]
        return table

    # ---- one of each kind ----
    def _tool(self) -> Table:
        text = f"{len(self.steps)} ${{w}}"
        more = {"save_as": "saved"} if self.dice.random() < 0.3 else {}
        return self._table("tool", tool=self.dice.choice(TOOLS), arguments={"text": text}, **more)

    def _agent(self) -> Table:
        return self._table("agent", agent=self.dice.choice(("clerk", "clerk", "once")), reads=["*"], writes=["*"], **self._retry())

    def _spar(self) -> Table:
        return self._table("spar", agent="clerk", challenger="once", max_rounds=2, reads=["w"], writes=["w"], **self._retry())

    def _retry(self) -> Table:
        if self.dice.random() < 0.4:
            return {}
        return {"retry": {"allow": self.dice.random() < 0.7, "allow_from_previous": True, "max_retries": self.dice.randint(1, 3)}}

    def _input(self) -> Table:
        return self._table("input", form="ship", writes=["w"] if self.dice.random() < 0.5 else [])

    def _assign(self) -> Table:
        values: Table = {"w": self.dice.choice((*WORDS, "${w}")), "n": self.dice.choice((1, 2, "${k}")), "note": "${w} and ${n}"}
        return self._table("assign", set=dict(self.dice.sample(list(values.items()), 2)))

    def _validate(self) -> Table:
        ways: tuple[Table, ...] = (
            {"require": {"keys": ["t"], "files": ["data.json"]}},
            {"schema": [{"by": {"type": "number"}, "key": "n"}]},
            {"equal": [{"key": "n", "file": "data.json", "at": "/a/0"}]},
            {"require": {"keys": ["nothing"]}},
        )
        return self._table("validate", **self.dice.choices(ways, (4, 4, 2, 1))[0])

    def _resource(self) -> Table:
        return self._table("resource", file=self.dice.choices((*DATA, "absent.txt"), (4, 4, 1))[0], save_as="loaded")

    def _aggregate(self) -> Table:
        operation, keys = self.dice.choice((("sum", "nk"), ("max", "nk"), ("count", "l"), ("concat", "lm"), ("merge", "t")))
        return self._table("aggregate", operation=operation, keys=[*keys], into="k" if operation == "sum" else "x")

    def _fail(self) -> Table:
        return self._table("fail", reason="no, says ${w}")

    # ---- those that hold or name others ----
    def _block(self, blocks: dict[str, list[Table]], depth: int, before: list[Table]) -> Table:
        until = self.dice.choice(("count", "agent_done", "evaluator", "each", None))
        at_max = self.dice.choice(("pause", "pause", "fail"))
        repeat: Table = {
            "count": {"max": 2},
            "agent_done": {"max": self.dice.randint(1, 3), "at_max": at_max},
            "evaluator": {"max": self.dice.randint(1, 3), "at_max": at_max, "evaluator": "judge"},
            "each": {"each": self.dice.choice(("l", "m")), "item": self.dice.choice(("w", "one")), "max": 1, "at_max": at_max},
        }.get(until or "", {})
        table = self._table("block", **({"repeat": {"until": until, **repeat}} if until else {}))
        speaks = [self._agent()] if until == "agent_done" else []
        table["block"] = self._name(blocks, self._sequence(blocks, depth + 1, *speaks))
        return table

    def _name(self, blocks: dict[str, list[Table]], steps: list[Table]) -> str:
        name = f"b{len(blocks)}"
        blocks[name] = steps
        return name

    def _branch(self, blocks: dict[str, list[Table]], depth: int, before: list[Table]) -> Table:
        table = self._table("branch")
        ways = ["continue", "end", *(self._name(blocks, self._sequence(blocks, depth + 1)) for _ in range(2))]
        if self.dice.random() < 0.5:
            names = [*self.dice.sample(("a", "b", "c"), 2), "*", ""]
            del names[4 if self.dice.random() < 0.9 else 3 :]
            table |= {"on": "w", "arms": {name: self.dice.choice(ways) for name in names}}
        else:
            when = self.dice.choice(({"key": "w", "eq": "a"}, {"key": "n", "gt": 1}, {"key": "t", "at": "/a", "exists": True}))
            table["cases"] = [{"when": [when], "to": self.dice.choice(ways)}, {"to": self.dice.choice(ways)}]
        return table

    def _workflow(self, blocks: dict[str, list[Table]], depth: int, before: list[Table]) -> Table:
        table = self._table("workflow")
        table["workflow"] = self.flow(depth + 1)
        table |= {"share": True} if self.dice.random() < 0.3 else {"inputs": {"text": "${w}"}, "outputs": {"w": "w"}}
        return table

    def _retry_previous(self, blocks: dict[str, list[Table]], depth: int, before: list[Table]) -> Table | None:
        first = next((n for n in range(len(before), 0, -1) if before[n - 1]["type"] in ("block", "workflow")), 0)
        targets = [one for one in before[first:] if one["type"] not in ("agent", "spar") or "retry" in one]
        if not targets:
            return None
        target, mode = self.dice.choice(targets)["id"], self.dice.choice(("single", "from"))
        table = self._table("retry_previous", step=target, mode=mode, max_retries=self.dice.randint(1, 2))
        if self.dice.random() < 0.6:
            table["fallback"] = self._name(blocks, self._sequence(blocks, depth + 1))
        return table


INSIDE = ("block", "branch", "workflow", "retry_previous")
