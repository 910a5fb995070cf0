"""What a tool's table must hold; nothing that could loosen a tool is guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import cast

from ...core import canonical, durations, references
from ...core.config import PROBER
from ...core.errors import ToolgateError
from ...core.fields import Defect
from ...core.tables import table as built
from ...core.types import Json
from .. import models, shapes
from ..conditions import check_condition
from ..issues import Issues, meant, shorten
from ..kinds import Kinds
from ..names import check_capability
from ..outside import Outside
from ..positions import KeyPath
from ..servers import SECTION
from .arguments import missed
from .context import check_tenant_of
from .marks import check_marks
from .schemas import check_schema

EXIT_CODES = range(1, 256)


class Tools:
    """Checks every tool of a file. `longest`: gate.timeout_max in seconds."""

    def __init__(self, kinds: Kinds, outside: Outside, longest: float, issues: Issues) -> None:
        self._kinds = kinds
        self._outside = outside
        self._longest = longest
        self._issues = issues
        self.schemas: dict[str, Json] = {}  # of the tools that have a sound one

    def check(self, name: str, raw: Mapping[str, Json]) -> None:
        path: KeyPath = ("tools", name)
        check_capability(name, path, self._issues)
        table = dict(raw)
        providers = self._kinds.providers()
        if nested := [key for key, held in table.items() if _is_tool(key, held, providers)]:
            for key in nested:
                self._issues.add((*path, key), "a name with dots stands in quotes", f'write [tools."{name}.{key}"]')
            return
        if not models.check(models.Fit((shapes.Tool,), providers), table, path, self._issues):
            return
        check_marks(shapes.Tool, table, path, self._issues)
        self._check_provider(table, [name for name in providers if name in table], path)
        for probe in shapes.PROBES:
            if isinstance(table.get(probe), dict):
                self._check_command(PROBER, table[probe], table, (*path, probe))
        self._check_effect(table, path)
        self._check_timeout(table, path)
        self._check_schema(name, table, path)
        self._check_title(table.get("title"), self.schemas.get(name, True), (*path, "title"))
        self._warn_of_what_goes_nowhere(name, table, path)
        check_tenant_of(table, self.schemas.get(name), path, self._issues)
        if isinstance(named := table.get("tenant_of"), dict):
            self._check_references(named.get("command"), _arguments(table.get("input_schema")), (*path, "tenant_of", "command"))
        used = [name for name in providers if name in table]
        self._check_exit(table, self._codes(used), path)
        self._check_confirm(table, used, path)
        self._check_fail_when(table, path)

    def _check_provider(self, table: Mapping[str, Json], used: list[str], path: KeyPath) -> None:
        if len(used) != 1:
            needed = ", ".join(name for name in self._kinds.providers() if name != SECTION)
            self._issues.add(path, f"needs exactly one of the tables {needed}" + (f", it has {' and '.join(used)}" if used else ""))
            return
        [name] = used
        self._check_command(name, table[name], table, (*path, name))

    def _check_command(self, provider: str, raw: Json, table: Mapping[str, Json], where: KeyPath) -> None:
        """`raw`: a table of that provider, inside of a tool's."""
        fields = self._kinds.provider(provider).Fields
        if models.check(models.Fit((fields,)), raw, where, self._issues) and isinstance(raw, dict):
            check_marks(fields, raw, where, self._issues)
            self._check_references(raw, _arguments(table.get("input_schema")), where)
            check: Callable[[object], Iterable[Defect]] | None = getattr(self._kinds.provider(provider), "check", None)
            for defect in check(built(fields, raw)) if check is not None else ():
                self._issues.add((*where, *defect.path), defect.text, defect.hint)

    def _check_references(self, raw: Json, known: frozenset[str] | None, path: KeyPath) -> None:
        for where, text in texts(raw, path):
            try:
                names = references.names(text)
            except ToolgateError as error:
                self._issues.add(where, error.message, error.hint)
                continue
            for name in names:
                root, _, rest = name.partition(".")
                if root == "secret" and rest:
                    continue  # where one may stand is a matter of the whole file
                if root not in ("args", "env") or not rest:
                    self._issues.add(where, f"nothing is called {name} here", "${args.NAME} is an argument, ${env.NAME} a variable")
                elif root == "args" and known is not None and rest not in known:
                    self._issues.add(where, f"the input schema has no argument {rest}", meant(rest, known))

    def _check_title(self, title: Json, schema: Json, where: KeyPath) -> None:
        """A title is cosmetic: one that cannot be filled falls back to the name, so it is no error."""
        try:
            names = references.names(title)
        except ToolgateError as error:
            self._issues.warn(where, error.message, error.hint)
            return
        for name in names:
            root, _, rest = name.partition(".")
            if root == "args" and (lost := missed(schema, (rest,))) is not None:
                near = meant(rest, lost.known)
                self._issues.warn(where, f"the input schema has no argument {rest}: a call is shown by the tool's name instead", near)
            elif root not in ("args", "secret"):
                self._issues.warn(where, f"nothing is called {name} here", "${args.NAME} is an argument")

    def _check_effect(self, table: Mapping[str, Json], path: KeyPath) -> None:
        safety = table.get("safety", "destructive")
        if table.get("effect") == "read_only" and safety != "read_only":
            hint = 'say safety = "read_only", or another effect'
            self._issues.add((*path, "effect"), f"effect read_only does not go with safety {safety}", hint)
        if table.get("effect") == "reconcilable" and "reconcile" not in table:
            self._issues.add((*path, "effect"), "effect reconcilable needs the table reconcile", "a command that says what was done")
        elif table.get("effect") != "reconcilable" and "reconcile" in table:
            self._issues.warn((*path, "reconcile"), "nobody asks it: the effect is not reconcilable", 'say effect = "reconcilable"')

    def _check_timeout(self, table: Mapping[str, Json], path: KeyPath) -> None:
        timeout = table.get("timeout")
        try:
            seconds = durations.parse(timeout) if isinstance(timeout, str) else 0.0
        except ValueError:
            return  # said already
        if seconds > self._longest:
            self._issues.add((*path, "timeout"), f"longer than gate.timeout_max ({durations.show(self._longest)})", "ask for less")

    def _check_schema(self, name: str, table: Mapping[str, Json], path: KeyPath) -> None:
        given = [key for key in ("input_schema", "input_schema_file") if table.get(key) is not None]
        if len(given) != 1:
            text = "input_schema and input_schema_file cannot both be given" if given else "input_schema is required"
            self._issues.add(path, text, "" if given else f'write a schema, or input_schema = "{shapes.ANY_OBJECT}"')
            return
        where = (*path, given[0])
        self._check_output_schema(table, path)
        schema = table["input_schema"] if given == ["input_schema"] else self._schema_of_file(table["input_schema_file"], where)
        if schema == shapes.ANY_OBJECT:
            return
        if isinstance(schema, str):
            self._issues.add(where, "must be a JSON Schema, a table", f'or "{shapes.ANY_OBJECT}"')
        elif schema is not None and self._is_sound(schema, where, table):
            self.schemas[name] = schema
            if SECTION not in table:
                self._warn_if_open(schema, where)

    def _check_output_schema(self, table: Mapping[str, Json], path: KeyPath) -> None:
        if table.get("output_schema") is not None:
            self._is_sound(table["output_schema"], (*path, "output_schema"), table)

    def _is_sound(self, schema: Json, where: KeyPath, table: Mapping[str, Json]) -> bool:
        """Of what a server wrote nobody here can mend what is only not enforced."""
        found = Issues()
        sound = check_schema(schema, where, found)
        if SECTION in table:
            found.warnings.clear()
        self._issues.take(found, "")
        return sound

    def _schema_of_file(self, name: Json, where: KeyPath) -> Json:
        try:
            schema = canonical.parse(self._outside.text(str(name)))
        except ToolgateError as error:
            self._issues.add(where, f"{name}: {error.message}", error.hint)
            return None
        if not isinstance(schema, (dict, bool)):
            self._issues.add(where, f"{name} does not hold a JSON Schema")
            return None
        return schema

    def _warn_if_open(self, schema: Json, where: KeyPath) -> None:
        if isinstance(schema, dict) and not {"additionalProperties", "unevaluatedProperties", "$ref", "allOf"} & set(schema):
            self._issues.warn(where, "unknown arguments are accepted and given to the tool", "say additionalProperties = false")

    def _warn_of_what_goes_nowhere(self, name: str, raw: Mapping[str, Json], path: KeyPath) -> None:
        """An argument that a person decides on and the tool never sees."""
        schema = self.schemas.get(name)
        declared = schema.get("properties") if isinstance(schema, dict) else None
        for used in self._kinds.providers():
            where, own = (*path, used), raw.get(used)
            if not isinstance(own, dict) or not isinstance(declared, dict) or self._issues.below(where):
                continue
            provider = self._kinds.provider(used)
            if _gives_all(provider, built(provider.Fields, own)):
                continue
            named = {reference for _, text in texts(own, ()) for reference in references.names(text)}
            for argument in (each for each in declared if f"args.{each}" not in named):
                lost = f"the tool is not given the argument {shorten(argument)}"
                self._issues.warn(where, lost, "say ${args.NAME} where it is to go")

    def _codes(self, used: list[str]) -> range:
        return getattr(self._kinds.provider(used[0]), "CODES", EXIT_CODES) if len(used) == 1 else EXIT_CODES

    def _check_exit(self, table: Mapping[str, Json], codes: range, path: KeyPath) -> None:
        exits = table.get("exit")
        seen: dict[int, str] = {}
        for key, declared in exits.items() if isinstance(exits, dict) else ():
            where = (*path, "exit", key)
            for place, code in _each(declared):
                number = self._exit_code(code, codes, where if isinstance(declared, int) else (*where, place))
                if number is not None and seen.setdefault(number, key) != key:
                    self._issues.add(where, f"{number} is declared under {seen[number]} already")

    def _exit_code(self, code: Json, codes: range, where: KeyPath) -> int | None:
        number = code if isinstance(code, int) else _number(code)
        if number in codes:
            return number
        self._issues.add(where, "not an exit code", f"a number from {codes[0]} to {codes[-1]}")
        return None

    def _check_confirm(self, table: Mapping[str, Json], used: list[str], path: KeyPath) -> None:
        exits = table.get("exit")
        code = exits.get("confirm") if isinstance(exits, dict) else None
        if (code is not None) != (table.get("may_confirm") is True):
            where = (*path, "may_confirm") if code is None else (*path, "exit", "confirm")
            self._issues.add(where, "may_confirm and exit.confirm go together", "say may_confirm = true, and the exit code of a question")
        elif code is not None and not all(getattr(self._kinds.provider(name), "CONFIRMS", False) for name in used):
            asking = [name for name in self._kinds.providers() if getattr(self._kinds.provider(name), "CONFIRMS", False)]
            self._issues.add((*path, "exit", "confirm"), "a tool of this kind cannot stop with a question", f"only of {', '.join(asking)}")

    def _check_fail_when(self, table: Mapping[str, Json], path: KeyPath) -> None:
        entries = table.get("fail_when")
        for number, raw in enumerate(entries if isinstance(entries, list) else ()):
            where = (*path, "fail_when", number)
            check_condition(raw, "at", ("code", "on_missing"), where, self._issues)
            if isinstance(raw, dict):
                own = {key: value for key, value in raw.items() if key in ("at", "code", "on_missing")}
                models.check(models.Fit((shapes.FailWhen,)), own, where, self._issues)


