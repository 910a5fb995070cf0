"""A home whose tool writes down every effect outside the store, and a workflow with one step of every kind that can be interrupted."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import peer, served

TOOL = r"""
import os, signal, sys, time

def note(name):
    log = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(log, (os.environ["TOOLGATE_CALL"] + "\n").encode())
    os.fsync(log)
    os.close(log)
    return open(name).read().split().count(os.environ["TOOLGATE_CALL"])

mode = open("mode").read().split()
tries = note("tries.log")
if mode[0] == "ask" and "TOOLGATE_ANSWER" not in os.environ:
    print('{"question": "is ann right", "state": {"to": "ann"}}')
    sys.exit(70)
if mode[0] == "fail" or (mode[0] == "fail-once" and tries == 1):
    sys.exit(1)
if mode[0] == "sleep":
    time.sleep(float(mode[1]))
if mode[0] == "child" and os.fork() == 0:  # of the same tree, but not tied to the life of the gate
    open("child.pid", "w").write(str(os.getpid()))
    time.sleep(float(mode[1]))
    os._exit(0)
if mode[0] == "escape" and os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("child.pid", "w").write(str(os.getpid()))
        os.execve("/bin/sleep", ["sleep", mode[1]], {})
    os._exit(0)
if mode[0] == "cleared" and os.fork() == 0:  # of the same session, but without any mark of its call
    open("child.pid", "w").write(str(os.getpid()))
    os.closerange(3, 256)
    os.execve("/bin/sleep", ["sleep", mode[1]], {})
if mode[0] == "marked" and os.fork() == 0:  # of a session of its own and without descriptors, as a daemon is, but with its environment
    os.setsid()
    open("child.pid", "w").write(str(os.getpid()))
    os.closerange(0, 256)
    os.execv("/bin/sleep", ["sleep", mode[1]])
if mode[0] in ("child", "escape", "cleared", "marked"):
    time.sleep(float(mode[1]))
note("effects.log")
if mode[0] == "die" or (mode[0] == "die-once" and tries == 1):
    os.kill(os.getpid(), signal.SIGKILL)
if mode[0] == "linger":
    time.sleep(float(mode[1]))
print("1")
"""

STATUS = r"""
import os
done = os.environ["TOOLGATE_CALL"] in (open("effects.log").read().split() if os.path.exists("effects.log") else [])
print('{"applied": true, "result": 1}' if done else '{"applied": false}')
"""

_WHAT = TOOL.index("mode = ")
FUNCTION = TOOL[:_WHAT] + "def pay(to):\n" + textwrap.indent(TOOL[_WHAT:].replace('print("1")', "return 1"), "    ")
DEFINITION: served.Definition = {
    "name": "pay",
    "description": "Pay money.",
    "inputSchema": {"type": "object", "required": ["to"], "additionalProperties": False, "properties": {"to": {"type": "string"}}},
}
FILES = {"python": FUNCTION, "mcp": served.program(FUNCTION, DEFINITION)}  # pay.py, where it is not TOOL
OWN = """description = "Pay money."
input_schema = { type = "object", required = ["to"], additionalProperties = false, properties = { to = { type = "string" } } }
[tools."ledger.pay"."""
COMMAND = ("-I", "-S", "pay.py")
TABLES = {  # how each provider makes the same call: what stands behind the classes of the tool
    "command": lambda: OWN + f"command]\nargv = {json.dumps((sys.executable, *COMMAND))}",
    "python": lambda: OWN + 'python]\nfunction = "pay:pay"',
    "http": lambda: (
        OWN + f'http]\nmethod = "POST"\nurl = "http://127.0.0.1:{peer.port()}/?home=${{env.HOME}}"\nallow_hosts = ["127.0.0.1"]'
    ),
    "mcp": lambda: f"[mcp.ledger]\ncommand = {json.dumps((sys.executable, *COMMAND))}",
}

QUESTIONS = "exit = { confirm = 70 }\nmay_confirm = true\n"
RECONCILE = f'[tools."ledger.pay".reconcile]\nargv = ["{sys.executable}", "-I", "-S", "status.py"]'
CONFIG = """
schema = 1
[tools."ledger.pay"]
safety = "{safety}"
effect = "{effect}"
timeout = "20s"
max_attempts = 2
{questions}
{table}
{more}
[policy]
default = "{policy}"
[models.default]
adapter = "scripted"
script = "script.toml"
[agents.clerk]
model = "default"
prompt = "pay what is owed"
tools = ["ledger.pay"]
[agents.chooser]
model = "default"
prompt = "pay what is owed"
tools = ["ledger.pay", "spare.note"]
selection = {{ selector = "default", max_tools = 1 }}
[tools."spare.note"]
input_schema = "any-object"
[tools."spare.note".command]
argv = ["true"]
"""

SCRIPT = """
schema = 1
[[turns]]
step = "judged"
ordinal = 0
commands = [{ type = "continue", reason = "once more" }]
[[turns]]
step = "judged"
commands = [{ type = "complete" }]
[[turns]]
step = "talk"
ordinal = 0
text = "Sure, I pay."
[[turns]]
step = "talk"
ordinal = 1
commands = [
  { type = "tool_invocation", capability = "ledger.pay", arguments = { to = "bob" } },
  { type = "ask", items = [{ id = "number", type = "NUMBER", required = true }] },
  { type = "tool_invocation", capability = "ledger.pay", arguments = { to = "cid" } },
]
[[turns]]
step = "talk"
ordinal = 2
commands = [{ type = "escalate", reason = "is that all" }]
[[turns]]
step = "talk"
ordinal = 3
commands = [{ type = "set_context", values = { verdict = "paid" } }, { type = "complete", output = "done" }]
[[turns]]
step = "choose.tools"
ordinal = 0
commands = [{ type = "complete", output = ["ledger.pay"] }]
[[turns]]
step = "choose.tools"
ordinal = 1
commands = [{ type = "complete", output = [] }]
[[turns]]
step = "choose"
ordinal = 0
commands = [{ type = "tool_invocation", capability = "ledger.pay", arguments = { to = "bob" } }]
[[turns]]
step = "choose"
ordinal = 1
commands = [{ type = "complete" }]
[[turns]]
step = "argue"
ordinal = 0
commands = [{ type = "say", message = "pay" }, { type = "continue", wants_another_round = true, reason = "the second invoice is open" }]
[[turns]]
step = "argue"
ordinal = 4
commands = [{ type = "tool_invocation", capability = "ledger.pay", arguments = { to = "dan" } }, { type = "complete", output = "paid" }]
[[turns]]
step = "argue"
commands = [{ type = "say", message = "yes" }]
[[turns]]
commands = [
  { type = "tool_invocation", capability = "ledger.pay", arguments = { to = "bob" }, rationale = "owed" },
  { type = "tool_invocation", capability = "ledger.pay", arguments = { to = "cid" } },
  { type = "set_context", values = { verdict = "paid" } },
  { type = "complete", output = "done" },
]
"""

WORKFLOW = """
schema = 1
id = "pay"
[[steps]]
id = "note"
type = "assign"
set = {{ who = "ann" }}
[[steps]]
id = "first"
type = "tool"
tool = "ledger.pay"
arguments = {{ to = "${{who}}" }}
[[steps]]
id = "clerk"
type = "agent"
agent = "clerk"
writes = ["verdict"]
[[steps]]
id = "form"
type = "input"
form = "receipt"
[[steps]]
id = "sign"
type = "assign"
set = {{ signed = "${{receipt.number}}" }}
gate = "{gate}"
[[steps]]
id = "last"
type = "tool"
tool = "ledger.pay"
arguments = {{ to = "dan" }}
[[forms.receipt]]
id = "number"
type = "TEXT"
label = "Number"
required = true
"""

INNER = """
schema = 1
id = "inner"
[inputs.who]
type = "string"
[[steps]]
id = "first"
type = "tool"
tool = "ledger.pay"
arguments = { to = "${inputs.who}" }
[[steps]]
id = "note"
type = "assign"
set = { noted = "${inputs.who}" }
"""

LOOK = """
schema = 1
id = "look"
[[steps]]
id = "terms"
type = "resource"
file = "mode"
save_as = "terms"
[[steps]]
id = "pay"
type = "tool"
tool = "ledger.pay"
arguments = { to = "${terms}" }
[[steps]]
id = "check"
type = "validate"
require = { keys = ["tool.ledger.pay"], files = ["effects.log"] }
schema = [{ file = "settled.json", by = { required = ["applied"] } }]
"""


@contextmanager
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: what a killed process has written is there either way, only sooner."""
    shared = "/dev/shm" if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="toolgate-proof-", dir=shared) as name:
        yield Path(name)


