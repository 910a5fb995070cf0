"""Anthropic's messages API: tools and commands are native tool use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from ..core import canonical
from ..core.fields import Between, Duration, Path, Secret
from ..core.secrets import Secrets
from ..core.turns import Completion, TurnRequest
from ..core.types import Json
from ..core.values import NamedTuple
from ..runtime.plugs import Means
from . import _body, _endpoint, _http, _offering, _recording, _telling
from ._answering import Called, Part, turn

_VERSION = "2023-06-01"
_WHOLE = ("end_turn", "tool_use", "stop_sequence")
_CUT = ("max_tokens", "model_context_window_exceeded")
_THOUGHTS = ("thinking", "redacted_thinking")
_COUNTED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Fields(NamedTuple):
    """`base_url`: what stands before `/v1/messages`. `max_tokens`: of one answer; one that needs more is refused whole. The others as for
    `openai`."""

    model: str
    base_url: str = "https://api.anthropic.com"
    api_key: Annotated[str | None, Secret()] = None
    max_tokens: Annotated[int, Between(1)] = 8192
    timeout: Annotated[float, Duration()] = 120.0
    connect_timeout: Annotated[float, Duration()] = 10.0
    max_attempts: Annotated[int, Between(1, 10)] = 3
    proxy: Annotated[str | None, Secret()] = None
    options: Mapping[str, Json] = {}
    record: Annotated[str | None, Path()] = None


def complete(fields: Fields, home: str, request: TurnRequest, means: Means) -> Completion:
    """Raises ToolgateError("failed") where there is no answer, or one that is malformed; one that was cut off or withheld is a fault."""
    _recording.ready(fields.record, home)
    path = "/messages" if fields.base_url.rstrip("/").endswith("/v1") else "/v1/messages"
    endpoint = _endpoint.endpoint(fields, path, {"anthropic-version": _VERSION}, ("x-api-key", ""), means.secrets)
    answer = _http.ask(endpoint, _request(fields, request), means)
    usage = answer.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    taken = [_body.count(counts.get(name)) for name in _COUNTED]
    said = _read(answer, request, means.secrets)._replace(
        tokens_in=None if taken[0] is None else sum(number or 0 for number in taken),
        tokens_out=_body.count(counts.get("output_tokens")),
        answered_by=means.secrets.scrub(_body.text(answer.get("model"), "model"))[:200] or None,
    )
    said = said._replace(fault=said.fault and _http.told(endpoint, said.fault))
    _recording.keep(fields.record, home, request, said, means.secrets)
    return said


def files(fields: Fields, _home: str) -> tuple[str, ...]:
    """Files of the home that belong to this model and so are no workflows."""
    return () if fields.record is None else (fields.record,)


def doubts(fields: Fields, home: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What will keep it from answering, and what is probably not meant; nothing is called."""
    yield from _endpoint.doubts(fields)
    yield from _recording.doubts(fields.record, home)


# ---- the request ----
def _request(fields: Fields, request: TurnRequest) -> dict[str, Json]:
    messages: list[Json] = [{"role": "user", "content": _telling.opening(request)}]
    for past in _telling.rounds(request):
        messages += _messages(past)
    tools: list[Json] = [
        {"name": each.name, "description": each.description, "input_schema": each.schema} for each in _offering.functions(request)
    ]
    made: dict[str, Json] = {"max_tokens": fields.max_tokens, **fields.options, "model": fields.model, "messages": messages}
    made |= {"system": request.prompt} if request.prompt else {}
    return made | ({"tools": tools} if tools else {})


def _messages(past: _telling.Round) -> Iterator[Json]:
    """Every result stands first in the message behind its calls, as the API wants it; empty texts it refuses."""
    said: list[Json] = [{"type": "text", "text": past.text}] if past.text.strip() else []
    said += [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in past.calls]
    yield {"role": "assistant", "content": said or [{"type": "text", "text": "(nothing)"}]}
    heard: list[Json] = [{"type": "tool_result", "tool_use_id": call.id, "content": call.result} for call in past.calls]
    heard += [{"type": "text", "text": past.after}] if past.after else []
    yield {"role": "user", "content": heard}


# ---- the answer ----
def _read(answer: Mapping[str, Json], request: TurnRequest, secrets: Secrets) -> Completion:
    content, reason = answer.get("content"), answer.get("stop_reason")
    if not isinstance(content, list):
        _body.malformed("content is not a list")
    if reason in _CUT:
        return Completion(fault=f"the model's answer was cut off at its limit of tokens (stop_reason {reason}): nothing of it is done")
    if reason == "refusal":
        return Completion(fault="the model's answer was withheld: refusal")
    if reason not in _WHOLE:
        return Completion(fault=f"the model's answer did not come to its end: stop_reason {canonical.encode(reason)}")
    return turn([part for block in content for part in _part(block)], request, secrets)


def _part(block: Json) -> Iterator[Part]:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(block, dict) or not isinstance(kind, str):
        _body.malformed("a block of content has no type")
    if kind == "text":
        yield _body.text(block.get("text"), "a text")
    elif kind == "tool_use":
        name, given = _body.name(block.get("name"), "a tool_use"), block.get("input")
        if not isinstance(given, dict):
            _body.malformed("the input of a tool_use is not an object")
        if not _body.exact(given):
            _body.malformed("the input of a tool_use has a number that no double holds exactly")
        yield Called(name, given, block.get("id"))
    elif kind not in _THOUGHTS:
        _body.malformed("a block of content is none that is understood")
