"""Read-only commands about a call, as real processes: what they see, what becomes of them, and what a reconciler settles."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from doubt.given import alive, child, doubtful, refused, until
from proofs import facts, homes, workers

SAW = """
import json, os, sys
json.dump({"env": dict(os.environ), "argv": sys.argv[1:], "stdin": sys.stdin.read()}, open("saw.json", "w"))
"""
STATUS = """
import os
done = os.environ["TOOLGATE_CALL"] in (open("effects.log").read().split() if os.path.exists("effects.log") else [])
print('{"applied": true, "result": "found"}' if done else '{"applied": false}')
"""


def make(home: Path, *, effect: str = "reconcilable", attempts: int = 2, mode: str = "ok", policy: str = "allow", **probes: str) -> None:
    """`probes`: name -> the text of its script."""
    homes.make(home, effect="idempotent", brief=True, mode=mode, policy=policy)
    file = home / "toolgate.toml"
    tables = ""
    for name, script in probes.items():
        (home / f"{name}.py").write_text(script)
        argv = json.dumps([sys.executable, "-I", "-S", f"{name}.py", "${args.to}"])
        env = '\nenv = { TOKEN = "${secret.PROBE_TOKEN}" }' if "TOKEN" in script else ""
        tables += f'[tools."ledger.pay".{name}]\nargv = {argv}{env}\n'
    text = (
        file.read_text().replace('effect = "idempotent"', f'effect = "{effect}"').replace("max_attempts = 2", f"max_attempts = {attempts}")
    )
    file.write_text(text.replace("[policy]", f"{tables}[policy]").replace('timeout = "20s"', 'timeout = "2s"'))


def events(home: Path, type: str) -> list[Any]:
    return [event for event in facts.read(home).events if event.type == type]


def test_an_effect_that_nobody_saw_end_is_found_and_happens_once(home: Path) -> None:
    make(home, mode="die-once", reconcile=STATUS)
    done = workers.run(home, "start", "pay")
    assert done.code == 0 and done.answer["run"]["status"] == "COMPLETED"
    [call] = homes.effects(home)
    assert homes.effects(home)[call] == 1 and len(events(home, "TOOL_INVOCATION_STARTED")) == 1
    [completed] = events(home, "TOOL_INVOCATION_COMPLETED")
    assert completed.payload["reconciled"] is True


def test_what_was_not_applied_is_started_again_and_happens_once(home: Path) -> None:
    make(home, mode="fail-once", reconcile=STATUS)
    assert workers.run(home, "start", "pay").answer["run"]["status"] == "COMPLETED"
    assert list(homes.effects(home).values()) == [1] and list(homes.tries(home).values()) == [2]


@pytest.mark.parametrize(
    "script",
    [
        "import sys; sys.exit(3)",
        "import time; time.sleep(60)",
        "import os; os.abort()",
        "print('{')",
        "print('{\"applied\": ' + '1' * 2000000)",
    ],
    ids=["fails", "hangs", "crashes", "garbage", "flood"],
)
def test_a_reconciler_that_does_not_answer_leaves_a_doubt_and_starts_nothing(home: Path, script: str) -> None:
    make(home, mode="fail", reconcile=script)
    assert workers.run(home, "start", "pay").code == 9
    assert doubtful(home)["doubt"] == "reconcilable" and list(homes.tries(home).values()) == [1]


def test_a_dead_process_leaves_a_doubt_that_a_retry_asks_about(home: Path) -> None:
    make(home, mode="sleep 30", reconcile=STATUS)
    worker = workers.spawn(home, "start", "pay")
    until((home / "tries.log").exists)
    worker.kill(signal.SIGKILL)
    worker.wait()
    row = doubtful(home)
    words = [*workers.COMMAND, "pending", "show", row["ref"], "-C", str(home), "-o", "table"]
    shown = subprocess.run(words, env=workers.environment(home), text=True, capture_output=True, check=True).stdout
    assert "reconciler: it is asked before this call is started again" in shown and "reconcile.py" in shown
    homes.set_mode(home, "ok")
    done = workers.run(home, "retry", row["ref"])
    assert done.code == 0 and done.answer["run"]["status"] == "COMPLETED"
    assert list(homes.tries(home).values()) == [2] and list(homes.effects(home).values()) == [1]


def test_a_probe_sees_the_call_and_nothing_of_the_decider(home: Path) -> None:
    make(home, effect="idempotent", precheck=SAW)
    assert workers.finish(workers.real(home, "start", "pay", LEAKED="1")).code == 0
    saw = json.loads((home / "saw.json").read_text())
    [call] = homes.tries(home)
    assert saw["argv"] == ["ann"] and saw["stdin"] == '{"to":"ann"}' and "LEAKED" not in saw["env"]
    assert saw["env"]["TOOLGATE_CALL"] == call and saw["env"]["TOOLGATE_IDEMPOTENCY_KEY"] and saw["env"]["TOOLGATE_RUN"]


def test_the_value_of_a_secret_that_a_probe_says_is_nowhere(home: Path) -> None:
    make(home, effect="idempotent", precheck='import os, sys; sys.exit("no: " + os.environ["TOKEN"])')
    (home.parent / "token").write_text("s3cret-of-probes")
    file = home / "toolgate.toml"
    file.write_text(file.read_text() + f'[secrets]\nPROBE_TOKEN = {{ file = "{home.parent / "token"}" }}\n')
    done = workers.run(home, "start", "pay")
    [row] = workers.run(home, "pending", "list").items
    assert "precheck refused" in row["reason"] and "s3cret" not in done.out + done.err + json.dumps(row)
    assert all(b"s3cret" not in file.read_bytes() for file in (home / ".toolgate").iterdir() if file.is_file())


def test_a_probe_cannot_decide(home: Path) -> None:
    """It is inside of the call that it is asked about."""
    make(home, effect="idempotent", precheck=SAW)
    assert workers.run(home, "start", "pay").code == 0
    env = json.loads((home / "saw.json").read_text())["env"]
    done = workers.finish(workers.real(home, "cancel", next(iter(facts.read(home).runs)), TOOLGATE_CALL=env["TOOLGATE_CALL"]))
    assert refused(done) == "self_approval"


SHEDS = """
import json, os, subprocess, sys
if os.path.exists("words.json"):
    if "TOOLGATE_CALL" in os.environ:
        os.execve(sys.executable, [sys.executable, "-I", "-S", *sys.argv], {})
    argv, env = json.load(open("words.json"))
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    json.dump([done.returncode, done.stdout, done.stderr], open("came.json", "w"))
"""


def test_a_probe_that_has_shed_its_environment_cannot_decide_either(home: Path) -> None:
    """No call runs while it is asked: it is known by the process above it alone."""
    make(home, effect="idempotent", policy="require_approval", precheck=SHEDS)
    file = home / "toolgate.toml"
    file.write_text(file.read_text().replace('timeout = "2s"', 'timeout = "20s"'))
    assert workers.finish(workers.real(home, "start", "pay")).code == 0
    [row] = workers.run(home, "pending", "list").items
    argv = [*workers.COMMAND, "approve", row["ref"], "-C", str(home), "--json"]
    (home / "words.json").write_text(json.dumps([argv, workers.environment(home)]))
    assert workers.finish(workers.real(home, "start", "pay")).code == 0
    assert refused(workers.Done(*json.loads((home / "came.json").read_text()))) == "self_approval"
    assert not homes.tries(home) and len(workers.run(home, "pending", "list").items) == 2


def test_what_a_probe_leaves_behind_is_killed(home: Path) -> None:
    fork = 'import os, time\nif os.fork() == 0:\n    open("child.pid", "w").write(str(os.getpid())); time.sleep(60)\n'
    make(home, effect="idempotent", precheck=fork + 'while not os.path.exists("child.pid"):\n    time.sleep(0.01)\n')
    assert workers.run(home, "start", "pay").answer["run"]["status"] == "COMPLETED"
    assert not alive(child(home))


def test_the_end_of_a_probe_kills_nothing_of_a_start_of_the_same_call(home: Path) -> None:
    """One decider's precheck hangs until its timeout, while the tool of another's runs."""
    first = 'import os, time\nif not os.path.exists("hangs"):\n    open("hangs", "w").close(); time.sleep(60)\n'
    make(home, effect="unsafe", attempts=1, policy="require_approval", precheck=first)
    (home / "toolgate.toml").write_text((home / "toolgate.toml").read_text().replace('timeout = "2s"', 'timeout = "5s"'))
    (home / "hangs").write_text("")
    assert workers.run(home, "start", "pay").code == 0
    [row] = workers.run(home, "pending", "list").items
    (home / "hangs").unlink()
    slow = workers.spawn(home, "approve", row["ref"])
    until((home / "hangs").exists)
    time.sleep(2)
    homes.set_mode(home, "sleep 4.2")
    done = workers.run(home, "approve", row["ref"])
    assert done.code == 0 and done.answer["run"]["status"] == "COMPLETED", done
    assert refused(slow.wait()) == "claim_lost" and list(homes.effects(home).values()) == [1]


def test_the_deciders_race_of_a_probe_ends_with_one_start(home: Path) -> None:
    make(home, effect="idempotent", policy="require_approval", precheck="import time; time.sleep(0.3)")
    assert workers.run(home, "start", "pay").code == 0
    [row] = workers.run(home, "pending", "list").items
    homes.set_mode(home, "sleep 1")
    ended = [worker.wait() for worker in [workers.spawn(home, "approve", row["ref"]) for _ in range(3)]]
    assert sorted(done.code for done in ended) == [0, 5, 5] and list(homes.effects(home).values()) == [1]
