"""Tools that are Python functions: what belongs to their definition, what runs, and what each end of a function means (CASES I4)."""

from __future__ import annotations

import json
import os
import py_compile
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from contracts.kit_providers import Tool
from contracts.kit_providers import secrets as with_token

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.types import Json
from toolgate_cli.host import pins
from toolgate_cli.providers import python
from toolgate_cli.providers.python import Fields


def call(home: Path, body: str, given: dict[str, Json] | None = None, **more: Any) -> ToolResult:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    (home / "mytools.py").write_text(f"import os, sys\ndef tool(**arguments):\n{lines}")
    return Tool(python, Fields("mytools:tool"), str(home)).call(given, **more)


def write(home: Path, name: str, text: str) -> None:
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(text)


# ---- results ----
@pytest.mark.parametrize(
    ("body", "output"),
    [
        ("return {'b': 1.0, 'a': ('é', -0.0, None, True)}", '{"a":["é",-0.0,null,true],"b":1.0}'),
        ("return 10 ** 40", str(10**40)),
        ("return None", "null"),
        ("pass", "null"),
        ("print('{\"forged\": 1}'); return 1", "1"),
        ("os.write(1, b'{\"forged\": 1}'); sys.__stdout__.write('x'); sys.stderr.write('y'); return 1", "1"),
        ("import subprocess; subprocess.run(['echo', 'forged']); return 1", "1"),
        ("print('x' * 1_000_000); return 1", "1"),
        ("sys.stdout.close(); return 1", "1"),
        ("return sys.stdin.read()", '""'),
        ("return [len(sys.argv), os.getcwd() == sys.path[-1], __name__]", '[1,true,"mytools"]'),
        ("if os.fork(): os.wait()\nreturn 1", "1"),
        ("return sorted(arguments)", '["a","self","z"]'),
    ],
)
def test_what_a_function_returns_is_the_result_and_nothing_else_is(tmp_path: Path, body: str, output: str) -> None:
    result = call(tmp_path, body, {"z": 1, "a": 2, "self": 3})
    assert (result.ended, result.ok, result.code, result.output) == ("answered", True, 0, output), result


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return object()", "what is not JSON: INVALID_TYPE"),
        ("return {1: 2}", "what is not JSON: INVALID_KEY"),
        ("return float('nan')", "what is not JSON: NON_FINITE"),
        ("return {'a': {1, 2}}", "what is not JSON: INVALID_TYPE at /a"),
        ("return b'x'", "INVALID_TYPE"),
        ("return '\\ud800'", "LONE_SURROGATE"),
        ("x = []; x.append(x); return x", "TOO_DEEP"),
        ("async def f(): pass\nreturn f()", "INVALID_TYPE"),
        ("return iter([])", "INVALID_TYPE"),
        ("sys.exit()", "without a result"),
        ("sys.exit(0)", "without a result"),
        ("os._exit(0)", "without a result"),
        ("print('{}', flush=True); os._exit(0)", "{}"),
        ("os.write(3, b'{\"half\": '); os._exit(0)", "without a result"),
        ("os.kill(os.getpid(), 9)", "ended by signal 9"),
        ("os.abort()", "signal 6"),
    ],
)
def test_an_end_without_a_result_is_uncertain(tmp_path: Path, body: str, says: str) -> None:
    result = call(tmp_path, body)
    assert (result.ended, result.ok, result.code) == ("uncertain", False, None) and says in result.message, result


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("raise ValueError('no such order')", 1, "ValueError: no such order (mytools.py, line 3)"),
        ("print('noise'); raise KeyError('a')", 1, "noise\n\nKeyError: 'a' (mytools.py, line 3)"),
        ("class Odd(Exception):\n    def __str__(self): raise RuntimeError\nraise Odd", 1, "Odd: it has no text (mytools.py, line 5)"),
        ("raise RuntimeError", 1, "RuntimeError (mytools.py, line 3)"),
        ("raise KeyboardInterrupt", 1, "KeyboardInterrupt (mytools.py, line 3)"),
        ("raise BaseException('x\\ud800')", 1, "BaseException: x\\ud800 (mytools.py, line 3)"),
        ("sys.exit(7)", 7, "exit code 7"),
        ("sys.exit('declined')", 1, "declined"),
        ("def f(): f()\nf()", 1, "RecursionError: maximum recursion depth exceeded (mytools.py, line 3)"),
        ("return missing", 1, "NameError: name 'missing' is not defined (mytools.py, line 3)"),
        ("import no_such_module", 1, "ModuleNotFoundError: No module named 'no_such_module' (mytools.py, line 3)"),
    ],
)
def test_an_exception_is_the_function_s_own_failure(tmp_path: Path, body: str, code: int, message: str) -> None:
    result = call(tmp_path, body)
    assert (result.ended, result.ok, result.code, result.message) == ("answered", False, code, message)


