"""A home whose tool has secrets and says them aloud, in as many ways as there are."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from contracts.raw_peers import Asked, Peer, head
from proofs import served
from proofs.canaries import Canary

CAP = 4096  # bytes that are kept of an output
SAID = 2048  # bytes of the end of stderr that are kept
SHOWN = 2000  # characters of the output of a failure that are kept

TOOL = r"""
import base64, json, os, sys, time
from urllib.parse import quote, quote_plus
given = json.loads(sys.stdin.read())["with"]
mode = given["mode"]
names = sorted(name for name in os.environ if name.startswith("CANARY_"))
values = [os.environ[name] for name in names]
if "only" in given:
    values = [os.environ[given["only"]]]
def out(text, fd=1):
    data = text if isinstance(text, bytes) else text.encode()
    while data: data = data[os.write(fd, data):]
def slowly(text):
    data = text.encode()
    for at in range(0, len(data), 7):
        out(data[at:at + 7]); time.sleep(0.0005)
def escaped(text):
    data = text.encode("utf-16-be")
    return "".join("\\u%04x" % int.from_bytes(data[at:at + 2], "big") for at in range(0, len(data), 2))
def half_escaped(text): return json.dumps(text[:-1])[1:-1] + escaped(text[-1])
def basic(number, value): return "Basic " + base64.b64encode(b"u" * (number % 3) + b":" + value.encode() + b":x" * (number % 2)).decode()
def query(value): return f"?a={quote(value)}&b={quote_plus(value)}&c={quote(value, safe='')}"
if mode == "stdout": out("\n".join(values))
elif mode == "stderr": out("\n".join(values)[-1500:], 2); sys.exit(1)
elif mode == "stderr and success": out("fine"); out("\n".join(values), 2)
elif mode == "values": out(json.dumps(dict(enumerate(values))))
elif mode == "keys": out(json.dumps({value: {value: [value]} for value in values}, ensure_ascii=False))
elif mode == "escapes": out('{"all": [' + ",".join('"%s"' % escaped(value) for value in values) + "]}")
elif mode == "half escapes": out('{"%s": 1}' % half_escaped(values[0]))
elif mode == "twice": out(json.dumps({"log": json.dumps({"token": values[0]})}))
elif mode == "pieces": slowly(" ".join(values[:4]))
elif mode == "declined": out(values[0], 2); sys.exit(3)
elif mode == "raises": raise RuntimeError(values[0])
elif mode == "repr": out(repr(values))
elif mode == "base64": out("\n".join(basic(number, value) for number, value in enumerate(values)))
elif mode == "urlsafe": out("".join(base64.urlsafe_b64encode(value.encode()).decode() + "\n" for value in values))
elif mode == "lines of base64": out(base64.encodebytes(values[0].encode()))
elif mode == "percent": out("\n".join(map(query, values)))
elif mode == "hex": out(" ".join(value.encode().hex() for value in values))
elif mode == "timeout": out(" ".join(values)); out(" " + values[0][: len(values[0]) * 3 // 4]); time.sleep(60)
elif mode == "killed": out(values[0], 2); out(values[0][:-2], 1); os.kill(os.getpid(), 9)
elif mode == "cap": out("x" * (given["cap"] - given["inside"]) + values[0] + "y" * 100)
elif mode == "cuts":
    out("z" * (given["shown"] - given["inside"]) + values[0])
    out(values[0] + "w" * (given["said"] - given["inside"]), 2)
    sys.exit(1)
elif mode == "environment": out(json.dumps(dict(os.environ)))
elif mode == "command line":
    open("seen.cmdline", "ab").write(open("/proc/self/cmdline", "rb").read())
    open("seen.names", "w").write("\n".join(sorted(os.environ)))
    out("done")
"""
OUTSPOKEN = (
    "stdout", "stderr", "stderr and success", "values", "keys", "escapes", "half escapes", "twice", "pieces", "declined", "raises", "repr",
    "base64", "urlsafe", "lines of base64", "percent", "hex", "timeout", "killed",
)  # fmt: skip

# what a function says, or the peer of a request, when it is given the values: by mode
SPOKEN = r"""
import base64
from urllib.parse import quote
def spoken(mode, values):
    if mode == "keys": return {value: {value: [value]} for value in values}
    if mode == "values": return dict(zip("abcdefghijklmnopqrst", values))
    if mode == "percent": return [quote(value, safe="") for value in values]
    if mode == "hex": return " ".join(value.encode().hex() for value in values)
    if mode == "base64": return [base64.b64encode(b"u:" + value.encode()).decode() for value in values]
    return "\n".join(values)
"""
LOUD = (
    SPOKEN
    + r"""
import os, sys, time
def say(title=None, **given):
    mode, names = given["with"]["mode"], sorted(name for name in os.environ if name.startswith("CANARY_"))
    values = [os.environ[name] for name in names]
    said = spoken(mode, values)
    print(said)
    if mode == "fails": raise RuntimeError(values[0])
    if mode == "declined": print(values[0], file=sys.stderr); sys.exit(3)
    if mode == "no answer": os._exit(0)
    if mode == "timeout": sys.stdout.flush(); time.sleep(60)
    return said
"""
)
TOLD_BY_ALL = ("text", "keys", "values", "percent", "hex", "base64", "fails", "declined", "no answer", "timeout")


def loudly(asked: Asked) -> None:
    """A peer that tells what it was sent."""
    said: dict[str, Callable[[str, list[str]], object]] = {}
    exec(SPOKEN, said)  # the text above
    sent = json.loads(asked.body)
    mode, values = sent["with"]["mode"], list(sent["secrets"].values())
    body = json.dumps(said["spoken"](mode, values)).encode()
    if mode == "timeout":
        asked.send(head(body)[:-1])
        asked.stall()
    elif mode == "no answer":
        asked.send(head(body)[:-1])
    else:
        asked.answer(body, {"fails": f"400 No {values[0].encode().hex()}", "declined": "402 Pay"}.get(mode, "200 OK"))


OPERATOR = """
schema = 1
[limits]
output_bytes = {cap}
{secrets}
[tools."loud.say"]
title = "${{args.title}}"
safety = "write"
effect = "unsafe"
timeout = "{timeout}"
{table}
[tools."quiet.ask"]
safety = "write"
effect = "unsafe"
input_schema = "any-object"
[tools."quiet.ask".command]
argv = ["true"]
[policy]
default = "allow"
[[policy.rules]]
name = "asks"
capability = "quiet.ask"
decision = "require_approval"
[models.default]
adapter = "scripted"
script = "script.toml"
[agents.clerk]
model = "default"
prompt = "speak"
tools = ["loud.*", "quiet.*"]
"""

OWN = """description = "Says what it should not."
input_schema = "any-object"
exit = {{ business = {{ {declined} = "DECLINED" }} }}
[tools."loud.say".{provider}]
{how}"""
COMMAND = (sys.executable, "-I", "-S", "loud.py")
DEFINITION: served.Definition = {"name": "say", "description": "Says what it should not.", "inputSchema": {"type": "object"}}
FILES = {"python": LOUD, "mcp": served.program(LOUD, DEFINITION)}  # loud.py, where it is not TOOL

FLOW = """
schema = 1
id = "{id}"
[inputs.given]
{input}
[[steps]]
id = "first"
{step}
[[steps]]
id = "after"
type = "assign"
set = {{ after = "yes" }}
[[forms.words]]
id = "word"
type = "TEXT_AREA"
"""
FLOWS = {
    "say": ("", 'type = "tool"\ntool = "loud.say"\narguments = { with = "${inputs.given}" }'),
    "ask": ("default = 1", 'type = "tool"\ntool = "quiet.ask"\narguments = { x = "${inputs.given}" }'),
    "form": ("default = 1", 'type = "input"\nform = "words"'),
    "review": ("default = 1", 'type = "assign"\nset = { a = "b" }\ngate = "review"'),
    "gate": ("default = 1", 'type = "assign"\nset = { a = "b" }\ngate = "approval"'),
    "talk": ("default = 1", 'type = "agent"\nagent = "clerk"\nwrites = ["*"]\nretry = { allow = true, max_retries = 5 }'),
    "joins": ('type = "array"', 'type = "assign"\nset = { joined = "${inputs.given#/0}${inputs.given#/1}" }'),
    "joins-arguments": ('type = "array"', 'type = "tool"\ntool = "quiet.ask"\narguments = { x = "${inputs.given#/0}${inputs.given#/1}" }'),
}


def _table(provider: str, canaries: list[Canary]) -> str:
    named = ", ".join(f'{canary.name} = "${{secret.{canary.name}}}"' for canary in canaries)
    command = json.dumps(COMMAND)
    if provider == "mcp":
        return f"[mcp.loud]\ncommand = {command}\nenv = {{ {named} }}"
    how = ('function = "loud:say"' if provider == "python" else f"argv = {command}") + f"\nenv = {{ {named} }}"
    if provider == "http":
        body = f'{{ with = "${{args.with}}", secrets = {{ {named} }} }}'
        how = f'method = "POST"\nurl = "http://127.0.0.1:{Peer(loudly).port}/"\nallow_hosts = ["127.0.0.1"]\nbody = {body}'
    return OWN.format(provider=provider, how=how, declined=402 if provider == "http" else 3)


def make(home: Path, canaries: list[Canary], timeout: str = "20s", provider: str = "command") -> dict[str, str]:
    """Every second one is in a file, outside of the home; the environment that has the others."""
    home.mkdir(parents=True)
    kept = home.parent / f"{home.name}-files"
    kept.mkdir()
    environment, places = {}, []
    for number, canary in enumerate(canaries):
        if number % 2:
            (kept / canary.name).write_bytes(canary.value.encode() + b"\n")
            places.append(f"{canary.name} = {{ file = {json.dumps(str(kept / canary.name))} }}")
        else:
            environment[canary.name] = canary.value
    secrets = "[secrets]\n" + "\n".join(places)
    (home / "toolgate.toml").write_text(OPERATOR.format(cap=CAP, secrets=secrets, timeout=timeout, table=_table(provider, canaries)))
    (home / "loud.py").write_text(FILES.get(provider, TOOL))
    if provider == "mcp":
        served.lock(home, "loud", COMMAND, DEFINITION, env={canary.name: f"${{secret.{canary.name}}}" for canary in canaries})
    (home / "script.toml").write_text('schema = 1\n[[turns]]\nstep = "none"\ncommands = [{ type = "complete" }]\n')
    for id, (input, step) in FLOWS.items():
        (home / f"{id}.toml").write_text(FLOW.format(id=id, input=input, step=step))
    return environment