def make(
    path: Path,
    *,
    effect: str = "unsafe",
    policy: str = "allow",
    gate: str = "approval",
    mode: str = "ok",
    brief: bool = False,
    flow: str | None = None,
    provider: str = "command",
) -> Path:
    """`brief`: the workflow ends after its first call; `flow`: it is this one instead."""
    path.mkdir(parents=True)
    (path / "pay.py").write_text(FILES.get(provider, TOOL))
    safety = "read_only" if effect == "read_only" else "write"
    table = TABLES[provider]()
    (path / "status.py").write_text(STATUS)
    more, questions = RECONCILE if effect == "reconcilable" else "", QUESTIONS if mode == "ask" else ""
    words = {"effect": effect, "safety": safety, "policy": policy, "table": table}
    (path / "toolgate.toml").write_text(CONFIG.format(**words, more=more, questions=questions))
    if provider == "mcp":
        served.lock(path, "ledger", (sys.executable, *COMMAND), DEFINITION)
    (path / "script.toml").write_text(SCRIPT)
    usual = WORKFLOW.format(gate=gate)
    (path / "pay.toml").write_text(flow or (usual[: usual.index('[[steps]]\nid = "clerk"')] if brief else usual))
    (path / "inner.toml").write_text(INNER)
    (path / "look.toml").write_text(LOOK)
    (path / "edited.json").write_text('{"to": "eve"}')
    (path / "settled.json").write_text('{"applied": true, "result": 1}')
    set_mode(path, mode)
    return path


def copy(home: Path, to: Path) -> Path:
    """The same home elsewhere, with the same folder of locks: whoever owned something in it is dead there too."""
    owners = Path(".toolgate") / "owners"
    shutil.copytree(home, to, ignore=lambda folder, _: ["owners"] if Path(folder) == home / ".toolgate" else [])
    if (home / owners).is_dir():
        (to / owners).symlink_to((home / owners).resolve())
    return to


def set_mode(home: Path, text: str) -> None:
    (home / "mode").write_text(text)


def effects(home: Path) -> Counter[str]:
    """How often each call took effect."""
    return _counted(home / "effects.log")


def tries(home: Path) -> Counter[str]:
    """How often the tool of each call began to run."""
    return _counted(home / "tries.log")


def _counted(file: Path) -> Counter[str]:
    return Counter(file.read_text().split()) if file.exists() else Counter()
