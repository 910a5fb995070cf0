"""A folder of the other format in which every field occurs, and smaller ones to change."""

# ruff: noqa: E501 - tables are read by the line

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

AUTO = "AUTO"


def step(id: str, behaviour: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"kind": "STEP", "stepId": id, "name": id.title(), "behaviour": behaviour, **more}


def fail(id: str, reason: str = "no") -> dict[str, Any]:
    return step(id, {"type": "FAIL", "reason": reason})


def ref(id: str) -> dict[str, Any]:
    return {"kind": "BLUEPRINT_REF", "blueprintId": id}


TALK = {"type": "AGENT", "agentRef": "writer", "transition": AUTO}
COMMANDS = [
    {"type": "SET_CONTEXT", "key": "draft", "value": {"type": "LIST", "values": [{"type": "STRING", "value": "a"}, {"type": "JSON", "json": '{"b":1}'}]}},
    {"type": "SET_CONTEXT", "key": "plain", "value": 7},
    {"type": "CREATE_FILE", "path": "out/report.json", "content": ""},
    {"type": "CREATE_FILE", "filePath": "out/other.json", "content": "x"},
    {"type": "RUN_COMMAND", "command": "make"},
    {"type": "TOOL_INVOCATION", "capability": "crm.lookup", "arguments": {"id": 1}, "toolInvocationId": "t1", "llmRationale": "need it"},
    {"type": "USER_PROMPT", "message": "hello"},
    {"type": "CONTINUE", "wantsAnotherRound": True, "reason": "not yet good enough"},
    {"type": "COMPLETE", "summary": "done"},
]  # fmt: skip
ASKING = [
    {"type": "USER_PROMPT", "message": "which?", "responseRequired": True},
    {"type": "GENERATE_QUESTIONS", "questions": [{"type": "SINGLE_CHOICE", "id": "q", "label": "Q", "options": ["a", "b"]}]},
    {"type": "ESCALATE", "reason": "too much"},
]


def answer(ordinal: int, text: str, **more: Any) -> dict[str, Any]:
    return {"workflowId": "tour", "stepId": "draft", "agentId": "writer", "ordinal": ordinal, "responseText": text, **more}


