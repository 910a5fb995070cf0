from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core.turns import Offer
from toolgate_cli.models._offering import COMMANDS, functions, meanings, spelled

from .asking import ALL, REQUEST

SEGMENT = st.from_regex(r"[a-c][a_-]{0,4}", fullmatch=True)
CAPABILITIES = st.lists(
    st.one_of(st.lists(SEGMENT, min_size=1, max_size=4).map(".".join), st.sampled_from(COMMANDS)), unique=True, max_size=12
)


@given(CAPABILITIES)
def test_every_name_is_one_that_the_apis_take_and_means_one_capability(capabilities: list[str]) -> None:
    names = [spelled(each) for each in capabilities]
    assert len(set(names)) == len(names) and all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    assert not {*names} & {*COMMANDS}
    request = REQUEST._replace(tools=tuple(Offer(each, "", True) for each in capabilities))
    assert [meanings(request)[name] for name in names] == capabilities


@pytest.mark.parametrize(
    "capability, name", [("orders.lookup", "orders__lookup"), ("git.git_commit", "git__git_commit"), ("math", "math"), ("a-b.c", "a-b__c")]
)
def test_a_plain_capability_can_be_read_in_its_name(capability: str, name: str) -> None:
    assert spelled(capability) == name


@pytest.mark.parametrize("capability", ["a__b", "a_.b", "complete", "x" * 65, "a." * 40 + "b", "", "Ünï\n", "a b"])
def test_one_that_could_be_read_in_two_ways_or_not_at_all_has_a_digest_in_its_name(capability: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{0,42}-X[0-9a-f]{20}", spelled(capability))


def test_tools_come_first_and_commands_as_the_agent_may_use_them() -> None:
    assert [each.name for each in functions(REQUEST)] == ["orders__lookup", "set_context", "ask", "escalate", "continue", "complete"]
    assert [each.name for each in functions(REQUEST._replace(commands=("say", "ask")))] == ["ask"]
    assert "set_context" not in [each.name for each in functions(REQUEST._replace(keys=()))]


def test_what_set_context_may_write_is_in_its_schema() -> None:
    def values(*keys: str) -> object:
        [found] = [each for each in functions(REQUEST._replace(keys=keys)) if each.name == "set_context"]
        return found.schema["properties"]["values"]  # type: ignore[index, call-overload]

    assert values("decision") == {"type": "object", "properties": {"decision": {}}, "additionalProperties": False}
    assert values("*") == {"type": "object"}


@pytest.mark.parametrize("schema, shown", [(True, {"type": "object"}), ({"required": ["a"]}, {"type": "object", "required": ["a"]})])
def test_arguments_are_told_to_be_an_object(schema: object, shown: object) -> None:
    [tool, *_] = functions(REQUEST._replace(tools=(Offer("t", "", schema),), commands=ALL))  # type: ignore[arg-type]
    assert tool.schema == shown
