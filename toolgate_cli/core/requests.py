"""Requests made from arguments: what an argument fills is one segment, one value or one header, and never more than that (I3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import unquote

from . import canonical, references
from .errors import ToolgateError
from .references import Reference
from .types import Json
from .values import NamedTuple

Lookup = Callable[[str], Json]

_ORIGIN = re.compile(r"(https?)://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::([0-9]{1,5}))?(?=[/?]|\Z)", re.ASCII)
_LITERAL = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?\[\]-]|%[0-9A-Fa-f]{2})*\Z", re.ASCII)
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")  # RFC 3986: unreserved
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z", re.ASCII)
_VALUE = re.compile(r"[\t\x20-\x7e]*\Z", re.ASCII)
UNCLEAR = (408,)  # statuses besides 3xx and 5xx that leave it open what was done: whoever says it may stand before the one that acted
_DECODINGS = 4  # a server that decodes more often than this is not to be protected from itself
OURS = frozenset(
    {
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect", "accept-encoding",
        "idempotency-key", "proxy-authorization", "proxy-connection",
    }
)  # fmt: skip


class Origin(NamedTuple):
    """Where a URL leads. `host`: in small letters, of an IPv6 address without brackets."""

    scheme: str
    host: str
    port: int

    @property
    def header(self) -> str:
        """As the header Host has it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _default(self.scheme) else f"{host}:{self.port}"


class Request(NamedTuple):
    """One request, filled. `target`: path and query, as they are sent."""

    method: str
    origin: Origin
    target: str
    headers: tuple[tuple[str, str], ...]
    body: str | None

    @property
    def url(self) -> str:
        return f"{self.origin.scheme}://{self.origin.header}{self.target}"


def split_url(template: str) -> tuple[Origin, str]:
    """The origin, which is literal, and the rest, which may hold references. Raises ToolgateError("invalid")."""
    found = _ORIGIN.match(template)
    if found is None:
        raise ToolgateError("invalid", f"url: {_fault_of_origin(template)}", 'write "https://HOST/PATH"')
    scheme, host, port = found.groups()
    number = int(port) if port else _default(scheme)
    if not 0 < number < 65536:
        raise ToolgateError("invalid", f"url: {port} is no port")
    rest = template[found.end() :]
    return Origin(scheme, host.strip("[]").lower(), number), rest if rest.startswith("/") else "/" + rest


def _default(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _fault_of_origin(template: str) -> str:
    authority = re.split(r"[/?#]", template.partition("://")[2])[0]
    if "${" in authority or template.startswith("${"):
        return "scheme, host and port are literal: where a call goes is never an argument"
    if "@" in authority:
        return "it holds a user: credentials belong into headers, as ${secret.NAME}"
    return "it does not begin with http:// or https://, a host of letters, digits, dots and hyphens, and perhaps a port"


class _Target:
    """Puts a target together, piece by piece."""

    def __init__(self) -> None:
        self.text = ""
        self._segment = ""
        self._filled = False
        self._query = self._value = False

    def literal(self, text: str) -> None:
        if not _LITERAL.match(text):
            raise ToolgateError("invalid", f"url: {text!r} holds what no URL can carry", "write it percent-encoded; a fragment is not sent")
        for letter in text:
            self._letter(letter)

    def _letter(self, letter: str) -> None:
        if self._query:
            self._value = letter == "=" or (self._value and letter != "&")
            self.text += letter
        elif letter in "/?":
            self._close_segment()
            self.text += letter
            self._query = letter == "?"
        else:
            self._segment += letter

    def value(self, text: str, reference: Reference) -> None:
        if not self._query:
            self._segment += text
            self._filled = True
        elif self._value:
            self.text += text
        else:
            raise ToolgateError("invalid", f"url: {reference} stands in a name of the query", 'it can stand in a value: "?name=${...}"')

    def _close_segment(self) -> None:
        if fault := _fault_of_segment(self._segment, self._filled):
            raise ToolgateError("invalid", f"url: {fault}")
        self.text += self._segment
        self._segment, self._filled = "", False

    def end(self) -> str:
        if not self._query:
            self._close_segment()
        return self.text


def target(template: str, value: Callable[[Reference], str]) -> str:
    """Path and query, filled with what `value` gives, which is escaped already. Raises ToolgateError("invalid")."""
    made = _Target()
    for part in references.split(template):
        if isinstance(part, Reference):
            made.value(value(part), part)
        else:
            made.literal(part)
    return made.end()


def escape(value: Json) -> str:
    """Percent-encoded, all but the letters, digits and marks that mean nothing in a URL; what is no text as canonical JSON."""
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in _text(value).encode())


def _fault_of_segment(segment: str, filled: bool) -> str | None:
    """A segment that a server, or a proxy that decodes once more, may take for a step to elsewhere."""
    if filled and not segment:
        return "a segment of the path is empty once it is filled"
    text = segment
    for _ in range(_DECODINGS):
        text = unquote(text)
    if unquote(text) != text:
        return "a segment of the path is percent-encoded over and over once it is filled"
    if any(re.split("[;?#]", part)[0].strip("\0\t\n\v\f\r ") in (".", "..") for part in re.split(r"[/\\]", text)):
        return 'a segment of the path has a step "." or ".." in it once it is filled'
    return None


def fault_of_names(names: Mapping[str, str]) -> str | None:
    """What is wrong with the names of declared headers."""
    seen: set[str] = set()
    for name in names:
        if not _TOKEN.match(name):
            return f"headers: {name!r} is no name of a header"
        if name.lower() in OURS:
            return f"headers may not set {name}: toolgate does"
        if name.lower() in seen:
            return f"headers: {name} is there twice"
        seen.add(name.lower())
    return None


def headers(template: Mapping[str, str], lookup: Lookup) -> tuple[tuple[str, str], ...]:
    """Names and values, filled. Raises ToolgateError("invalid")."""
    found = []
    for name, text in template.items():
        value = _text(references.fill(text, lookup))
        if not _VALUE.match(value) or value != value.strip(" \t"):
            raise ToolgateError("invalid", f"headers: {name} holds what no header can carry once it is filled")
        found.append((name, value))
    return tuple(found)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else canonical.encode(value)
