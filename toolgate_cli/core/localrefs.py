"""What the local references of a JSON Schema name: one answer for the check of a schema and for the defaults that the policy sees."""

from __future__ import annotations

from . import pointer
from .subschemas import inner
from .types import Json

# a dynamic reference looks for the outermost schema that has the anchor; where one schema is all there is, it leads where a plain one does
REFERENCES = ("$ref", "$dynamicRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")
OLD_ANCHOR = "#"  # what an `$id` of draft-07 begins with that names a place and no document


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
            for anchor in _anchors(schema):
                self._anchors[anchor] = schema
            left += (held.schema for held in inner(schema))

    def targets(self, schema: dict[str, Json]) -> list[Json]:
        """The schemas that the references of one lead to."""
        named = [schema[keyword] for keyword in REFERENCES if keyword in schema]
        return [self.target(reference) for reference in named if isinstance(reference, str)]

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


def _anchors(schema: dict[str, Json]) -> list[str]:
    named = [schema[keyword] for keyword in _ANCHORS if keyword in schema]
    named += [held[1:] for held in (schema.get("$id"),) if isinstance(held, str) and held.startswith(OLD_ANCHOR)]
    return [anchor for anchor in named if isinstance(anchor, str)]
