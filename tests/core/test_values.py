"""A value of toolgate is a NamedTuple of typing's in everything that anybody may ask of it."""

from __future__ import annotations

import pickle
import typing

import pytest

from toolgate_cli.core import fields, values


class Ours(values.NamedTuple):
    """Said."""

    a: int
    b: typing.Sequence[str] = ()
    c: str | None = None

    @property
    def twice(self) -> int:
        return self.a * 2

    @classmethod
    def of(cls, a: int) -> Ours:
        return cls(a)


class Theirs(typing.NamedTuple):
    """Said."""

    a: int
    b: typing.Sequence[str] = ()
    c: str | None = None


class Empty(values.NamedTuple):
    """No field at all."""


@pytest.mark.parametrize(
    ("items", "named"), [((1,), {}), ((1, "x"), {}), ((), {"a": 1, "c": "z"}), ((1, "x", "y"), {}), ((1,), {"b": "q"})]
)
def test_it_is_made_and_read_the_same(items, named):
    ours, theirs = Ours(*items, **named), Theirs(*items, **named)
    assert ours == theirs and hash(ours) == hash(theirs)
    assert (ours.a, ours.b, ours.c) == (theirs.a, theirs.b, theirs.c)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert ours._asdict() == theirs._asdict() and list(ours._asdict()) == ["a", "b", "c"]
    assert ours._replace(c="n") == theirs._replace(c="n") and type(ours._replace(c="n")) is Ours
    assert Ours._make(ours) == ours and type(Ours._make(ours)) is Ours
    assert pickle.loads(pickle.dumps(ours)) == ours and type(pickle.loads(pickle.dumps(ours))) is Ours


def test_values_of_two_types_are_never_equal_and_a_plain_tuple_is_as_for_typing():
    class Other(values.NamedTuple):
        """Neither here."""

    class Also(values.NamedTuple):
        a: int
        b: typing.Sequence[str] = ()
        c: str | None = None

    assert Empty() != Other() and Empty() == Empty() and {Empty(): 1}.get(Other()) is None
    assert Ours(1) != Also(1) and Ours(1) == Ours(1) and Ours(1) == (1, (), None) and Ours(1) != Ours(2)
    assert {Empty(), Other()} == {Other(), Empty()} and len({Empty(), Other(), Ours(1), Also(1), Ours(1)}) == 4


def test_what_is_said_of_a_field_is_not_what_was_said_of_another_with_as_few_words():
    """typing keeps `Annotated[...]` and hands out one that is equal."""
    said = [it for it in vars(fields).values() if isinstance(it, type) and issubclass(it, tuple)]
    markers = [it() for it in said if len(it._fields) == len(it._field_defaults)]
    assert len(markers) == 11
    for one in markers:
        for other in markers:
            assert (one == other) is (type(one) is type(other))
    for marker in [*markers, *markers[::-1]]:
        assert type(typing.get_args(typing.Annotated[str, marker])[1]) is type(marker)


@pytest.mark.parametrize(("items", "named"), [((), {}), ((1, 2, 3, 4), {}), ((1,), {"a": 2}), ((1,), {"d": 2}), ((), {"b": 2})])
def test_what_does_not_fit_is_refused_the_first_time_and_later(items, named):
    class Fresh(values.NamedTuple):
        a: int
        b: str = ""

    for _ in range(2):
        with pytest.raises(TypeError):
            Fresh(*items, **named)
    assert Fresh(1) == (1, "")


def test_its_class_says_the_same():
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__slots__"):
        assert getattr(Ours, name) == getattr(Theirs, name), name
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    assert (Ours.__module__, Ours.__qualname__) == (__name__, "Ours") and issubclass(Ours, tuple)


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        Ours(1).a = 2  # type: ignore[misc]  # that it is refused is what is tested
    with pytest.raises(AttributeError):
        Ours(1).d = 2  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="no d"):
        Ours(1)._replace(d=2)  # type: ignore[call-arg]


def test_methods_and_patterns_work():
    assert Ours.of(2).twice == 4 and Empty() == () and repr(Empty()) == "Empty()"
    match Ours(1, "b"):
        case Ours(a, b=b):
            assert (a, b) == (1, "b")
        case _:
            raise AssertionError


def test_a_class_that_would_lie_is_refused():
    with pytest.raises(TypeError, match="without a default"):

        class Late(values.NamedTuple):  # type: ignore[misc]
            a: int = 1
            b: int

    with pytest.raises(TypeError, match="no name of a field"):

        class Hidden(values.NamedTuple):  # type: ignore[misc]
            _a: int
