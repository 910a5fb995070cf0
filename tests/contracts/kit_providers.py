"""How to make, for each provider, a tool that does X: what the contract suite of providers runs on.

A new provider adds a class with `behaviours` and `fields`, and a line in KITS; a behaviour that it cannot have (an HTTP
request has no argv) is left out of `behaviours`, and the tests that need it are skipped for it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, Protocol

from contracts import raw_peers as peers
from providers import mcp_server

from toolgate_cli.core import canonical, disguises, offered
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.secrets import NONE, Secrets
from toolgate_cli.core.types import Json
from toolgate_cli.providers import command, http, mcp, python
from toolgate_cli.runtime.plugs import Answer, InvokeLimits, Pinned

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
    "prints and sleeps": DEAF + "note(os.getpid()); print('begun', flush=True); time.sleep(60)",
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
    "tells its secret": "print(os.environ['TOKEN']); print(os.environ['TOKEN'], file=sys.stderr)",
    "fails with its secret": "print('it was', os.environ['TOKEN'], file=sys.stderr); sys.exit(3)",
    "appends": DEAF + "note(os.getpid())\nwhile True:\n    open('grows', 'a').write('x'); time.sleep(0.02)",
}


_ALIKE = ("prints and sleeps", "fails", "dies", "sleeps", "ends at", "ignores", "forks", "starts", "stops")
# the same of Python functions, where it is not said with the same words
FUNCTIONS: dict[str, str] = {
    **{name: source for name, source in SOURCES.items() if name.startswith(_ALIKE)},
    "answers": "print('noise'); return {'ok': True}",
    "echoes": "return arguments",
    "leaves a grandchild on its output": f"child = subprocess.Popen({SLEEPER}); note(child.pid); return 'done'",
    "leaves a silent daemon": "quiet = {'stdin': -3, 'stdout': -3, 'stderr': -3, 'start_new_session': True}\n"
    f"child = subprocess.Popen({SLEEPER}, **quiet); note(child.pid); return 'done'",
    "floods stderr": "for _ in range(200000): sys.stderr.write('y' * 99 + '\\n')\nreturn 'fine'",
    "shows its descriptors": "return [os.isatty(0), os.getsid(0) == os.getpid(), sorted(os.listdir('/proc/self/fd'))]",
    "ends without an answer": "os._exit(0)",
    "tells its secret": "return os.environ['TOKEN']",
}
SECRET = "s3cret-of-the-contract"
CALL = f"c-contract-{os.getpid()}"  # tools are found by it: those of another worker are not ours


def secrets(token: str = SECRET) -> Secrets:
    return Secrets({"TOKEN": token}, {}, tuple((spelling, "TOKEN") for spelling in disguises.of(token)))


class Claim(NamedTuple):
    call_id: str
    run_id: str
    key: str
    arguments: str
    bound: object
    fence: str | None = None
    answer: Answer | None = None


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
        call_id: str = CALL,
        secrets: Secrets = NONE,
    ) -> ToolResult:
        arguments = arguments or {}
        claim = Claim(call_id, "r-contract", "k-contract", canonical.encode(arguments), self.bind(arguments))
        return self.module.invoke(claim, InvokeLimits(timeout, output_bytes, stop, secrets))  # type: ignore[no-any-return]


class Kit(Protocol):
    """`failure`: the code of "fails", None: there are none; `silent`: what is said of "fails silently"; `unstarted`: how the message of
    what could not be started begins; `start`: seconds that may pass until the tool itself is at work; `descriptors`: what it may hold."""

    module: ModuleType
    behaviours: frozenset[str]
    failure: int | None
    silent: str
    unstarted: str
    start: float
    descriptors: frozenset[str]

    def tool(self, home: Path, behaviour: str) -> Tool: ...
    def text(self, output: str) -> str:
        """What a tool said that said one text."""
        ...

    def printed(self, text: str) -> str:
        """What is kept of what was printed before an end that was no answer."""
        ...


class CommandKit:
    module: ModuleType = command
    behaviours = frozenset(SOURCES) | {"cannot be started"}
    failure, silent, unstarted, start = 3, "exit code 4", "could not be started: ", 0.0
    descriptors = frozenset("0123")

    def tool(self, home: Path, behaviour: str) -> Tool:
        if behaviour == "cannot be started":
            script = home / "no-interpreter"
            script.write_text("#!/does/not/exist\n")
            script.chmod(0o755)
            return Tool(command, command.Fields(("./no-interpreter",)), str(home))
        (home / "tool.py").write_text(PYTHON + NOTE + SOURCES[behaviour] + "\n")
        env = {"TOKEN": "${secret.TOKEN}"} if "secret" in behaviour else {}
        return Tool(command, command.Fields((sys.executable, "-S", "tool.py"), env=env), str(home))

    def text(self, output: str) -> str:
        return output.removesuffix("\n")

    def printed(self, text: str) -> str:
        return text


class PythonKit:
    module: ModuleType = python
    behaviours = frozenset(FUNCTIONS)
    failure, silent, unstarted, start = 3, "exit code 4", "", 1.0
    descriptors = frozenset("01234")  # one of them is for the result

    def tool(self, home: Path, behaviour: str) -> Tool:
        body = "".join(f"    {line}\n" for line in FUNCTIONS[behaviour].splitlines())
        (home / "tool.py").write_text(f"{PYTHON}{NOTE}def tool(**arguments):\n{body}")
        env = {"TOKEN": "${secret.TOKEN}"} if "secret" in behaviour else {}
        return Tool(python, python.Fields("tool:tool", env), str(home))

    def text(self, output: str) -> str:
        text = json.loads(output)
        assert isinstance(text, str)
        return text

    def printed(self, text: str) -> str:
        return ""  # prints are no result


def _noted(home: Path, act: peers.Act) -> peers.Act:
    """Writes down the process that asks, as a tool that is a process does itself."""

    def noting(asked: peers.Asked) -> None:
        with (home / "pids").open("a") as file:
            file.writelines(f"{pid}\n" for pid in peers.askers(CALL))
        act(asked)

    return noting


def _echo_token(asked: peers.Asked) -> bytes:
    return asked.header("authorization").encode()


# behaviour -> what the other side does with a request
ANSWERS: Mapping[str, peers.Act] = {
    "answers": peers.saying(b'{"ok": true}'),
    "echoes": lambda asked: asked.answer(asked.body),
    "fails": peers.saying(b"first\nthe ledger said no", "409 Conflict"),
    "fails silently": peers.saying(b"", "404 Not Found"),
    "sleeps": lambda asked: asked.stall(),
    "begins and stalls": lambda asked: (asked.send(peers.head(b"begun\n" + b"x" * 10)[:-10]), asked.stall()),  # type: ignore[dict-item]
    "drips its headers": lambda asked: asked.drip(peers.head(b"{}")),
    "drips its body": lambda asked: (asked.send(peers.head(b"x" * 1000)[:-1000]), asked.drip(b"x" * 1000)),  # type: ignore[dict-item]
    "announces for ever": lambda asked: asked.flood(b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "floods": lambda asked: (  # type: ignore[dict-item]
        asked.send(b"HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n"),
        [asked.send(b"x" * 1_000_000) for _ in range(200)],
    ),
    "prints one long line": peers.saying(b"z" * 1_000_000),
    "prints bad utf-8": peers.saying(b"a\xff\xfeb"),
    "prints euro signs": peers.saying("\u20ac".encode() * 1000),
    "ends without an answer": lambda asked: None,
    "ends in the middle of an answer": lambda asked: asked.send(peers.head(b'{"ok": true}')[:-1]),
    "answers with what is none": lambda asked: asked.send(b"220 mail.example ESMTP\r\n"),
    "tells its secret": lambda asked: asked.answer(_echo_token(asked)),
    "fails with its secret": lambda asked: asked.answer(b"it was " + _echo_token(asked), "409 Conflict"),
}


class HttpKit:
    module: ModuleType = http
    behaviours = frozenset(ANSWERS) | {"cannot be started"}
    failure, silent, unstarted, start = 409, "HTTP 404 Not Found", "nothing was sent: ", 2.0
    descriptors = frozenset[str]()

    def tool(self, home: Path, behaviour: str) -> Tool:
        port = peers.unused() if behaviour == "cannot be started" else peers.Peer(_noted(home, ANSWERS[behaviour])).port
        headers = {"Authorization": "${secret.TOKEN}"} if "secret" in behaviour else {}
        fields = http.Fields("POST", f"http://127.0.0.1:{port}/tool", headers, allow_hosts=("127.0.0.1",))
        return Tool(http, fields, str(home))

    def text(self, output: str) -> str:
        return output

    def printed(self, text: str) -> str:
        return text


SERVER = Path(__file__).parents[1] / "providers" / "mcp_server.py"


def mcp_tool(
    home: str, remote: str, *others: str, options: tuple[str, ...] = (), server: str = "", env: Mapping[str, str] = {}
) -> mcp.Fields:
    """A tool of the server of these tools, pinned as it lists itself."""
    names = tuple(sorted({remote, *others}))
    argv = (sys.executable, "-S", str(SERVER), *options, *names)
    fields = mcp.Fields(server or f"server-{home}", remote, argv, env=dict(env))
    trusted = mcp.fingerprint(fields, mcp._outside(fields, home, PATH))
    return fields._replace(trusted=trusted, definition=offered.digest(mcp_server.definition(remote)))


class McpKit:
    """What a server does in a call; what its process does at its end, or prints, is none of a call's business."""

    module: ModuleType = mcp
    behaviours = frozenset(
        (
            *("answers", "echoes", "fails", "fails silently", "fails with a long story", "cannot be started"),
            *("sleeps", "ends at SIGTERM", "ignores SIGTERM", "forks", "starts a session", "forks twice", "stops itself", "forks for ever"),
            *("begins and stalls", "drips its body", "announces for ever"),
            *("floods stderr", "prints one long line", "prints euro signs", "shows its descriptors"),
            *("ends without an answer", "ends in the middle of an answer", "answers with what is none"),
            *("tells its secret", "fails with its secret"),
        )
    )
    failure, silent, unstarted, start = None, "the tool failed without a word", "could not be started: ", 0.0
    descriptors = frozenset("0123")

    def tool(self, home: Path, behaviour: str) -> Tool:
        if behaviour == "cannot be started":
            CommandKit().tool(home, behaviour)
            fields = mcp.Fields(f"none-{home}", "unstarted", ("./no-interpreter",))
            trusted = mcp.fingerprint(fields, mcp._outside(fields, str(home), PATH))
            return Tool(mcp, fields._replace(trusted=trusted, definition="0" * 64), str(home))
        name = behaviour.replace(" ", "_")
        env, held = ({"TOKEN": "${secret.TOKEN}"}, secrets()) if "secret" in behaviour else ({}, NONE)
        opening = Tool(mcp, mcp_tool(str(home), "answers", name, env=env), str(home))
        opening.call(timeout=60.0, secrets=held)  # its session is open: a call is no more than that
        return Tool(mcp, mcp_tool(str(home), name, "answers", env=env), str(home))

    def text(self, output: str) -> str:
        return output

    def printed(self, text: str) -> str:
        return ""  # an answer is whole, or none


KITS: dict[str, Kit] = {"command": CommandKit(), "http": HttpKit(), "mcp": McpKit(), "python": PythonKit()}