def test_an_exception_of_somebody_else_s_module_is_told_with_the_line_of_the_home_that_it_came_through(tmp_path: Path) -> None:
    write(tmp_path, "shop/__init__.py", "")
    write(tmp_path, "shop/rates.py", "import json\n\ndef rate(text):\n    return json.loads(text)\n")
    assert call(tmp_path, "from shop.rates import rate\nrate('{')").message.endswith("(char 1) (shop/rates.py, line 4)")
    write(tmp_path, "broken.py", "def tool(:\n")
    said = Tool(python, Fields("broken:tool"), str(tmp_path)).call().message
    assert said.startswith("SyntaxError: ") and said.endswith("(broken.py, line 1)") and said.count("line 1") == 1


def test_a_long_exception_is_cut_and_scrubbed(tmp_path: Path) -> None:
    result = call(tmp_path, "raise ValueError('x' * 100000 + ' s3cret-of-the-contract')", secrets=with_token())
    assert len(result.message.encode()) <= 2048 and result.message.endswith("x ***TOKEN*** (mytools.py, line 3)")


def test_a_long_result_is_cut_but_measured(tmp_path: Path) -> None:
    result = call(tmp_path, "return 'x' * 5_000_000", output_bytes=1000)
    assert (result.ok, result.truncated, len(result.output), result.size) == (True, True, 1000, 5_000_002)


def test_a_function_that_sleeps_on_is_dead_before_it_writes(tmp_path: Path) -> None:
    assert call(tmp_path, "import time; time.sleep(3); open('late', 'w')", timeout=1.0).ended == "uncertain"
    time.sleep(3)
    assert not (tmp_path / "late").exists()


def test_its_environment_is_the_declared_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("STRANGER", "x")
    write(tmp_path, "mytools.py", "import os\ndef tool(**_): return dict(os.environ)\n")
    made = Tool(python, Fields("mytools:tool", {"TOKEN": "${secret.TOKEN}", "A": "${args.a}"}), str(tmp_path))
    seen = json.loads(made.call({"a": "${secret.TOKEN}"}, secrets=with_token()).output)
    seen.pop("LC_CTYPE", None)  # which Python sets itself
    assert set(seen) == {"PATH", "HOME", "LANG", "TOOLGATE_RUN", "TOOLGATE_CALL", "TOOLGATE_IDEMPOTENCY_KEY", "TOKEN", "A"}
    assert (seen["TOKEN"], seen["A"], seen["TOOLGATE_IDEMPOTENCY_KEY"]) == ("***TOKEN***", "${secret.TOKEN}", "k-contract")


# ---- the definition ----
def facts(home: Path, function: str = "mytools:tool", **more: Any) -> Any:
    pinned = python.pin(Fields(function, **more), str(home), "/bin")
    assert pinned.error is None, pinned.error
    return pinned.facts


def test_the_module_and_the_pinned_files_are_part_of_the_definition(tmp_path: Path) -> None:
    write(tmp_path, "mytools.py", "def tool(): return 1\n")
    write(tmp_path, "rates.csv", "1")
    before = facts(tmp_path, pin=("rates.csv",))
    assert set(before["files"]) == {"mytools.py", "rates.csv"} and before["python"] == sys.executable
    write(tmp_path, "rates.csv", "2")
    assert facts(tmp_path, pin=("rates.csv",)) != before
    write(tmp_path, "mytools.py", "def tool(): return 2\n")
    assert facts(tmp_path) != before


def test_a_module_of_a_package_brings_its_packages(tmp_path: Path) -> None:
    write(tmp_path, "shop/__init__.py", "SEEN = 1\n")
    write(tmp_path, "shop/orders/refunds.py", "from shop import SEEN\nclass Desk:\n    @staticmethod\n    def pay(): return SEEN\n")
    assert set(facts(tmp_path, "shop.orders.refunds:Desk.pay")["files"]) == {"shop/__init__.py", "shop/orders/refunds.py"}
    assert Tool(python, Fields("shop.orders.refunds:Desk.pay"), str(tmp_path)).call().output == "1"
    assert Tool(python, Fields("shop:SEEN"), str(tmp_path)).call().message.startswith("TypeError: 'int' object is not callable")


def test_a_module_that_appears_before_the_pinned_one_is_watched(tmp_path: Path) -> None:
    write(tmp_path, "mytools.py", "def tool(): return 1\n")
    assert str(tmp_path / "mytools" / "__init__.py") in python.pin(Fields("mytools:tool"), str(tmp_path), "/bin").paths


