"""The official JSON Schema test suite, through the same check and the same validators that a tool's arguments meet."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.missing import missing

from toolgate_cli.core.types import Json
from toolgate_cli.workflow.checks.schemas import check_schema
from toolgate_cli.workflow.issues import Issues
from toolgate_cli.workflow.validators import load

ROOT = Path(__file__).parents[2]
SUITE = Path(os.environ.get("JSON_SCHEMA_SUITE", ROOT / ".ci-venv" / "json-schema-suite"))
DRAFTS = {"draft2020-12": {}, "draft7": {"$schema": "http://json-schema.org/draft-07/schema#"}}

# why a schema is refused before anything is judged by it: what leads out of it, and a dialect of its own
REFUSALS = (
    "only references inside this schema are followed",
    "$id stands at the top of a schema only",
    "only the drafts 2020-12 and draft-07 are supported",
)
JUDGED = {"draft2020-12": (1143, 114), "draft7": (856, 57)}  # of the tests of what every validator has to do: judged rightly, refused


def groups(draft: str, folder: str = "") -> Iterator[tuple[str, dict[str, Json], list[dict[str, Json]]]]:
    """File, schema and tests of each group."""
    files = sorted((SUITE / draft / folder).glob("*.json"))
    if not files:
        missing("the suite is not there", ".ci/environment")
    for file in files:
        for group in json.loads(file.read_text(encoding="utf-8")):
            schema = group["schema"]
            yield file.name, ({**DRAFTS[draft], **schema} if isinstance(schema, dict) else schema), group["tests"]


@pytest.mark.parametrize("draft", DRAFTS)
def test_what_is_judged_is_judged_rightly_and_the_rest_is_refused(draft: str) -> None:
    right = refused = 0
    for file, schema, tests in groups(draft):
        issues = Issues()
        if not check_schema(schema, (), issues):
            refused += len(tests)
            assert any(issue.text in REFUSALS for issue in issues.errors), (file, schema)
            continue
        check = load(schema)
        for test in tests:
            assert (check(test["data"]) == ()) == test["valid"], (file, schema, test["description"])
            right += 1
    assert (right, refused) == JUDGED[draft]


@pytest.mark.parametrize("draft", DRAFTS)
def test_of_what_is_optional_only_white_space_in_patterns_and_encodings_differ(draft: str) -> None:
    wrong: Counter[str] = Counter()
    for file, schema, tests in groups(draft, "optional"):
        if check_schema(schema, (), Issues()):
            check = load(schema)
            wrong.update(file for test in tests if (check(test["data"]) == ()) != test["valid"])
    assert wrong == {"ecmascript-regex.json": 10, **({"content.json": 4} if draft == "draft7" else {})}
