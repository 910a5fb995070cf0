"""How to make, for each provider, a tool that does X: what the contract suite of providers runs on.

A new provider adds a class with `behaviours` and `fields`, and a line in KITS; a behaviour that it cannot have (an HTTP
request has no argv) is left out of `behaviours`, and the tests that need it are skipped for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, Protocol

from toolgate_cli.core import canonical
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.types import Json
from toolgate_cli.providers import command
from toolgate_cli.runtime.plugs import InvokeLimits, Pinned

PATH = "/usr/local/bin:/usr/bin:/bin"
PYTHON = "import json, os, signal, subprocess, sys, time\n"
NOTE = "def note(pid):\n    with open('pids', 'a') as file: print(pid, file=file, flush=True)\n"
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
SLEEPER = "[sys.executable, '-S', '-c', 'import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)']"

# behaviour -> Python source of a tool that has it; its standard input is the arguments, its standard output the result
SOURCES: dict[str, str] = {
    "answers": "print(json.dumps({'ok': True}), end='')",
    "echoes": "sys.stdout.buffer.write(sys.stdin.buffer.read())",
    "fails": "print('first', file=sys.stderr); print('the ledger said no', file=sys.stderr); sys.exit(3)",
    "fails silently": "sys.exit(4)",
    "fails with a long story": "[print('line', n, 'x' * 60, file=sys.stderr) for n in range(3000)]; sys.exit(1)",
    "dies by a signal": "print('half', flush=True); os.kill(os.getpid(), signal.SIGKILL)",
    "sleeps": "note(os.getpid()); print('begun', flush=True); time.sleep(60)",
    "ends at SIGTERM": "signal.signal(15, lambda *_: sys.exit(0)); note(os.getpid()); time.sleep(60)",
    "ignores SIGTERM": DEAF + "note(os.getpid()); print('begun', flush=True); time.sleep(60)",
    "forks": DEAF + f"child = subprocess.Popen({SLEEPER}); note(child.pid); note(os.getpid()); time.sleep(60)",
    "starts a session": DEAF
    + f"child = subprocess.Popen({SLEEPER}, start_new_session=True); note(child.pid); note(os.getpid()); time.sleep(60)",
    "forks twice": DEAF
    + """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        note(os.getpid()); os.execve(sys.executable, [sys.executable, '-S', '-c', 'import time; time.sleep(60)'], {})
    os._exit(0)
os.wait()
note(os.getpid())
time.sleep(60)
""",
    "stops itself": "note(os.getpid()); os.kill(os.getpid(), signal.SIGSTOP)",
    "forks for ever": DEAF
    + """
note(os.getpid())
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if os.fork():
                os._exit(0)
            time.sleep(0.002)
        os._exit(0)
time.sleep(60)
""",
    "leaves a grandchild on its output": f"child = subprocess.Popen({SLEEPER}); note(child.pid); print('done', flush=True)",
    "leaves a silent daemon": "quiet = {'stdin': -3, 'stdout': -3, 'stderr': -3, 'start_new_session': True}\n"
    f"child = subprocess.Popen({SLEEPER}, **quiet); note(child.pid); print('done', flush=True)",
    "lets a child finish": "subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(0.3); print(2)']); print(1, flush=True)",
    "floods": "for _ in range(200): sys.stdout.buffer.write(b'x' * 1000000)",
    "floods stderr": "for _ in range(200000): sys.stderr.write('y' * 99 + '\\n')\nprint('end', file=sys.stderr); print('fine')",
    "closes its output": "os.close(1); os.close(2); time.sleep(0.3); os._exit(0)",
    "prints one long line": "sys.stdout.write('z' * 1000000)",
    "prints bad utf-8": "sys.stdout.buffer.write(b'a\\xff\\xfeb')",
    "prints euro signs": "sys.stdout.buffer.write('\\u20ac'.encode() * 1000)",
    "does not read": "print('ok', end='')",
    "closes its input": "os.close(0); time.sleep(0.2); print('ok', end='')",
    "shows its environment": "print(json.dumps(dict(os.environ)), end='')",
    "shows its argv": "print(json.dumps(sys.argv[1:]), end='')",
    "shows its descriptors": "print(json.dumps([os.isatty(0), os.getsid(0) == os.getpid(), sorted(os.listdir('/proc/self/fd'))]), end='')",
    "appends": DEAF + "note(os.getpid())\nwhile True:\n    open('grows', 'a').write('x'); time.sleep(0.02)",
}


class Claim(NamedTuple):
    call_id: str
    run_id: str
    key: str
    arguments: str
    bound: object
    fence: str | None = None


class Tool(NamedTuple):
    """A tool that is pinned; `call` binds and invokes it."""

    module: ModuleType
    fields: object
    home: str

    def pin(self) -> Pinned:
        return self.module.pin(self.fields, self.home, PATH)  # type: ignore[no-any-return]

    def bind(self, arguments: dict[str, Json]) -> object:
        pinned = self.pin()
        assert pinned.error is None, pinned.error
        return self.module.bind(self.fields, pinned.facts, self.home, arguments)

    def call(
        self,
        arguments: dict[str, Json] | None = None,
        *,
        timeout: float = 20.0,
        output_bytes: int = 1 << 20,
        stop: Callable[[], bool] = lambda: False,
        call_id: str = f"c-contract-{os.getpid()}",  # tools are found by it: those of another worker are not ours
    ) -> ToolResult:
        arguments = arguments or {}
        claim = Claim(call_id, "r-contract", "k-contract", canonical.encode(arguments), self.bind(arguments))
        return self.module.invoke(claim, InvokeLimits(timeout, output_bytes, stop))  # type: ignore[no-any-return]


class Kit(Protocol):
    module: ModuleType
    behaviours: frozenset[str]

    def tool(self, home: Path, behaviour: str) -> Tool: ...


class CommandKit:
    module: ModuleType = command
    behaviours = frozenset(SOURCES) | {"cannot be started"}

    def tool(self, home: Path, behaviour: str) -> Tool:
        if behaviour == "cannot be started":
            script = home / "no-interpreter"
            script.write_text("#!/does/not/exist\n")
            script.chmod(0o755)
            return Tool(command, command.Fields(("./no-interpreter",)), str(home))
        (home / "tool.py").write_text(PYTHON + NOTE + SOURCES[behaviour] + "\n")
        return Tool(command, command.Fields((sys.executable, "-S", "tool.py")), str(home))


KITS: dict[str, Kit] = {"command": CommandKit()}
