"""Tools that are HTTP requests: one request, to a host that is literal, sent once by a process of its own (I3, I8)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..core import addresses, canonical, references, requests
from ..core.errors import ToolgateError
from ..core.fields import Defect, Path, Secret
from ..core.references import Reference
from ..core.requests import Request
from ..core.results import ToolResult
from ..core.types import Json
from ..core.values import NamedTuple
from ..host import pins
from ..runtime.plugs import InvokeLimits, Pinned, Started
from . import _filling

if TYPE_CHECKING:
    from ..host.endings import Ended

CODES = range(100, 600)  # what [tools.NAME.exit] may name
_BODILESS = ("GET", "HEAD")
_SHOWN = 1024  # bytes of a body, and of a reason, that say why a call failed


class Fields(NamedTuple):
    """`[tools."NAME".http]`. `body`: "json" (the arguments, as they are stored), "none", or a table or list that is filled; by default
    "json" where the method has a body. `allow_hosts`: the host of the URL where it is empty; `ca_file`: authorities in place of the
    system's, PEM, relative to the home."""

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    url: Annotated[str, Secret()]
    headers: Annotated[dict[str, str], Secret()] = {}  # noqa: RUF012  # never changed
    body: Annotated[Json, Secret()] = None
    allow_hosts: tuple[str, ...] = ()
    ca_file: Annotated[str, Path()] | None = None


class Bound(NamedTuple):
    """A request that is ready; secrets in it are as they are written. `sealed`: it holds some, and is filled anew when it is sent;
    `ca`: path and sha256 of the authorities."""

    request: Request
    fields: Fields
    home: str
    ca: tuple[str, str] | None
    sealed: bool


def pin(fields: object, home: str, path: str) -> Pinned:  # noqa: ARG001  # no program is looked up
    """Facts: {"files": {relative path: sha256}}."""
    assert isinstance(fields, Fields)
    home = os.path.abspath(home)
    files = () if fields.ca_file is None else (os.path.normpath(fields.ca_file),)
    looked_at = tuple(os.path.join(home, name) for name in files)
    try:
        _check(fields)
        if any(pins.escapes(home, place) for place in looked_at):
            raise ToolgateError("invalid", f"ca_file: {fields.ca_file} leads out of the home")
        sums: dict[str, Json] = {name: pins.sha256_of(place) for name, place in zip(files, looked_at, strict=True)}
    except ToolgateError as error:
        return Pinned(None, looked_at, error.message)
    return Pinned({"files": sums}, looked_at)


def _check(fields: Fields) -> None:
    """Everything that can be said before there are arguments."""
    origin, rest = requests.split_url(fields.url)
    requests.target(rest, lambda _reference: "x")
    if fault := requests.fault_of_names(fields.headers):
        raise ToolgateError("invalid", fault)
    if isinstance(fields.body, str) and fields.body not in ("json", "none"):
        raise ToolgateError("invalid", f'body: {fields.body!r} is not "json", "none", a table or a list')
    if fields.method in _BODILESS and fields.body not in (None, "none"):
        raise ToolgateError("invalid", f"body: {fields.method} has none")
    try:
        allowed = addresses.allowed(fields.allow_hosts)
    except ValueError as error:
        raise ToolgateError("invalid", f"allow_hosts: {error}") from None
    if not (addresses.is_host(origin.host) or addresses.is_address(origin.host)):
        raise ToolgateError("invalid", f"url: {origin.host} is no host")
    if fields.allow_hosts and not allowed.host(origin.host):
        raise ToolgateError("invalid", f"url: {origin.host} is not in allow_hosts")
    if addresses.is_address(origin.host) and (fault := allowed.refusal(origin.host)):
        raise ToolgateError("invalid", f"url: {fault}")
    if find_spec("httpx2") is None:
        raise ToolgateError("invalid", "tools of http need the extra http, which is not installed: pip install 'toolgate-cli[http]'")


def check(fields: object) -> tuple[Defect, ...]:
    """A URL with which no call could ever be made, whatever its arguments."""
    assert isinstance(fields, Fields)
    try:
        requests.split_url(fields.url)
    except ToolgateError as error:
        return (Defect(("url",), error.message.removeprefix("url: "), error.hint),)
    return ()


def gives_all(fields: object) -> bool:
    assert isinstance(fields, Fields)
    return _body(fields) == "json"


def _body(fields: Fields) -> Json:
    """What it is where the table does not say."""
    return fields.body if fields.body is not None else "none" if fields.method in (*_BODILESS, "DELETE") else "json"


def bind(fields: object, pinned: Json, home: str, arguments: dict[str, Json]) -> Bound:
    """Fills all but secrets. Raises ToolgateError("invalid") for what could not be sent, or would lead elsewhere."""
    assert isinstance(fields, Fields) and isinstance(pinned, dict) and isinstance(pinned["files"], dict)
    home = os.path.abspath(home)
    lookup = _filling.everything(arguments, _filling.unopened)
    request = _request(fields, canonical.encode(arguments), lookup, as_written=("secret",))
    held: list[Json] = [fields.url, dict(fields.headers), fields.body]
    ca = next(((os.path.join(home, name), str(digest)) for name, digest in pinned["files"].items()), None)
    return Bound(request, fields, home, ca, bool(references.secrets(held)))


