"""Folders of the other format: mapped whole into a home that `workflow check` accepts, or refused by file and field with nothing written."""

# ruff: noqa: E501 - tables are read by the line

from __future__ import annotations

import copy
import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.workflow.files import HomeFiles
from toolgate_cli.workflow.importing import folder
from toolgate_cli.workflow.importing.home import import_folder

from .bundles import AUTO, TALK, answer, fail, put, ref, step, whole
from .homes import KINDS, never

FLOW = "workflows/tour.workflow/workflow.json"
AGENT = "agents/writer.agent/agent.json"


@pytest.fixture
def imported(tmp_path: Path) -> Any:
    """The files of the home, TOML as tables."""

    def run(files: dict[str, Any]) -> dict[str, Any]:
        written = import_folder(str(put(tmp_path / "from", files)), str(tmp_path / "home"))
        texts = {os.path.relpath(path, tmp_path / "home"): Path(path).read_text() for path in written}
        return {name: tomllib.loads(text) if name.endswith(".toml") else text for name, text in texts.items()}

    return run


def refused(folder: Path, files: dict[str, Any]) -> str:
    """What is said; nothing is written."""
    home = folder / "home"
    with pytest.raises(ToolgateError) as caught:
        import_folder(str(put(folder / "from", files)), str(home))
    assert caught.value.kind == "invalid" and not home.exists()
    return caught.value.message


def test_every_kind_of_step_is_mapped(imported: Any) -> None:
    flow = imported(whole())["workflows/tour.toml"]
    steps = {held["id"]: {key: value for key, value in held.items() if key not in ("id", "title")} for held in flow["steps"]}
    assert [held["title"] for held in flow["steps"]][:2] == ["Ask", "Policy"]
    talks = {"reads": ["*"], "writes": ["*"]}
    looped = {"type": "block", "block": "refine", "gate": "approval", "repeat": {"until": "agent_done", "max": 5, "at_max": "fail"}}
    assert steps == {
        "ask": {"type": "input", "form": "claim", "writes": ["amount"]},
        "policy": {"type": "resource", "file": "templates/policy.md", "save_as": "policy"},
        "tier": {"type": "assign", "set": {"tier": "pay $${x}"}},
        "draft": {
            "type": "agent",
            "agent": "writer",
            "reads": ["claim.amount", "tool.crm.lookup"],
            "writes": ["draft", "plain"],
            "gate": "review",
            "prompt": "Write it, $${now}.",
            "retry": {"allow": True, "allow_from_previous": True, "max_retries": 3},
        },
        "debate": {
            "type": "spar",
            "agent": "writer",
            "challenger": "critic",
            "max_rounds": 3,
            "resolution_prompt": "Decide.",
            "prompt": "Argue.",
            **talks,
        },
        "route": {
            "type": "branch",
            "on": "tier",
            "arms": {
                "": "none",
                "high": "plain",
                "urgent": "plain",
                "late": "late",
                "low": "low",
                "done": "continue",
                "loop": "refine-2",
                "*": "other",
            },
        },
        "refine": looped,
        "refine-2": looped,
        "judged": {
            "type": "block",
            "block": "judged",
            "repeat": {"until": "evaluator", "max": 5, "at_max": "pause", "evaluator": "critic"},
        },
        "counted": {"type": "block", "block": "counted", "repeat": {"until": "count", "max": 5}},
        "each": {"type": "block", "block": "each", "repeat": {"until": "each", "max": 5, "at_max": "pause", "each": "draft"}},
        "again": {"type": "retry_previous", "step": "draft", "mode": "from", "max_retries": 2, "fallback": "over"},
        "check": {
            "type": "validate",
            "require": {"files": ["out/report.json"]},
            "equal": [{"key": "tier", "file": "out/report.json", "at": "/tier"}],
        },
        "sub": {"type": "workflow", "workflow": "kyc", "share": True, "gate": "approval"},
        "inner": {"type": "workflow", "workflow": "inner", "share": True},
    }
    blocks = flow["blocks"]
    assert set(blocks) == {"plain", "refine", "judged", "counted", "each", "none", "late", "low", "other", "over", "refine-2"}
    [low], [again] = blocks["low"], blocks["refine-2"]
    assert low == {"id": "low", "type": "agent", "title": "Low", "agent": "writer", "prompt": "Be short.", **talks}
    assert {key: again[key] for key in looped} == looped and blocks["other"][0]["set"] == {"n": 1.5}
    assert flow["forms"] == {
        "claim": [
            {"id": "amount", "type": "NUMBER", "label": "Amount", "required": True},
            {"id": "why", "type": "TEXT", "label": "Why (in short)"},
            {"id": "kinds", "type": "MULTI_CHOICE", "label": "Kinds", "options": ["a", "b"]},
        ]
    }


