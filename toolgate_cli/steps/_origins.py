"""Where what a template brings in came from, and a prompt that is filled with it: data from outside stays data."""

from __future__ import annotations

from ..core import canonical, references, untrusted
from ..core.intents import View
from ..core.types import Json, Provenance


def of(template: Json, view: View) -> Provenance:
    """The least trusted origin of all that the references in it bring in; `system` where it has none."""
    return untrusted.least(view.provenance(name) for name in references.names(template))


def prompt(template: str, view: View) -> str:
    """The prompt with its references filled, what came from outside between its marks. Raises ToolgateError("invalid") naming the
    reference that cannot be filled."""
    return "".join(part if isinstance(part, str) else _filled(part, view) for part in references.split(template))


def _filled(reference: references.Reference, view: View) -> str:
    value, came = view.fill(str(reference)), view.provenance(reference.name)
    if not untrusted.is_trusted(came):
        return untrusted.wrap(str(reference)[2:-1], came, value)
    return value if isinstance(value, str) else canonical.encode(value)
