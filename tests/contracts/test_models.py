"""What holds for every model adapter, found by its file: its fields can be checked, and it has the one function that the engine calls."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import toolgate_cli.models
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.tables import hints, is_fields
from toolgate_cli.core.turns import Completion, TurnRequest

ADAPTERS = sorted(path.stem for path in Path(toolgate_cli.models.__path__[0]).glob("*.py") if not path.stem.startswith("_"))
REQUEST = TurnRequest("r1", "refund", "decide", "clerk", 0, "be kind", {}, (), (), ("complete",))
SCRIPT = 'schema = 1\n[[turns]]\ncommands = [ { type = "complete", output = "fine" } ]\n'


@pytest.fixture(params=ADAPTERS)
def adapter(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(f"toolgate_cli.models.{request.param}")


def test_there_are_adapters_to_look_at() -> None:
    assert {"scripted", "openai", "anthropic"} <= {*ADAPTERS}


def test_it_says_what_it_is_for_and_declares_its_fields_as_an_annotated_table(adapter: ModuleType) -> None:
    assert adapter.__doc__ and is_fields(adapter.Fields)
    assert set(hints(adapter.Fields)) == set(adapter.Fields._fields)
    assert "adapter" not in adapter.Fields._fields


def test_it_completes_from_its_fields_the_home_a_request_and_its_means(adapter: ModuleType) -> None:
    assert len(inspect.signature(adapter.complete).parameters) == 4


def test_what_it_says_of_its_files_takes_its_fields_and_the_home(adapter: ModuleType) -> None:
    for name in ("files", "check", "asks", "doubts"):
        if hasattr(adapter, name):
            assert len(inspect.signature(getattr(adapter, name)).parameters) == 2


def test_importing_it_loads_no_library_that_only_a_call_needs(adapter: ModuleType) -> None:
    heavy = ("tomllib", "http.client", "urllib.request", "pydantic", "difflib", "httpx2", "tomli_w")
    code = f"import sys, {adapter.__name__}; print([m for m in {heavy!r} if m in sys.modules])"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(toolgate_cli.__path__[0]).parent
    )
    assert shown.stdout.strip() == "[]"


def test_the_embedded_one_gives_an_answer_or_says_why_there_is_none(tmp_path: Path) -> None:
    from toolgate_cli.models import scripted

    (tmp_path / "script.toml").write_text(SCRIPT)
    assert scripted.complete(scripted.Fields("script.toml"), str(tmp_path), REQUEST) == Completion(
        [{"type": "complete", "output": "fine"}], tokens_total=0
    )
    with pytest.raises(ToolgateError):
        scripted.complete(scripted.Fields("gone.toml"), str(tmp_path), REQUEST)
