"""Small faults that a person could make in a module, one at a time: each is a place in its syntax tree and what stands there instead."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import NamedTuple

DECIDING = "comparison"  # the kind of change of which none may survive
_LONGEST = 110  # characters of code in the name of a change


class Change(NamedTuple):
    """`name` is the same as long as the code is: where it is, what stood there and what stands there now."""

    at: int  # its place among the changes of the module
    line: int
    inside: bool  # within a function: only tests that run this line can notice
    kind: str
    name: str


class _Site(NamedTuple):
    where: str
    line: int
    inside: bool
    kind: str
    was: str
    now: str
    apply: Callable[[], None]


def changes(file: Path) -> list[Change]:
    """Every change of a module, in the order of its text."""
    found = []
    seen: Counter[str] = Counter()
    for at, site in enumerate(_sites(ast.parse(file.read_text()))):
        name = f"{site.where}: {_short(site.was)} -> {_short(site.now)}"
        seen[name] += 1
        found.append(Change(at, site.line, site.inside, site.kind, name if seen[name] == 1 else f"{name} #{seen[name]}"))
    return found


def changed(file: Path, at: int) -> CodeType:
    """The module with that change in it, ready to be executed."""
    tree = ast.parse(file.read_text())
    list(_sites(tree))[at].apply()
    return compile(ast.fix_missing_locations(tree), str(file), "exec")


def _short(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "..."


def _sites(tree: ast.Module) -> Iterator[_Site]:
    yield from _Walk().visit(tree, "", False)


class _Walk:
    """Visits what is executed: no annotation, no docstring, no import, no assertion, no message of an error."""

    def visit(self, node: ast.AST, where: str, inside: bool) -> Iterator[_Site]:
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "type_comment", "type_params") or _is_type(node):
                continue
            if isinstance(value, list):
                for index, child in enumerate(list(value)):
                    if isinstance(child, ast.AST):
                        yield from self._child(node, child, where, inside, _in_list(value, index), field, index)
            elif isinstance(value, ast.AST):
                yield from self._child(node, value, where, inside, _in_field(node, field), field, 0)

    def _child(
        self, parent: ast.AST, child: ast.AST, where: str, inside: bool, put: Callable[[ast.AST], None], field: str, index: int
    ) -> Iterator[_Site]:
        if isinstance(child, (ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Assert)) or _is_docstring(child) or _is_guard(child):
            return
        if isinstance(parent, ast.Call) and _raises(parent) and (field == "keywords" or index > 0):
            return
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            where = f"{where}.{child.name}".lstrip(".")
        for kind, now in _instead(child, parent, field, inside):
            line = getattr(child, "lineno", getattr(parent, "lineno", 0))
            shown = "nothing" if isinstance(now, ast.Pass) else "nothing" if now is None else ast.unparse(now)
            apply = (lambda node=now: put(node)) if now is not None else _take_out(parent, field, index)
            yield _Site(where or "module", line, inside, kind, ast.unparse(child), shown, apply)
        within = inside or isinstance(child, (ast.FunctionDef, ast.Lambda))
        yield from self.visit(child, where, within)


def _in_list(of: list[ast.AST], index: int) -> Callable[[ast.AST], None]:
    return lambda node: of.__setitem__(index, node)


def _in_field(of: ast.AST, field: str) -> Callable[[ast.AST], None]:
    return lambda node: setattr(of, field, node)


def _take_out(of: ast.AST, field: str, index: int) -> Callable[[], None]:
    return lambda: getattr(of, field).pop(index)


# ---- what is left alone ----
def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_guard(node: ast.AST) -> bool:
    """`if TYPE_CHECKING:` is never executed."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _is_type(node: ast.AST) -> bool:
    """A type alias: `Literal[...]`, a union of classes."""
    value = getattr(node, "value", None)
    literal = isinstance(node, ast.Assign) and isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name)
    return (literal and value.value.id == "Literal") or (isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias")


def _raises(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id.endswith("Error")


# ---- what stands there instead ----
_OPPOSITE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Mod: ast.Add,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip


def _instead(node: ast.AST, parent: ast.AST, field: str, inside: bool) -> Iterator[tuple[str, ast.AST | None]]:
    """(kind, what takes its place; None: it is taken out of its list)."""
    if isinstance(node, ast.expr):
        yield from _expressions(node, parent, field)
    elif isinstance(node, ast.keyword) and isinstance(parent, ast.Call) and ast.unparse(parent.func).endswith("_replace"):
        yield "field not changed", None
    elif isinstance(node, ast.stmt):
        yield from _statements(node, parent, inside)


def _expressions(node: ast.expr, parent: ast.AST, field: str) -> Iterator[tuple[str, ast.AST | None]]:
    if isinstance(node, ast.Compare):
        for index, op in enumerate(node.ops):
            for other in _OPPOSITE[type(op)]:
                yield DECIDING, ast.Compare(node.left, [*node.ops[:index], other(), *node.ops[index + 1 :]], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield DECIDING, ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
        for index in range(len(node.values)):
            rest = [*node.values[:index], *node.values[index + 1 :]]
            yield DECIDING, rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield DECIDING, node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield "arithmetic", ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.Constant):
        yield from _constants(node)
    if (field in ("test", "ifs")) and not isinstance(node, (ast.Compare, ast.UnaryOp, ast.Constant)):
        yield DECIDING, ast.UnaryOp(ast.Not(), node)


def _constants(node: ast.Constant) -> Iterator[tuple[str, ast.AST | None]]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, (int, float)):
        yield "constant", ast.Constant(value + 1)
    elif isinstance(value, str) and value.replace("_", "").replace("-", "").isalpha():  # a word that means something, not a message
        yield "constant", ast.Constant(value + "X")


def _statements(node: ast.stmt, parent: ast.AST, inside: bool) -> Iterator[tuple[str, ast.AST | None]]:
    if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield "returned value", ast.Return(ast.Constant(None))
    if isinstance(node, ast.Return) and isinstance(parent, (ast.If, ast.For, ast.While)):
        yield "statement", ast.Pass()
    removable = (ast.Raise, ast.AugAssign, ast.Delete, ast.Break, ast.Continue)
    if isinstance(node, removable) or (inside and isinstance(node, ast.Expr) and not isinstance(node.value, (ast.Yield, ast.YieldFrom))):
        yield "statement", ast.Pass()
    if isinstance(node, ast.Assign) and any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets):
        yield "statement", ast.Pass()
