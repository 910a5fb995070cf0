"""How a call comes in: its arguments as canonical bytes, once for ever, and the event that says that it was asked for (I3)."""

from __future__ import annotations

from collections.abc import Mapping

from ..core import canonical, digests, references
from ..core.errors import ToolgateError
from ..core.intents import Asked
from ..core.records import Call, Run
from ..core.soundness import clean
from ..core.types import Json
from ..core.world import World
from .unit import Unit


def receive(unit: Unit, run: Run, step: str, asked: Asked, world: World) -> tuple[Call, str | None]:
    """A call as it was asked for: canonical arguments, or none and why they cannot be taken (code and pointer, never a value). With the
    value of a secret in it nothing of what was said is taken (I12)."""
    refusal: str | None = None
    try:
        text: str | None = canonical.receive(asked.arguments, asked.raw, world.config.limits)
    except ToolgateError as error:
        text, refusal = None, error.message
    leaked = world.secrets.leaks(text, refusal, asked.rationale, asked.label)
    if leaked is not None:
        text, refusal = None, f"SECRET at '': the value of the secret {leaked} is in it"
        asked = asked._replace(rationale=None, label=None)
    title = _title(world, asked.capability, text)
    mint = unit.ports.mint
    call = Call(
        id=asked.id or mint.id("c"),
        revision=1,
        run_id=run.id,
        step=step,
        capability=asked.capability,
        arguments=text,
        arguments_digest=digests.sha256(text if text is not None else refusal or ""),
        idempotency_key=mint.id("k"),
        title=title,
        rationale=None if asked.rationale is None else clean(asked.rationale),
        label=None if asked.label is None else clean(asked.label),
        agent=asked.agent,
        requested_by=run.requester,
        created_at=unit.now,
    )
    return call, refusal


def revise(unit: Unit, call: Call, arguments: Mapping[str, Json], key: str, world: World) -> Call:
    """The next revision of a call: other arguments under a key of their own, asked for by who edits it.

    Raises ToolgateError("invalid") where they cannot be taken; the message holds a code and a pointer, never a value.
    """
    text = canonical.receive(dict(arguments), False, world.config.limits)
    return call._replace(
        revision=call.revision + 1,
        arguments=text,
        arguments_digest=digests.sha256(text),
        idempotency_key=key,
        title=_title(world, call.capability, text),
        requested_by=unit.person.name,
        created_at=unit.now,
    )


def _title(world: World, capability: str, arguments: str | None) -> str | None:
    """What to call one call; cosmetic, so whatever fails falls back to the name, and so does one that puts a secret together (I12)."""
    tool = world.config.tools.get(capability)
    if tool is None or tool.title is None or arguments is None:
        return None
    values = canonical.shared(arguments)

    def lookup(name: str) -> Json:
        if not name.startswith("args.") or not isinstance(values, dict):
            raise KeyError(name)
        return values[name.removeprefix("args.")]

    try:
        title = references.fill(tool.title, lookup)
    except ToolgateError:
        return None
    told = title if isinstance(title, str) else canonical.encode(title)
    return None if world.secrets.leaks(told) else told


def request(unit: Unit, run: Run, call: Call, refusal: str | None) -> None:
    """Stores a call with its REQUESTED event."""
    unit.tx.add([call])
    facts: dict[str, Json] = {
        "revision": call.revision,
        "arguments_digest": call.arguments_digest,
        "agent": call.agent,
        "label": call.label,
    }
    unit.record("TOOL_INVOCATION_REQUESTED", run, facts if refusal is None else {**facts, "refused": refusal}, call=call)
