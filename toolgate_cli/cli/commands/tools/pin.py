"""`tools pin`: the definitions of a server's tools, reviewed by a person and pinned."""

from __future__ import annotations

from typing import Annotated, Final

from ....core.errors import ToolgateError
from ... import ask, output, streams
from ...declared import Argument
from ...frame import Frame
from ...options import NoInput, Yes
from ...safe import fill
from ...views import pins

PURPOSE: Final = "Know"

Server = Annotated[str, Argument(metavar="SERVER", help="A server of toolgate.toml: the NAME of [mcp.NAME].")]


def run(frame: Frame, server: Server, yes: Yes = False, no_input: NoInput = False) -> int:
    """Pin the tools of an MCP server as they are now.

    Starts the server, shows what differs from what is pinned, asks, and writes toolgate.lock.toml. A tool that is not pinned, or is not as
    it was pinned, cannot be called.
    """
    frame.format()
    asking = ask.must_ask(yes, no_input)
    with frame.window() as session:
        offered = session.offering(server)
        if offered.changes:
            output.write_fields(pins.review(offered), streams.ERR)
            if asking:
                ask.consent(fill("what is pinned of {} can be called from then on, as your rules allow", offered.server), "pin")
            elif not yes:
                text = "what is pinned can be called from then on, and nobody was asked: nothing happened"
                raise ToolgateError("usage", text, f"look at it, then: toolgate tools pin {server} --yes")
            path = session.pin(offered)
        output.show_list(frame, pins.SCHEMA, offered.tools, None, lambda tool: pins.to_json(offered.server, tool), pins.sheet)
    frame.note(fill("pinned in {}", path) if offered.changes else "nothing differs from what is pinned")
    for tool in offered.tools:
        if tool.fault is not None:
            frame.note(fill("note: {} is left out: {}", tool.remote, tool.fault))
        elif tool.now is not None and not tool.capabilities:
            frame.note(fill('note: {} needs a name here: [tools."{}.NAME"] with remote = "{}"', tool.remote, offered.server, tool.remote))
    return 0
