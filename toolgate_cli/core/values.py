"""The immutable values that everything is said in: typing's NamedTuple to whoever reads or checks the code, and a fraction of its cost.

A process that decides one call defines well over a hundred of them and makes a few: typing compiles the annotations and the constructor of
each when it is defined. Here the annotations stay text, and a constructor is made with the first value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter as field
    from types import FunctionType, MappingProxyType

    _SIZES = {}  # number of fields -> the code of a constructor for so many

    def _constructor(cls):
        """Parsing costs far more than all else of it, so a text is parsed once for each number of fields; names are put in afterwards."""
        names = cls._fields
        if (code := _SIZES.get(len(names))) is None:
            items = "".join(f"_{at}, " for at in range(len(names)))
            code = _SIZES[len(names)] = eval(f"lambda cls, {items}: new(cls, ({items}))").__code__
        code = code.replace(co_varnames=("cls", *names), co_name="__new__", co_qualname=f"{cls.__name__}.__new__")
        made = FunctionType(code, {"new": tuple.__new__, "__name__": cls.__module__, "__builtins__": {}}, "__new__")
        made.__defaults__ = tuple(cls._field_defaults.values()) or None
        return made

    class Value(tuple):
        """What every NamedTuple inherits. `_fields`: names, in order; `_field_defaults`: name -> value, of the last ones."""

        __slots__ = ()
        _fields = ()
        _field_defaults = MappingProxyType({})

        def __new__(cls, *items, **named):
            cls.__new__ = made = _constructor(cls)
            return made(cls, *items, **named)

        def __eq__(self, other):
            """Values of two types are never equal, not even without a field: typing remembers `Annotated[...]` by what is equal."""
            return False if isinstance(other, Value) and type(other) is not type(self) else tuple.__eq__(self, other)

        def __ne__(self, other):
            return not self == other

        __hash__ = tuple.__hash__

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in zip(self._fields, self, strict=True))})"

        @classmethod
        def _make(cls, items):
            made = tuple.__new__(cls, items)
            if len(made) != len(cls._fields):
                raise TypeError(f"{cls.__name__} has {len(cls._fields)} fields, not {len(made)}")
            return made

        def _replace(self, **changed):
            made = tuple.__new__(type(self), map(changed.pop, self._fields, self))
            if changed:
                raise ValueError(f"{type(self).__name__} has no {', '.join(changed)}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

    class _Definition(type):
        """Turns a class body of annotated names into a tuple with these names."""

        def __new__(mcs, name, _bases, body):
            names = tuple(body.get("__annotations__", ()))
            defaults = {key: body[key] for key in names if key in body}
            if list(defaults) != list(names[len(names) - len(defaults) :]):
                raise TypeError(f"{name}: a field without a default stands behind one that has one")
            for at, key in enumerate(names):
                if key.startswith("_"):
                    raise TypeError(f"{name}: {key} is no name of a field")
                body[key] = field(at, key)
            body.update(__slots__=(), __match_args__=names, _fields=names, _field_defaults=defaults)
            return type(name, (Value,), body)

    NamedTuple = type.__new__(_Definition, "NamedTuple", (), {})
