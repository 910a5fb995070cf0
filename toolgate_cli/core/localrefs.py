"""What the local references of a JSON Schema name: one answer for the check of a schema and for the defaults that the policy sees."""

from __future__ import annotations

from . import pointer
from .subschemas import inner
from .types import Json


class Local:
    """Every schema inside one, and where its references lead. `schemas`: the tables among them by identity, the outermost first."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self.schemas: dict[int, dict[str, Json]] = {}
        self._anchors: dict[str, Json] = {}
        left = [root]
        while left:
            schema = left.pop()
            if not isinstance(schema, dict) or id(schema) in self.schemas:
                continue
            self.schemas[id(schema)] = schema
            anchor = schema.get("$anchor")
            if isinstance(anchor, str):
                self._anchors[anchor] = schema
            left += (held.schema for held in inner(schema))

    def target(self, reference: str) -> Json:
        """The schema that `#`, `#/a/pointer` or `#anchor` names, percent-escapes undone; None where there is none."""
        if not reference.startswith("#"):
            return None
        fragment = reference[1:]
        if "%" in fragment:
            from urllib.parse import unquote  # imported where it is needed: most references have no escapes

            fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment)
        try:
            found = pointer.resolve(self._root, fragment)
        except (KeyError, ValueError):
            return None
        return found if id(found) in self.schemas or isinstance(found, bool) else None