def _gives_all(provider: object, fields: object) -> bool:
    """Whether a tool of that table gets all of its arguments, whatever the table refers to."""
    gives_all = cast("Callable[[object], bool] | None", getattr(provider, "gives_all", None))
    return gives_all is None or gives_all(fields)


def _is_tool(key: str, held: Json, providers: tuple[str, ...]) -> bool:
    """Whether something inside a tool is most likely a tool itself, whose name was written without quotes."""
    known = {*models.names(shapes.Tool), *providers}
    return isinstance(held, dict) and not meant(key, known).startswith("did") and key not in known and not known.isdisjoint(held)


def _each(declared: Json) -> Iterator[tuple[str | int, Json]]:
    """The codes of a list, or those that are keys, with their places; or the one."""
    if isinstance(declared, int):
        yield "", declared
        return
    yield from enumerate(declared) if isinstance(declared, list) else ((key, key) for key in declared) if isinstance(declared, dict) else ()


def _number(code: Json) -> int:
    """Of a key as TOML has it; 0 for what is no number."""
    return int(code) if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) < 4 and code[0] != "0" else 0


def texts(raw: Json, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Every text in a value, with its place; keys are not values."""
    if isinstance(raw, str):
        yield path, raw
    elif isinstance(raw, dict):
        for key, value in raw.items():
            yield from texts(value, (*path, key))
    elif isinstance(raw, list):
        for number, value in enumerate(raw):
            yield from texts(value, (*path, number))


def _arguments(schema: Json) -> frozenset[str] | None:
    """The arguments that there can be; None where the schema leaves that open."""
    if isinstance(schema, dict) and schema.get("additionalProperties") is False and "patternProperties" not in schema:
        properties = schema.get("properties", {})
        return frozenset(properties) if isinstance(properties, dict) else None
    return None