def shows(fields: object, arguments: dict[str, Json]) -> dict[str, Json]:
    """The request as it will be sent, for who decides on it; variables and secrets as they are written. What looks like one and is none
    is `$${...`, as the file would have it."""
    assert isinstance(fields, Fields)
    given, narrow = canonical.encode(arguments), _filling.arguments(arguments)

    def filled(mark: Callable[[str], str]) -> Request:
        def lookup(name: str) -> Json:
            return narrow(name) if name.startswith("args.") else mark(name)

        return _request(fields, given, lookup, as_written=("secret", "env"))

    marks = _filling.Marks(filled(lambda _: "-"))
    request = filled(marks.mark)
    headers: dict[str, Json] = {name: marks.written(value) for name, value in request.headers}
    body = None if request.body is None else marks.written(request.body)
    return {"request": f"{request.method} {request.url}", "headers": headers, "body": body}


def _request(fields: Fields, arguments: str, lookup: _filling.Lookup, as_written: tuple[str, ...] = ()) -> Request:
    """`as_written`: kinds of references that stand in the URL as they do in the file, for nothing that is sent."""

    def piece(reference: Reference) -> str:
        written = reference.name.partition(".")[0] in as_written
        return str(reference) if written else requests.escape(references.value(reference, lookup))

    origin, rest = requests.split_url(fields.url)
    target = requests.target(rest, piece)
    headers = requests.headers(fields.headers, lookup)
    body = _body(fields)
    text = None if body == "none" else arguments if body == "json" else canonical.encode(references.fill(body, lookup))
    if text is not None and not any(name.lower() == "content-type" for name, _ in headers):
        headers += (("Content-Type", "application/json"),)
    return Request(fields.method, origin, target, headers, text)


def invoke(claim: Started, limits: InvokeLimits) -> ToolResult:
    """A 2xx is a success; a 3xx, a 5xx and 408 do not say whether there was an effect; any other status is the tool's own "failed". What
    ended before the first byte was sent was not dispatched; what ended otherwise without a whole answer is uncertain."""
    from . import _children

    bound = claim.bound
    assert isinstance(bound, Bound)
    request = bound.request
    if bound.sealed:
        lookup = _filling.everything(_filling.parsed(claim), limits.secrets.value)
        try:
            request = _request(bound.fields, claim.arguments, lookup)
        except ToolgateError as error:
            return ToolResult("not_dispatched", message=error.message)
    env = _filling.environment(claim, os.defpath, {})
    ended = _children.run("_sending", (), _spoken(request, bound, claim, limits), env, bound.home, claim, limits)
    return _result(ended, limits.timeout)


def _spoken(request: Request, bound: Bound, claim: Started, limits: InvokeLimits) -> str:
    """For the process that sends it: on its standard input, where nobody else reads it."""
    origin, fields = request.origin, bound.fields
    headers: list[Json] = [[name, value] for name, value in (*request.headers, ("Idempotency-Key", claim.key))]
    return canonical.encode(
        {
            "method": request.method,
            "scheme": origin.scheme,
            "host": origin.host,
            "port": origin.port,
            "host_header": origin.header,
            "target": request.target,
            "headers": headers,
            "body": request.body,
            "allow": list(fields.allow_hosts),
            "ca": list(bound.ca) if bound.ca else None,
            "patience": limits.timeout,
        }
    )


def _result(ended: Ended, timeout: float) -> ToolResult:
    from ..host import endings

    result = endings.result(ended, timeout)
    if ended.how == "not_started":
        return result
    said = _records(ended.stderr)
    last = said[-1] if said else {}
    if not ended.survivors and ended.left_behind is None:
        if not ended.stderr:  # not even that the first byte was about to be sent
            return result._replace(ended="not_dispatched", ok=False, code=None, message=f"{result.message}: nothing was sent")
        if isinstance(last.get("unsent"), str) and len(said) == 1:
            return result._replace(ended="not_dispatched", ok=False, code=None, message=f"nothing was sent: {last['unsent']}")
    if ended.how == "exited" and ended.number == 0 and isinstance(last.get("status"), int):
        return _answered(result, int(last["status"]), str(last.get("reason")), last.get("whole") is True)
    message = f"the request was sent, and then: {last.get('fault', result.message)}"
    if ended.how != "exited":
        message = endings.manner(ended, timeout)  # what the process said is ours, and no words of a tool
    return result._replace(ended="uncertain", ok=False, code=None, message=message)


def _records(stderr: bytes) -> list[Mapping[str, Any]]:
    """What the process said, line by line; a line that is none of ours is an empty record."""
    found: list[Mapping[str, Any]] = []
    for line in stderr.splitlines():
        try:
            record = canonical.parse(line)
        except ToolgateError:
            record = None
        found.append(record if isinstance(record, dict) else {})
    return found


def _answered(result: ToolResult, status: int, reason: str, whole: bool) -> ToolResult:
    """`whole`: all of the request had been sent when the answer came."""
    if 200 <= status < 300 and whole:
        return result._replace(ended="answered", ok=True, code=status, sign="STATUS", message="")
    said = result.output.encode()[:_SHOWN].decode("utf-8", "ignore").strip()
    message = f"HTTP {status} {reason[:_SHOWN]}".rstrip() + (f": {said}" if said else "")
    if 200 <= status < 300:
        return result._replace(ended="uncertain", ok=False, code=None, message=f"answered before the request was sent whole: {message}")
    unclear = status in requests.UNCLEAR or not 400 <= status < 500
    return result._replace(ended="unclear" if unclear else "answered", ok=False, code=status, sign="STATUS", message=message)
