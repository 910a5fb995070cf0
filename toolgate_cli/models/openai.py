"""Any endpoint that speaks OpenAI's chat completions: tools and commands are native function calls."""

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

_WHOLE = (None, "", "stop", "tool_calls", "stop_sequence", "end_turn", "eos", "eos_token")  # an answer that came to its end
_CUT = ("length", "max_tokens", "model_length")


class Fields(NamedTuple):
    """`base_url`: what stands before `/chat/completions`. `timeout`: of one answer, every attempt included. `options`: further fields of
    the request, such as `temperature`. `record`: a script of the home that is written with every turn."""

    base_url: str
    model: str
    api_key: Annotated[str | None, Secret()] = None
    timeout: Annotated[float, Duration()] = 120.0
    connect_timeout: Annotated[float, Duration()] = 10.0
    max_attempts: Annotated[int, Between(1, 10)] = 3
    proxy: Annotated[str | None, Secret()] = None
    options: Mapping[str, Json] = {}
    record: Annotated[str | None, Path()] = None


def complete(fields: Fields, home: str, request: TurnRequest, means: Means) -> Completion:
    """Raises ToolgateError("failed") where there is no answer, or one that is malformed; one that was cut off or withheld is a fault."""
    _recording.ready(fields.record, home)
    endpoint = _endpoint.endpoint(fields, "/chat/completions", {}, ("authorization", "Bearer "), means.secrets)
    answer = _http.ask(endpoint, _request(fields, request), means)
    usage = answer.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    said = _read(answer, request, means.secrets)._replace(
        tokens_in=_body.count(counts.get("prompt_tokens")),
        tokens_out=_body.count(counts.get("completion_tokens")),
        tokens_total=_body.count(counts.get("total_tokens")),
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
    messages: list[Json] = [{"role": "system", "content": request.prompt}] if request.prompt else []
    messages.append({"role": "user", "content": _telling.opening(request)})
    for past in _telling.rounds(request):
        messages += _messages(past)
    tools: list[Json] = [
        {"type": "function", "function": {"name": each.name, "description": each.description, "parameters": each.schema}}
        for each in _offering.functions(request)
    ]
    return {**fields.options, "model": fields.model, "messages": messages, **({"tools": tools} if tools else {})}


def _messages(past: _telling.Round) -> Iterator[Json]:
    if not past.calls:
        yield {"role": "assistant", "content": past.text}
    else:
        calls: list[Json] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": canonical.encode(call.arguments)}}
            for call in past.calls
        ]
        yield {"role": "assistant", "content": past.text or None, "tool_calls": calls}
        for call in past.calls:
            yield {"role": "tool", "tool_call_id": call.id, "content": call.result}
    if past.after:
        yield {"role": "user", "content": past.after}


# ---- the answer ----
def _read(answer: Mapping[str, Json], request: TurnRequest, secrets: Secrets) -> Completion:
    choices = answer.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        _body.malformed("choices is not a list of one object")
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, dict):
        _body.malformed("there is no message")
    reason = choice.get("finish_reason")
    if reason in _CUT:
        return Completion(fault=f"the model's answer was cut off at its limit of tokens (finish_reason {reason}): nothing of it is done")
    if reason == "content_filter" or message.get("refusal"):
        why = message.get("refusal")
        return Completion(fault=f"the model's answer was withheld: {why if isinstance(why, str) else 'content_filter'}")
    if reason not in _WHOLE:
        return Completion(fault=f"the model's answer did not come to its end: finish_reason {canonical.encode(reason)}")
    return turn([*_texts(message.get("content")), *_calls(message)], request, secrets)


def _texts(content: Json) -> Iterator[Part]:
    if not isinstance(content, list):
        yield _body.text(content, "content")
        return
    for part in content:
        if not isinstance(part, dict) or part.get("type") != "text":
            _body.malformed("content has a part that is no text")
        yield _body.text(part.get("text"), "a part of content")


def _calls(message: Mapping[str, Json]) -> Iterator[Part]:
    if message.get("function_call") is not None:
        _body.malformed("function_call is not understood, tool_calls is")
    calls = message.get("tool_calls")
    if calls is None:
        return
    if not isinstance(calls, list):
        _body.malformed("tool_calls is not a list")
    for call in calls:
        function = call.get("function") if isinstance(call, dict) and call.get("type", "function") == "function" else None
        if not isinstance(call, dict) or not isinstance(function, dict):
            _body.malformed("a tool call is no call of a function")
        arguments = function.get("arguments", "")
        if not isinstance(arguments, (str, dict)) or not _body.exact(arguments):
            _body.malformed("the arguments of a call are no JSON text")
        yield Called(_body.name(function.get("name"), "a tool call"), arguments, call.get("id"))
