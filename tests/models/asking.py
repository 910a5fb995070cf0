"""What the tests of live models have in common: a request, a secret, and both adapters on one server."""

from __future__ import annotations

import time
from typing import Any

from peers.aimock import KEY

from toolgate_cli.core import disguises
from toolgate_cli.core.secrets import Secrets
from toolgate_cli.core.turns import Offer, TurnRequest
from toolgate_cli.models import anthropic, openai
from toolgate_cli.runtime.plugs import Means

SECRETS = Secrets(
    {"LIVE_KEY": KEY}, {"GONE": "the environment variable GONE is not set"}, tuple((s, "LIVE_KEY") for s in disguises.of(KEY))
)
MEANS = Means(SECRETS, time.monotonic, lambda seconds: None, lambda: 0.0)
LOOKUP = Offer("orders.lookup", "Look an order up.", {"type": "object", "properties": {"order": {"type": "string"}}})
ALL = ("set_context", "tool_invocation", "ask", "say", "escalate", "continue", "complete")
REQUEST = TurnRequest("r1", "refund", "decide", "clerk", 0, "be kind", {}, (), (LOOKUP,), ALL, ("decision",), "decide")

ADAPTERS: dict[str, Any] = {"openai": openai, "anthropic": anthropic}


def fields(adapter: str, url: str, **more: Any) -> Any:
    given = {"model": "some-model", "base_url": f"{url}/v1", "api_key": "${secret.LIVE_KEY}", **more}
    return ADAPTERS[adapter].Fields(**given)


def called(adapter: str, *calls: tuple[str, Any], text: str | None = None, end: str | None = None) -> dict[str, Any]:
    """An answer with these calls, each (name, arguments), as the API gives it. Arguments of OpenAI's are text as it stands."""
    if adapter == "openai":
        made = [
            {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": given}}
            for at, (name, given) in enumerate(calls)
        ]
        message = {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
        return {"choices": [{"index": 0, "message": message, "finish_reason": end or ("tool_calls" if made else "stop")}]}
    blocks: list[Any] = [{"type": "text", "text": text}] if text is not None else []
    blocks += [{"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": given} for at, (name, given) in enumerate(calls)]
    return {"content": blocks, "stop_reason": end or ("tool_use" if calls else "end_turn")}
