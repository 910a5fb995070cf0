"""What a schema says of arguments that are left out, for the policy alone: what is stored, shown and run stays as it was asked for."""

from __future__ import annotations

from .types import Json


def filled(schema: Json, value: Json) -> Json:
    """The value with the defaults of the properties that it leaves out, at any depth of `properties`; the value itself is not changed."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not isinstance(value, dict):
        return value
    made = dict(value)
    for name, inner in properties.items():
        if name in made:
            made[name] = filled(inner, made[name])
        elif isinstance(inner, dict) and "default" in inner:
            made[name] = filled(inner, inner["default"])
    return made
