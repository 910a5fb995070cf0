"""Tools are started by the gate and by nothing else: only it makes a Claim, calls a provider, or leads to a new process (I1)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import toolgate_cli

PACKAGE = Path(toolgate_cli.__file__).parent
STARTERS = {"subprocess", "pty", "multiprocessing", "asyncio", "concurrent", "_posixsubprocess"}
STARTING = {"fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp", "startfile"}


def nodes() -> Iterator[tuple[str, ast.AST]]:
    """Every node of the package, with its file."""
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            yield file, node


def called(node: ast.AST) -> str | None:
    """The last name of what a call calls: `f(...)` and `a.b.f(...)` are both `f`."""
    if not isinstance(node, ast.Call):
        return None
    return node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else None


def receiver(node: ast.AST) -> str | None:
    """`a` of the call `a.f(...)`."""
    return ast.unparse(node.func.value) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def test_a_claim_is_made_by_the_gate_alone() -> None:
    assert {file for file, node in nodes() if called(node) == "Claim"} == {"runtime/gate.py"}


def test_a_provider_is_invoked_by_the_gate_alone() -> None:
    places = {(file, receiver(node)) for file, node in nodes() if called(node) == "invoke" and receiver(node) is not None}
    # cli/invoke.py runs the Typer command that it has just built; the engine asks the gate
    assert places == {
        ("runtime/gate.py", "ports.provider(claim.tool)"),
        ("runtime/gate.py", "ports.provider(tool._replace(provider=PROBER))"),  # a probe: it is no start
        ("runtime/engine.py", "gate"),
        ("cli/invoke.py", "command"),
    }


def test_a_provider_is_looked_up_to_be_invoked_by_the_gate_alone() -> None:
    assert {file for file, node in nodes() if called(node) == "provider" and receiver(node) in ("ports", "self.ports")} == {
        "runtime/gate.py"
    }


def test_no_function_called_invoke_is_passed_on_under_another_name() -> None:
    held = {file for file, node in nodes() if isinstance(node, ast.Attribute) and node.attr == "invoke" and isinstance(node.ctx, ast.Load)}
    assert held == {"runtime/gate.py", "runtime/engine.py", "cli/invoke.py"}
    imported = {file for file, node in nodes() if isinstance(node, ast.ImportFrom) and any(alias.name == "invoke" for alias in node.names)}
    assert all(file.startswith("cli/") for file in imported)


def outside(node: ast.AST) -> set[str]:
    """Top names of the packages from elsewhere that an import names."""
    if isinstance(node, ast.Import):
        return {alias.name.split(".")[0] for alias in node.names}
    return {(node.module or "").split(".")[0]} if isinstance(node, ast.ImportFrom) and node.level == 0 else set()


def test_processes_are_started_in_host_alone() -> None:
    importing = {file for file, node in nodes() if outside(node) & STARTERS}
    called_of_os = [(file, called(node) or "") for file, node in nodes() if receiver(node) == "os"]
    starting = {file for file, name in called_of_os if name in STARTING or name.startswith(("exec", "spawn"))}
    assert starting == {"host/spawning.py"} and importing == {"providers/_mcp_http.py"}
    # which has the loop of an HTTP client, and starts no process with it
    assert not [file for file, node in nodes() if isinstance(node, ast.Attribute) and "subprocess" in node.attr and file.startswith("prov")]


def importing(package: str, module: str) -> set[str]:
    """The files that import a module from that package; "": from the one that they stand in."""
    imports = [(file, node) for file, node in nodes() if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(package)]
    return {file for file, node in imports if any(alias.name == module for alias in node.names)}


def test_running_a_process_is_known_to_providers_alone() -> None:
    assert importing("host", "running") == {"providers/command.py", "providers/_children.py"}
    assert importing("", "_children") == {"providers/http.py", "providers/python.py"}
