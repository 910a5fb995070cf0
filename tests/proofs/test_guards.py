"""The tests are able to fail: with any one guard taken out of a copy of the program, the tests that it is named with notice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest
from proofs.guards import BEFORE_A_START, Guard
from proofs.guards_of_calls import OF_CALLS
from proofs.guards_of_choices import OF_CHOICES
from proofs.guards_of_copies import OF_COPIES
from proofs.guards_of_edits import OF_EDITS
from proofs.guards_of_ends import AFTER_A_START
from proofs.guards_of_flows import OF_FLOWS
from proofs.guards_of_probes import OF_PROBES
from proofs.guards_of_secrets import OF_SECRETS
from proofs.guards_of_servers import OF_SERVERS

GUARDS = (
    *(BEFORE_A_START + OF_EDITS + AFTER_A_START + OF_FLOWS + OF_SECRETS),
    *(OF_CALLS + OF_COPIES + OF_SERVERS + OF_PROBES + OF_CHOICES),
)
ROOT = Path(__file__).resolve().parents[2]
FEW = ("no audit, no action", "doubt is sticky")  # in every run; all of them with --long
TESTED = (
    "runtime",
    "contracts",
    "core",
    "providers",
    "peers",
    "workflow",
    "proofs",
    "host",
    "doubt",
    "bad_input",
    "cli",
    "conftest.py",
    "__init__.py",
)


def copy(folder: Path) -> Path:
    """The program and the tests of its heart."""
    quiet = shutil.ignore_patterns("__pycache__", "node_modules")
    shutil.copytree(ROOT / "toolgate_cli", folder / "toolgate_cli", ignore=quiet)
    for name in TESTED:
        source = ROOT / "tests" / name
        if source.is_dir():
            shutil.copytree(source, folder / "tests" / name, ignore=quiet)
        else:
            (folder / "tests").mkdir(exist_ok=True)
            shutil.copy(source, folder / "tests" / name)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@lru_cache(maxsize=1)
def sources() -> dict[Path, str]:
    return {path.relative_to(ROOT): path.read_text() for path in sorted((ROOT / "toolgate_cli").rglob("*.py"))}


def places(guard: Guard) -> list[Path]:
    """The files that the guard stands in, once for every time that it does."""
    return [path for path, text in sources().items() for _ in range(text.count(guard.line))]


def run(folder: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """The tests against the copy. 0: they pass; 1: some fail."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=280, check=False)


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_guard_stands_in_one_place(guard: Guard) -> None:
    assert len(places(guard)) == 1, places(guard)
    assert guard.line != guard.without


def test_each_names_tests_that_there_are() -> None:
    named = {test for guard in GUARDS for test in guard.caught_by}
    assert [test for test in sorted(named) if not _is_there(test)] == []


def _is_there(named: str) -> bool:
    file, _, test = named.partition("[")[0].partition("::")
    return (ROOT / file).is_file() and (not test or f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"))


def test_every_invariant_of_the_runtime_has_a_guard() -> None:
    assert {f"I{number}" for number in range(1, 14) if number != 11} <= {guard.invariant for guard in GUARDS}
    assert len({guard.name for guard in GUARDS}) == len(GUARDS) and set(FEW) <= {guard.name for guard in GUARDS}


def test_with_all_its_guards_the_copy_passes(tmp_path: Path, long: bool) -> None:
    """Else a copy that cannot even be imported would count as noticed."""
    wanted = dict.fromkeys(test for guard in GUARDS if long or guard.name in FEW for test in guard.caught_by)
    folder = copy(tmp_path)
    where = folder / "tests" / "runtime" / "test_where.py"
    where.write_text(f"import toolgate_cli\n\n\ndef test_where() -> None:\n    assert toolgate_cli.__file__.startswith({str(folder)!r})\n")
    done = run(folder, "tests/runtime/test_where.py", *wanted)
    assert done.returncode == 0, done.stdout[-2000:]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All guards with `--long`, a few without."""
    if "missing" in metafunc.fixturenames:
        chosen = [guard for guard in GUARDS if metafunc.config.getoption("--long") or guard.name in FEW]
        metafunc.parametrize("missing", chosen, ids=[guard.name for guard in chosen])


def test_a_guard_that_is_taken_out_is_missed(missing: Guard, tmp_path: Path) -> None:
    guard = missing
    folder = copy(tmp_path)
    [path] = places(guard)
    text = sources()[path].replace(guard.line, guard.without)
    compile(text, str(path), "exec")
    (folder / path).write_text(text)
    done = run(folder, *guard.caught_by)
    assert done.returncode == 1, f"nobody missed it:\n{done.stdout[-2000:]}{done.stderr[-500:]}"
    assert "error during collection" not in done.stdout
