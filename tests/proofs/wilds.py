"""Grown workflows in a world that keeps none of its promises: tools and models fail in every way, files are edited, broken and removed
between two verbs, people say what they like. Whatever that leads to, what the program itself names as next has to move the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.runtime import texts
from tests.runtime.fakes import COMPLETE, DECLINED, FAILED, LOST, OK, PERMANENT, UNSENT, Started
from tests.runtime.kit import Home, dies
from tests.runtime.states import obey
from tests.runtime.watch import Dump
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.turns import Completion, TurnRequest
from toolgate_cli.runtime import looking, standing

from . import growing
from .living import PATIENCE, Effects, Voices, answer, dice

ACTS = 30  # verbs while the world is bad
MOST = 250  # verbs that people may need to bring a run to its end in a good one
EMPTY = (ToolResult("answered", ok=True, code=0, output="", size=0), ToolResult("answered", ok=True, code=0, output='""', size=2))
ENDS: tuple[Any, ...] = (OK, OK, FAILED, LOST, DECLINED, PERMANENT, UNSENT, dies, *EMPTY)
LIES = ("wrong_state", "not_found", "internal", "usage", "ambiguous")  # kinds of refusal that a verb named as next must never have
BROKEN = ("schema = ", "[[steps]]\nid = 1\n")
Edit = Callable[["Wild"], None]


def operator(*, without: str = "", about: str = "", rule: str = "", more: str = growing.AGENTS) -> str:
    tools = {without: ""} if without else {"free.send": texts.tool("free.send", about=about)} if about else {}
    return texts.operator(tools=tools, rules={"late": rule}, more=more)


def _spoil(name: str, text: str | None) -> Edit:
    def edit(wild: Wild) -> None:
        if text is None:
            (wild.home.folder / name).unlink(missing_ok=True)
        else:
            (wild.home.folder / name).write_text(text)

    return edit


EDITS: tuple[Edit, ...] = (
    *(_spoil("toolgate.toml", operator(without=name)) for name in ("free.send", "ask.send", "idem.put")),
    *(_spoil("toolgate.toml", operator(about=about)) for about in ("another", "a third")),
    _spoil("toolgate.toml", operator(rule=texts.rule("ask.*", "deny", 'reason = "not now"'))),
    _spoil("toolgate.toml", operator(rule=texts.rule("**", "require_approval"))),
    _spoil("toolgate.toml", operator(more="")),  # two of the agents are gone
    *(_spoil("toolgate.toml", text) for text in (*BROKEN, None)),
    *(_spoil(file, text) for file in ("w0.toml", "w1.toml") for text in (*BROKEN, None)),
    *(_spoil(file, text) for file in growing.DATA for text in ("", "{", None)),
)  # fmt: skip


class Chaos(Effects):
    """Starts end as they like; `good`: well."""

    good = False

    def invoke(self, started: Started) -> ToolResult:
        self.starts.append(started)
        how = OK if self.good else dice(self._number, len(self.starts)).choice(ENDS)
        return how(started) if callable(how) else how  # type: ignore[no-any-return]  # `dies` never comes back


class Babel(Voices):
    """Models that answer with anything, or not at all; `good`: as they should, and soon that they are done."""

    good = False

    def complete(self, request: TurnRequest) -> Completion:
        if self.good:
            return Completion([COMPLETE if "complete" in request.commands else {"type": "say", "message": "x"}])
        chance = dice(self._number, "babel", request.path, request.ordinal)
        if chance.random() < 0.7:
            return super().complete(request)
        if chance.random() < 0.3:
            raise chance.choice((ToolgateError("failed", "it does not answer"), LookupError("a fault of the adapter")))
        texts = ("", "Sure!", "[]", "{", "[{}]", '[{"type": "fly"}]', '[{"type": "complete"}, {"type": "say", "message": "x"}]')
        said: tuple[Any, ...] = (*(Completion(text=text) for text in texts), Completion([COMPLETE], fault="it was cut off"))
        return chance.choice(said)


class Wild:
    """One run. `said`: what happened, for the message of a failure; `seen`: the states in which something was tried."""

    def __init__(self, folder: Path, store: str, number: int) -> None:
        self.chance, self.grown, self.number = dice(number, "wild"), growing.grow(number), number
        self.home = Home(folder, store, seed=str(number))
        self.tools, self.models = Chaos(number), Babel(number, mixed=True)
        self.home.tools, self.home.models = self.tools, self.models  # type: ignore[assignment]  # all that is asked of models
        self.said: list[str] = []
        self.seen: set[str] = set()
        self.mend()
        self._try(lambda: self.home.desk().start("w0", {}, {}))
        self.run = str(self.home.events(type="RUN_STARTED")[0].run_id)
        self.home.watch.committed = self._may_die

    def _may_die(self) -> None:
        if not self.tools.good and self.chance.random() < 0.04:
            self.home.processes[-1].die()

    def mend(self) -> None:
        """The files are as they were."""
        self.home.write(growing.OPERATOR, **self.grown.files)
        for name, text in growing.DATA.items():
            (self.home.folder / name).write_text(text)

    def play(self) -> str:
        """Acts in a bad world, and then its way to the end in a good one; the status at the end."""
        for _ in range(ACTS):
            if self.over() and not self._go_back():
                break
            for _ in range(self.chance.choice((0, 0, 1, 2))):
                self.chance.choice(EDITS)(self)
            if self.chance.random() < 0.5:
                self._anything()
            else:
                self.step()
        self.mend()
        self.tools.good = self.models.good = True
        for _ in range(MOST):
            if self.over():
                return self.home.run(self.run).status
            self.step()
        raise AssertionError(self.why("it does not come to an end"))

    def over(self) -> bool:
        self._try(lambda: self.home.desk().pending(None, 10), "look")  # what a dead process left is recorded by whoever looks
        status = self.home.run(self.run).status
        return status in ("COMPLETED", "FAILED", "CANCELLED") or (status == "PAUSED" and self._never_ends())

    def _never_ends(self) -> bool:
        """A loop until an agent says that it is done, where none is asked: more rounds of it are all that a person can have."""
        paused = [event.step_id or "" for event in self.home.events(self.run, "RUN_PAUSED")]
        until = self.grown.table(paused[-1])["repeat"]["until"]
        return until == "agent_done" and paused.count(paused[-1]) > PATIENCE

    def _go_back(self) -> bool:
        """To the step at which it failed, if somebody cares to and may."""
        run = self.home.run(self.run)
        if run.status != "FAILED" or self.chance.random() < 0.2:
            return False
        with self.home.store.read() as tx:
            command = standing.command(tx, run, None, standing.Moment("", self.home.desk()._ports))
        if command.startswith("toolgate start "):  # that would be another run
            return False
        self._try(lambda: obey(self.home, command), command)
        return not self.over()

    # ---- verbs ----
    def step(self) -> None:
        """What the program names as next moves the run, at once or once the files are whole again."""
        named = self.named()
        assert named, self.why("nothing is named as next")
        for mended in (False, True):
            for command in self.chance.sample(named, len(named)):
                if self._moves(command):
                    return
            if not mended:
                self.mend()
        raise AssertionError(self.why(f"nothing moves it: {named}"))

    def named(self) -> list[str]:
        home = self.home
        desk = home.desk()
        with home.store.read() as tx:
            run = tx.run(self.run)
            rows = tx.find_by_run(self.run)
            self.seen |= {standing.state(tx, run, row, standing.moment(tx, desk._ports)) for row in rows} or {run.status}
        advised = looking.answer(desk._ports, self.run, "continued").next
        # what nobody can mend is gone on without, as a refusal says beside the retry that it names
        without = [advice.command.replace(" retry ", " continue-tool ") for advice in advised if advice.first.startswith("mend")]
        return [advice.command for advice in advised] + without

    def _moves(self, command: str) -> bool:
        before = self._where()
        refusal = self._try(lambda: self._obey(command), command)
        assert refusal is None or refusal.kind not in LIES, self.why(f"{command} is named as next, and refused: {refusal}")
        return self._where() != before or self.said[-1].endswith("(killed)")  # then somebody tries again

    def _where(self) -> Dump:
        """How the run stands: what is told of it does not count."""
        return {name: table for name, table in self.home.dump().items() if name in ("runs", "pending", "attempts", "outcomes", "votes")}

    def _obey(self, command: str) -> object:
        words = command.split()
        if words[1] == "answer":
            desk = self.home.desk()
            target = desk.select_step(self.run, None, "answer")
            form: Any = target.form
            return desk.answer(target, {str(item["id"]): answer(item, self.chance) for item in form}, {})
        if words[1] in ("approve", "retry") and "--step" not in words:  # with no flag but those that it says
            desk, flag = self.home.desk(), "--may-run-twice" in words
            target = desk.select([words[2]], words[1])  # type: ignore[arg-type]  # a verb
            return (desk.approve if words[1] == "approve" else desk.retry)(target, may_run_twice=flag)
        return obey(self.home, command.removesuffix(" -m NOTE"))

    def _anything(self) -> None:
        """A verb that may or may not apply, as a person might say it."""
        home, chance = self.home, self.chance
        rows = home.rows(self.run)
        row = chance.choice(rows) if rows else None
        verb = chance.choice(("approve", "reject", "retry", "continue-tool", "review", "continue", "recover", "step", "retry --step"))
        if verb == "recover":
            self._try(lambda: home.desk().recover(None, None), verb)
        elif verb == "retry --step":
            top = chance.choice(self.grown.tops)
            self._try(lambda: home.desk().retry_step(self.run, top, may_run_twice=chance.random() < 0.5), f"{verb} {top}")
        elif verb in ("review", "continue"):
            self._try(lambda: obey(home, f"toolgate {verb} {self.run}"), verb)
        elif verb == "step" and row is not None:
            way = chance.choice(("approve", "reject"))
            self._try(lambda: obey(home, f"toolgate {way} {self.run} --step {row.step}"), f"{way} --step")
        elif row is not None:
            more = " --outcome-file FILE" if verb == "continue-tool" and chance.random() < 0.4 else ""
            self._try(lambda: obey(home, f"toolgate {verb} {row.id}{more}"), verb)

    def _try(self, act: Callable[[], object], what: str = "start") -> ToolgateError | None:
        """Only a refusal may come of it, or the end of the process."""
        self.said.append(what)
        try:
            act()
        except ToolgateError as refusal:
            self.said[-1] += f" ({refusal.kind})"
            assert refusal.kind != "internal", self.why(str(refusal))
            return refusal
        except BaseException as ended:
            assert type(ended).__name__ == "Killed", self.why(repr(ended))
            self.said[-1] += " (killed)"
        return None

    def why(self, what: str) -> str:
        run = self.home.run(self.run) if self.run else None
        state = "" if run is None else f"{run.status} {run.cursor} {[(row.origin, row.step) for row in self.home.rows(self.run)]}"
        return "\n".join([f"WORKFLOW={self.number} on {self.home.kind}: {what}", state, "; ".join(self.said[-12:])])