def whole() -> dict[str, Any]:
    """Path -> document (JSON) or text."""
    flow = {
        "kind": "WORKFLOW", "schemaVersion": 1, "id": "tour", "name": "A tour", "description": "of all\nof it", "uuid": "u-1",
        "author": "a", "contact": "c", "version": "2", "source": "CUSTOM", "lifecycle": "ACTIVE", "requirements": [],
        "steps": [
            step("ask", {"type": "INPUT", "artifactId": "claim", "transition": AUTO}, contextMapping={"outputKeys": ["amount"]}),
            step("policy", {"type": "RESOURCE", "resourcePath": "/templates/policy.md", "contextKey": "policy", "transition": AUTO}),
            step("tier", {"type": "ASSIGN_CONTEXT", "contextKey": "tier", "value": {"type": "STRING", "value": "pay ${x}"}}),
            step("draft", {"type": "AGENT", "agentRef": "writer", "transition": "HUMAN_REVIEW", "retryPolicy": {"allowRetry": True, "allowRetryFromPrevious": True, "maxAttempts": 3}},
                 contextMapping={"inputKeys": ["claim.amount", "tool.crm.lookup"], "outputKeys": ["draft", "plain"]},
                 maxUserPromptRounds=8, modelTier=None, estimatedInputTokens=10, estimatedOutputTokens=20),
            step("debate", {"type": "SPAR", "agentRef": "writer", "transition": AUTO,
                            "sparConfig": {"challengerAgentId": "critic", "maxRounds": 3, "resolutionPrompt": "Decide."}}, stepPrompt="Argue."),
            step("route", {"type": "BRANCH", "contextKey": "tier", "failOnUnmatched": True,
                           "predicates": [{"kind": "EMPTY", "target": fail("none")}, {"kind": "MEMBER_OF", "members": ["high", "urgent"], "target": ref("plain")},
                                          {"kind": "MEMBER_OF", "members": ["urgent", "late"], "target": fail("late")}],
                           "branches": {"low": step("low", TALK, stepPrompt="Be short."), "done": None, "loop": ref("refine"), "high": None},
                           "defaultBranch": step("other", {"type": "ASSIGN_CONTEXT", "contextKey": "n", "value": {"type": "NUMBER", "value": 1.5}})}),
            step("again", {"type": "RETRY_PREVIOUS", "retryStepId": "draft", "retryMode": "FROM_STEP", "maxAttempts": 2, "fallback": fail("over")}),
            ref("refine"),
            ref("refine"),
            ref("judged"),
            ref("counted"),
            ref("each"),
            step("check", {"type": "VALIDATE", "validatorId": "required-artifacts-present", "requiredArtifacts": ["out/report.json"],
                           "contextEqualityContracts": [{"artifactPath": "out/report.json", "jsonPointer": "/tier", "contextKey": "tier"}]},
                 contextMapping={"inputKeys": ["tier"]}),
            step("sub", {"type": "WORKFLOW", "workflowRef": "kyc", "transition": "HUMAN_APPROVAL"}),
            {"kind": "WORKFLOW", "schemaVersion": 1, "id": "inner", "name": "Inner", "steps": [fail("stop")]},
        ],
    }  # fmt: skip

    def blueprint(id: str, behaviour: Any = None) -> dict[str, Any]:
        made = {
            "blueprintId": id,
            "name": id.title(),
            "steps": [step(f"{id}-write", {"type": "ASSIGN_CONTEXT", "contextKey": "b", "value": {"type": "BOOLEAN", "value": True}})],
        }
        return made | ({} if behaviour is None else {"behaviour": behaviour})

    def loop(strategy: str, **more: Any) -> dict[str, Any]:
        return {"transition": AUTO, "loopConfig": {"terminationStrategy": strategy, "maxIterations": 5, **more}}

    items = [
        {"type": "NUMBER", "id": "amount", "label": "Amount", "required": True},
        {"type": "TEXT", "id": "why", "label": "Why", "hint": "in short"},
        {"type": "MULTI_CHOICE", "id": "kinds", "label": "Kinds", "options": ["a", "b"]},
    ]
    agent = {"id": "writer", "name": "Writer", "version": "1", "locality": "LOCAL", "enabled": True, "author": "a", "contact": "c", "modelTier": None,
             "providerPreferences": [{"provider": "fake", "model": "m"}], "supportedCommands": [" SET_CONTEXT", "TOOL_INVOCATION", "CREATE_FILE", "RUN_COMMAND", "USER_PROMPT", "CONTINUE", "COMPLETE", "GENERATE_QUESTIONS", "ESCALATE"]}  # fmt: skip
    critic = {"id": "critic", "name": "Critic", "version": "1", "locality": "CLOUD", "systemPrompt": "Doubt.", "providerPreferences": [{"provider": "fake"}], "supportedCommands": ["SET_CONTEXT", "COMPLETE"]}  # fmt: skip
    return {
        "workflows/tour.workflow/workflow.json": flow,
        "workflows/tour.workflow/index": "x",
        "workflows/tour.workflow/claim.artifact.json": {"id": "claim", "items": items},
        "workflows/tour.workflow/draft.step.prompt.md": "Write it, ${now}.",
        "workflows/tour.workflow/plain.blueprint.json": blueprint("plain"),
        "workflows/tour.workflow/refine.blueprint.json": blueprint("refine", loop("AGENT_SIGNAL", maxIterationsAction="FAIL", expectedIterations=2) | {"transition": "HUMAN_APPROVAL"}),
        "workflows/tour.workflow/judged.blueprint.json": blueprint("judged", loop("EVALUATOR", evaluatorAgentId="critic")),
        "workflows/tour.workflow/counted.blueprint.json": blueprint("counted", loop("FIXED_COUNT")),
        "workflows/tour.workflow/each.blueprint.json": blueprint("each", loop("FOR_EACH", forEachContextKey="draft", allowForEachListMutation=False)),
        "workflows/tour.workflow/agents/critic.agent/agent.json": critic,
        "workflows/kyc.workflow/workflow.json": {"kind": "WORKFLOW", "schemaVersion": 1, "id": "kyc", "name": "Kyc", "steps": [fail("no")]},
        "agents/writer.agent/agent.json": agent,
        "agents/writer.agent/systemprompt.md": "Write.",
        "agents/writer.agent/boundaries.md": "Nothing else.",
        "script.json": {"schemaVersion": 1, "responses": [
            answer(0, f"```json\n{json.dumps(COMMANDS)}\n```", tokenUsage={"inputTokens": 1, "outputTokens": 2}),
            answer(1, json.dumps(ASKING), tokenUsage=None),
            answer(2, "no JSON at all"),
            answer(3, json.dumps([{"type": "TOOL_INVOCATION", "capability": "crm.lookup", "arguments": {"id": None}}])),
        ]},
    }  # fmt: skip


def put(folder: Path, files: dict[str, Any]) -> Path:
    for name, held in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(held if isinstance(held, str) else json.dumps(held))
    return folder