@pytest.mark.parametrize(
    ("function", "says"),
    [
        *((name, "names no function") for name in ("mytools", "mytools:", ":tool", "my-tools:x", "../x:y", "a/b:c", "mytools:a b")),
        ("mytools:f()", "names no function"),
        ("missing:x", "there is no module missing"), ("json:dumps", "is there already"), ("os.path:join", "is there already"),
        ("toolgate_cli.host:x", "is there already"), ("outside:x", "outside.py leads out of the home"),
    ],
)  # fmt: skip
def test_what_names_no_function_of_the_home_is_refused(tmp_path: Path, function: str, says: str) -> None:
    write(tmp_path, "home/mytools.py", "")
    write(tmp_path, "outside.py", "")
    (tmp_path / "home" / "outside.py").symlink_to(tmp_path / "outside.py")
    assert says in (python.pin(Fields(function), str(tmp_path / "home"), "/bin").error or "")


def test_a_function_that_is_not_there_is_doubted(tmp_path: Path) -> None:
    write(tmp_path, "mytools.py", "from os import getcwd as where\ndef tool(): pass\nclass C: pass\nx = lambda: 1\n")
    for name in ("tool", "where", "C.f", "x"):
        assert python.doubts(Fields(f"mytools:{name}"), str(tmp_path)) == ()
    assert python.doubts(Fields("mytools:tol"), str(tmp_path)) == ((("function",), "mytools.py has no tol"),)
    write(tmp_path, "mytools.py", "def tool(:\n")
    assert "cannot be read as Python" in python.doubts(Fields("mytools:tool"), str(tmp_path))[0][1]


def test_what_runs_is_the_file_that_was_pinned_and_no_compiled_copy(tmp_path: Path) -> None:
    """A forged copy that says it was made of this very file would be taken by Python itself."""
    write(tmp_path, "mytools.py", "def tool(): return 'forged'\n")
    write(tmp_path, "helper.py", "WORD = 'forged'\n")
    for name in ("mytools", "helper"):
        place = tmp_path / f"{name}.py"
        py_compile.compile(str(place))
        stamp = place.stat()
        place.write_text("WORD = 'honest'\n".ljust(stamp.st_size, "\n"))
        os.utime(place, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    write(tmp_path, "mytools.py", "import helper\ndef tool(): return helper.WORD\n")
    assert Tool(python, Fields("mytools:tool", pin=("helper.py",)), str(tmp_path)).call().output == '"honest"'
    assert Tool(python, Fields("mytools:tool"), str(tmp_path)).call().output == '"forged"', "the test forges nothing"


def test_a_module_that_changes_after_it_was_judged_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "mytools.py", "def tool(): open('ran', 'w')\n")
    real = pins.sha256_of
    monkeypatch.setattr(pins, "sha256_of", lambda path: real(path) if not path.endswith("mytools.py") else "0" * 64)
    result = Tool(python, Fields("mytools:tool"), str(tmp_path)).call()
    assert result.message.endswith("mytools.py changed between the decision and the start") and not (tmp_path / "ran").exists()


def test_a_file_that_was_not_pinned_takes_the_place_of_no_module(tmp_path: Path) -> None:
    for name in ("decimal", "pytest"):
        write(tmp_path, f"{name}.py", "raise SystemExit(9)\n")
    assert call(tmp_path, "import decimal, pytest; return str(decimal.Decimal(1))").output == '"1"'


@pytest.mark.parametrize("appears", ["shop.py", "shop/orders.py", "shop/__init__.pyc", "shop/orders/__init__.pyc"])
def test_a_file_that_was_not_pinned_is_not_run_on_the_way_to_the_function(tmp_path: Path, appears: str) -> None:
    write(tmp_path, "shop/orders/refunds.py", "def pay(): return 'shown'\n")
    tool = Tool(python, Fields("shop.orders.refunds:pay"), str(tmp_path))
    write(tmp_path, "forged.py", f"open({str(tmp_path / 'ran')!r}, 'w')\n__path__ = []\n")
    if appears.endswith("c"):
        py_compile.compile(str(tmp_path / "forged.py"), str(tmp_path / appears))
    else:
        write(tmp_path, appears, (tmp_path / "forged.py").read_text())
    assert tool.call().output == '"shown"' and not (tmp_path / "ran").exists()


def test_nothing_is_left_in_the_home(tmp_path: Path) -> None:
    write(tmp_path, "helper.py", "X = 1\n")
    assert call(tmp_path, "import helper; return helper.X").output == "1"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["helper.py", "mytools.py"]


def test_names_that_are_ours_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "mytools.py", "")
    assert "TOOLGATE_X" in (python.pin(Fields("mytools:tool", {"TOOLGATE_X": "1"}), str(tmp_path), "/bin").error or "")
    with pytest.raises(ToolgateError):
        python.bind(Fields("mytools:tool", {"A": "${args.a}"}), facts(tmp_path), str(tmp_path), {"a": "\0"})