def test_agents_and_the_script_are_mapped(imported: Any) -> None:
    files = imported(whole())
    operator = files["toolgate.toml"]
    writer, critic = operator["agents"]["writer"], operator["agents"]["critic"]
    assert (files["agents/writer.md"], files["agents/critic.md"]) == ("Write.\n\nNothing else.", "Doubt.")
    assert set(writer["commands"]) == {"set_context", "tool_invocation", "ask", "say", "continue", "complete", "escalate"}
    assert (writer["tools"], "max_turns" in writer) == (["**"], False)
    assert (critic["commands"], critic["tools"], critic["max_turns"]) == (["set_context", "complete"], [], 1)
    assert {name: tool["enabled"] for name, tool in operator["tools"].items()} == {
        "crm.lookup": False,
        "file.create": False,
        "shell.run": False,
    }
    first, second, third, fourth = files["scripts/imported.toml"]["turns"]
    assert [turn["ordinal"] for turn in (first, second, third, fourth)] == [0, 1, 2, 3]
    assert (first["workflow"], first["step"], first["agent"]) == ("tour", "draft", "writer")
    assert first["commands"] == [
        {"type": "set_context", "values": {"draft": ["a", {"b": 1}]}},
        {"type": "set_context", "values": {"plain": 7}},
        {"type": "tool_invocation", "capability": "file.create", "arguments": {"path": "out/report.json", "content": ""}},
        {"type": "tool_invocation", "capability": "file.create", "arguments": {"path": "out/other.json", "content": "x"}},
        {"type": "tool_invocation", "capability": "shell.run", "arguments": {"command": "make"}},
        {"type": "tool_invocation", "capability": "crm.lookup", "arguments": {"id": 1}, "id": "t1", "rationale": "need it"},
        {"type": "say", "message": "hello"},
        {"type": "continue", "wants_another_round": True, "reason": "not yet good enough"},
        {"type": "complete", "output": "done"},
    ]
    assert second["commands"] == [
        {"type": "ask", "question": "which?"},
        {"type": "ask", "items": [{"id": "q", "type": "SINGLE_CHOICE", "label": "Q", "options": ["a", "b"]}]},
        {"type": "escalate", "reason": "too much"},
    ]
    assert third["text"] == "no JSON at all" and json.loads(fourth["text"])[0]["arguments"] == {"id": None}


def test_what_nothing_reads_is_kept_as_a_comment(tmp_path: Path) -> None:
    files = whole()
    files[FLOW]["contact"] = "x\x7f\u2028\ny"
    import_folder(str(put(tmp_path / "from", files)), str(tmp_path / "home"))
    said = (tmp_path / "home/workflows/tour.toml").read_text() + (tmp_path / "home/toolgate.toml").read_text()
    said += (tmp_path / "home/scripts/imported.toml").read_text()
    for word in (
        "description",
        "uuid",
        "contact",
        "expectedIterations",
        "steps[3].estimatedInputTokens",
        "providerPreferences",
        "tokenUsage",
    ):
        assert f"{word} = " in said
    assert 'contact = "x\\u007f' in said and "\x7f" not in said


def test_a_comment_stays_a_comment_whatever_names_the_source_has(imported: Any) -> None:
    files = whole()
    arm = "low\nid = 'forged'\n#\x1b\u202e"
    branches = {arm: step("quick", {"type": "FAIL", "reason": "no"}, estimatedInputTokens=1)}
    files[FLOW]["steps"].append(step("more", {"type": "BRANCH", "contextKey": "tier", "branches": branches}))
    files["script\nturns = []\n#\udcff.json"] = files.pop("script.json")
    made = imported(files)
    assert made["workflows/tour.toml"]["id"] == "tour" and arm in made["workflows/tour.toml"]["steps"][-1]["arms"]
    assert made["scripts/imported.toml"]["turns"]


def test_a_folder_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MOST_BYTES", 1 << 20)
    prompts = {f"workflows/tour.workflow/p{number}.step.prompt.md": "x" * 600_000 for number in range(2)}
    assert "more than 1 MiB" in refused(tmp_path, whole() | prompts)


def accepted() -> dict[str, Any]:
    """Of every kind that can be run."""
    files = whole()
    flow = files[FLOW]
    flow["steps"] = [held for held in flow["steps"] if held.get("behaviour", {}).get("type") != "SPAR" or "spar" in KINDS.step_kinds()]
    return files


def test_workflow_check_accepts_what_was_imported(tmp_path: Path) -> None:
    import_folder(str(put(tmp_path / "from", accepted())), str(tmp_path / "home"))
    seen = HomeFiles(str(tmp_path / "home"), KINDS, never).inspect()
    assert [(name, errors) for name, _, errors, _ in seen] == [
        (name, ()) for name in ("toolgate.toml", "workflows/inner.toml", "workflows/kyc.toml", "workflows/tour.toml")
    ]
    assert not any(warnings for _, of, _, warnings in seen if of is not None)


# ---- what is refused ----
FREE = (
    "description",
    "uuid",
    "author",
    "contact",
    "version",
    "source",
    "lifecycle",
    "tokenUsage",
    "estimated",
    "expectedIterations",
    "responseText",
)


def places(raw: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    for key, held in raw.items() if isinstance(raw, dict) else enumerate(raw) if isinstance(raw, list) else ():
        yield from places(held, (*path, key))


def spelt(path: tuple[Any, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).strip(".")


def test_any_value_that_is_of_another_kind_is_refused_by_file_and_field(tmp_path: Path) -> None:
    count = 0
    for file, document in whole().items():
        for path in places(document) if isinstance(document, dict) else ():
            if any(str(part).startswith(FREE) for part in path) and file != AGENT:
                continue
            if file == AGENT and path[0] in ("author", "contact", "name"):
                continue
            files = copy.deepcopy(whole())
            here = files[file]
            for part in path[:-1]:
                here = here[part]
            here[path[-1]] = {"strange": [7]}
            field = spelt(path[:-1]) if isinstance(path[-1], int) else spelt(path)
            said = refused(tmp_path / str(count), files)
            assert f"{file}: {field}" in said, (path, said)
            count += 1
    assert count > 150


def test_no_field_is_passed_over(tmp_path: Path) -> None:
    count = 0
    for file, document in whole().items():
        objects = [(), *places(document)] if isinstance(document, dict) else []
        for path in objects:
            files = copy.deepcopy(whole())
            here = files[file]
            for part in path:
                here = here[part]
            if not isinstance(here, dict) or any(str(part) in ("branches", "tokenUsage") for part in path[-1:]):
                continue
            here["strange"] = 1
            assert f"{file}: {spelt((*path, 'strange'))}: unknown field" in refused(tmp_path / str(count), files), path
            count += 1
    assert count > 50


RETRY = {"type": "RETRY_PREVIOUS", "retryStepId": "draft", "retryMode": "FROM_STEP", "maxAttempts": 1, "fallback": fail("f")}
REFUSED: list[tuple[Any, str]] = [
    (step("x", {"type": "COLLECTION"}), "steps[0].behaviour.type: COLLECTION cannot be imported"),
    (step("x", {"type": "AGGREGATE", "aggregatorId": "sum", "outputContextKeyPrefix": "c", "transition": AUTO}), "sum is a program of its own"),
    (step("x", {"type": "VALIDATE", "validatorId": "agent-bundle", "requiredArtifacts": ["a"]}), "validatorId: a program of its own"),
    (step("x", TALK, modelTier="LITE"), "steps[0].modelTier: models are chosen by the operator"),
    (step("x", TALK, maxUserPromptRounds=3), "steps[0].maxUserPromptRounds"),
    (step("X", TALK), "steps[0].stepId: X is no name here"),
    (step("end", TALK), "steps[0].stepId: end is no name here"),
    (step("x", TALK | {"agentRef": "nobody"}), "agentRef: there is no agent nobody"),
    (step("x", {"type": "AGENT", "agentRef": "writer"}), "behaviour.transition: required"),
    (step("x", TALK, contextMapping={"outputKeys": ["tool.x"]}), "outputKeys: tool.x: keys that begin with"),
    (step("x", TALK, contextMapping={"inputKeys": ["user.response.a"]}), "inputKeys: user.response.a is a key of the other program"),
    (step("draft", TALK, stepPrompt="other"), "draft.step.prompt.md says something else"),
    (step("x", {"type": "FAIL", "reason": "r"}, stepPrompt="p"), "steps[0].stepPrompt: a step of this type asks no model"),
    (step("x", {"type": "INPUT", "artifactId": "none", "transition": AUTO}), "artifactId: there is no artifact none"),
    (step("x", {"type": "WORKFLOW", "workflowRef": "none", "transition": AUTO}), "workflowRef: there is no workflow none"),
    (step("x", {"type": "RESOURCE", "resourcePath": "/templates/../../x", "contextKey": "k", "transition": AUTO}), "resourcePath: a plain path"),
    (step("x", {"type": "RESOURCE", "resourcePath": "/etc/passwd", "contextKey": "k", "transition": AUTO}), "resourcePath: a plain path"),
    (step("x", {"type": "BRANCH", "contextKey": "k", "branches": {"*": fail("f")}}), 'branches: "*" has a meaning of its own'),
    (step("x", {"type": "BRANCH", "contextKey": "k"}), "a branch needs at least one"),
    (step("x", {"type": "RETRY_PREVIOUS", "retryStepId": "a", "retryMode": "FROM_STEP", "maxAttempts": 1}), "behaviour.fallback: required"),
    (step("x", RETRY), "steps[0].behaviour.retryStepId: no step draft stands before it in its sequence"),
    (step("x", {"type": "BRANCH", "contextKey": "k", "branches": {"a": step("y", RETRY)}}), "branches.a.behaviour.retryStepId: no step draft"),
    (step("x", {"type": "ASSIGN_CONTEXT", "contextKey": "k", "value": {"type": "NUMBER", "value": "1"}}), "value.value: not of its type"),
    (ref("none"), "steps[0].blueprintId: there is no blueprint none"),
    ({"kind": "BLUEPRINT", "blueprintId": "x"}, "steps[0].kind: cannot be imported"),
    ({"kind": "WORKFLOW", "schemaVersion": 1, "id": "kyc", "name": "K", "steps": [fail("f")]}, "a workflow is called kyc already"),
    ({"kind": "WORKFLOW", "schemaVersion": 1, "id": "in", "name": "K", "steps": [ref("plain")]}, "there is no blueprint plain in this workflow"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_a_step_that_has_no_counterpart_is_refused(tmp_path: Path, first: Any, said: str) -> None:
    files = whole()
    files[FLOW]["steps"] = [first, *files[FLOW]["steps"]]
    found = refused(tmp_path, files)
    assert f"{FLOW}: " in found and said in found


def test_a_replay_that_cannot_be_here_is_refused(tmp_path: Path) -> None:
    files = whole()
    steps = files[FLOW]["steps"]
    again = next(held for held in steps if held.get("stepId") == "again")
    files[FLOW]["steps"] = [
        *(held for held in steps if held is not again),
        step("low2", TALK),
        again,
        step("more", RETRY | {"retryStepId": "low2"}),
    ]
    said = refused(tmp_path, files)
    assert "retryStepId: it would run the block refine again" in said and "it would run the workflow sub again" in said
    assert "retryStepId: low2 does not allow it" in said


def test_parts_that_have_no_counterpart_are_refused(tmp_path: Path) -> None:
    def changed(file: str, **fields: Any) -> dict[str, Any]:
        files = whole()
        files[file] |= fields
        return files

    loop = {"transition": AUTO, "loopConfig": {"terminationStrategy": "FOR_EACH", "maxIterations": 5, "forEachContextKey": "draft", "allowForEachListMutation": True}}  # fmt: skip
    cases = [
        (changed(FLOW, requirements=[{"id": "r"}]), "requirements: there is nothing of this kind"),
        (changed(FLOW, schemaVersion=2), "schemaVersion: required, 1"),
        (changed(FLOW, schemaVersion=True), "schemaVersion: required, 1"),
        (changed(FLOW, id="other"), "id: it is not what the folder is called"),
        (changed(AGENT, enabled=False), "enabled: an agent that is switched off"),
        (changed(AGENT, modelTier="LITE"), "modelTier: models are chosen"),
        (changed(AGENT, supportedCommands=["DANCE"]), "supportedCommands: DANCE cannot be imported"),
        (changed(AGENT, systemPrompt="x"), "would be passed over"),
        (changed("workflows/tour.workflow/each.blueprint.json", behaviour=loop), "allowForEachListMutation"),
        (changed("script.json", responses=[answer(0, "x"), answer(0, "y")]), "responses[1].ordinal: this answer is there twice"),
        (changed("script.json", responses=[{**answer(0, "x"), "stepId": "nothing"}]), "responses[0].stepId: the workflow tour has no step nothing"),
        (whole() | {"workflows/tour.workflow/none.step.prompt.md": "x"}, "none.step.prompt.md: there is no step none that asks a model"),
        (whole() | {"workflows/tour.workflow/notes.txt": "x"}, "notes.txt: not a part of the format"),
        (whole() | {"agents/critic.agent/agent.json": whole()["workflows/tour.workflow/agents/critic.agent/agent.json"]}, "several parts of the folder are the agent critic"),
        (whole() | {"script.json": '{"schemaVersion": 1, "schemaVersion": 1}'}, "script.json: DUPLICATE_KEY"),
        (whole() | {"workflows/kyc.workflow/workflow.json": "[]"}, "workflows/kyc.workflow/workflow.json: an object is wanted"),
        ({"agents/writer.agent/agent.json": whole()[AGENT]}, "no workflows/ID.workflow in it"),
    ]  # fmt: skip
    for number, (files, said) in enumerate(cases):
        assert said in refused(tmp_path / str(number), files), said


def test_everything_is_told_at_once(tmp_path: Path) -> None:
    files = whole()
    files[FLOW]["nmae"], files[AGENT]["naem"] = 1, 2
    said = refused(tmp_path, files)
    assert "unknown field nmae" in said and "unknown field naem" in said


@pytest.mark.parametrize(
    "place", ["workflows/tour.workflow/draft.step.prompt.md", "workflows/kyc.workflow", "agents/writer.agent/agent.json"]
)
def test_links_are_not_followed(tmp_path: Path, place: str) -> None:
    put(tmp_path / "from", whole())
    target = tmp_path / "from" / place
    target.rename(tmp_path / "elsewhere")
    target.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ToolgateError) as caught:
        import_folder(str(tmp_path / "from"), str(tmp_path / "home"))
    assert f"{place}: a " in caught.value.message and not (tmp_path / "home").exists()


def test_a_file_that_is_too_large_or_no_file_is_refused(tmp_path: Path) -> None:
    large = whole() | {"workflows/tour.workflow/draft.step.prompt.md": "x" * (4 * 1024 * 1024 + 1)}
    assert "draft.step.prompt.md: larger than 4 MiB" in refused(tmp_path, large)
    put(tmp_path / "pipes", whole())
    (tmp_path / "pipes" / "script.json").unlink()
    os.mkfifo(tmp_path / "pipes" / "script.json")
    with pytest.raises(ToolgateError, match=r"script.json: a plain file is wanted"):
        import_folder(str(tmp_path / "pipes"), str(tmp_path / "home"))
    with pytest.raises(ToolgateError, match="no such file"):
        import_folder(str(tmp_path / "nothing"), str(tmp_path / "home"))


@pytest.mark.parametrize("there", ["toolgate.toml", "workflows/kyc.toml", "scripts/imported.toml"])
def test_nothing_that_is_there_is_overwritten(tmp_path: Path, there: str) -> None:
    put(tmp_path / "from", whole())
    put(tmp_path / "home", {there: "mine"})
    with pytest.raises(ToolgateError, match="is there already"):
        import_folder(str(tmp_path / "from"), str(tmp_path / "home"))
    assert [str(path.relative_to(tmp_path / "home")) for path in (tmp_path / "home").rglob("*") if path.is_file()] == [there]
    assert (tmp_path / "home" / there).read_text() == "mine"


def test_what_cannot_be_written_whole_is_not_written(tmp_path: Path) -> None:
    put(tmp_path / "from", whole())
    put(tmp_path / "home", {"scripts": "a file in the way"})
    with pytest.raises(ToolgateError) as caught:
        import_folder(str(tmp_path / "from"), str(tmp_path / "home"))
    assert caught.value.kind == "storage" and [path.name for path in (tmp_path / "home").rglob("*") if path.is_file()] == ["scripts"]


def test_the_command_writes_a_home_and_leaves_nothing_where_it_refuses(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from toolgate_cli.cli.main import run

    put(tmp_path / "from", whole())
    put(tmp_path / "bad", whole() | {"strange.txt": "x"})
    assert run(["workflow", "import", str(tmp_path / "bad"), "--into", str(tmp_path / "home")]) == 7
    assert "strange.txt: not a part of the format" in capfd.readouterr().err and not (tmp_path / "home").exists()
    assert run(["workflow", "import", str(tmp_path / "from"), "--into", str(tmp_path / "home")]) == 0
    out, err = capfd.readouterr()
    assert out.count("written") == 6 + 1 and "toolgate.toml" in out and "next: toolgate -C " in err
