"""One endpoint of a live model: its address, its key and its bounds, checked and filled before anything is sent (I12)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Protocol
from urllib.parse import urlsplit

from ..core import references
from ..core.errors import ToolgateError
from ..core.secrets import Secrets
from ..core.types import Json
from ..core.values import NamedTuple

MISSING = "the package httpx2 is not installed: pip install 'toolgate-cli[http]'"
_OURS = ("messages", "model", "n", "stream", "system", "tools")  # of a request: what an option may not change


class Live(Protocol):
    """What the tables of both adapters have."""

    @property
    def base_url(self) -> str: ...
    @property
    def api_key(self) -> str | None: ...
    @property
    def timeout(self) -> float: ...
    @property
    def connect_timeout(self) -> float: ...
    @property
    def max_attempts(self) -> int: ...
    @property
    def proxy(self) -> str | None: ...
    @property
    def options(self) -> Mapping[str, Json]: ...


class Endpoint(NamedTuple):
    """`timeout`: seconds for one answer in all, every attempt and every pause included; `connect`: for one connection. `sealed`: what was
    filled in, to be taken out of whatever is told."""

    url: str
    headers: Mapping[str, str]
    timeout: float
    connect: float
    attempts: int
    proxy: str | None
    secrets: Secrets
    sealed: tuple[str, ...] = ()

    def scrub(self, text: str) -> str:
        text = self.secrets.scrub(text)
        for value in self.sealed:
            text = text.replace(value, "***api_key***")
        return text


def endpoint(fields: Live, path: str, headers: Mapping[str, str], key_header: tuple[str, str], secrets: Secrets) -> Endpoint:
    """`path` is appended to `base_url`; `key_header`: name and what stands before the key. ToolgateError("invalid") for what is missing; no
    message holds a value. What is missing in this shell alone is retryable: another has it."""
    for _, why in defects(fields):
        raise ToolgateError("invalid", why, retryable=why == MISSING)
    made = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity", **headers}
    sealed: tuple[str, ...] = ()
    if fields.api_key is not None:
        key = _filled("api_key", fields.api_key, secrets)
        made[key_header[0]] = key_header[1] + key
        sealed = (key,)
    proxy = None if fields.proxy is None else _filled("proxy", fields.proxy, secrets)
    if proxy is not None and not proxy.startswith(("http://", "https://")):
        raise ToolgateError("invalid", "proxy: it is not an address that begins with http:// or https://")
    url = fields.base_url.rstrip("/") + path
    return Endpoint(url, made, fields.timeout, fields.connect_timeout, fields.max_attempts, proxy, secrets, sealed)


def defects(fields: Live) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What keeps a table from being used, as (path in it, why)."""
    try:
        installed = find_spec("httpx2") is not None
    except (ImportError, ValueError):
        installed = False
    if not installed:
        yield (), MISSING
    if why := _fault_of_url(fields.base_url):
        yield ("base_url",), f"base_url: {why}"
    for name in fields.options:
        if name in _OURS:
            yield ("options", name), f"options: {name} is not for you to set: toolgate does"


def doubts(fields: Live) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The same, and what is probably not meant."""
    yield from defects(fields)
    if fields.api_key is not None and not references.secrets(fields.api_key):
        yield ("api_key",), "the key is no secret here: it stands in a file, and is not taken out of what is stored (write ${secret.NAME})"
    parts = urlsplit(fields.base_url) if not _fault_of_url(fields.base_url) else None
    if fields.api_key and parts and parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        yield ("base_url",), "the key goes over the network as everybody can read it: https is not used"


def _fault_of_url(text: str) -> str | None:
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "it is not an address"
    if parts.scheme not in ("http", "https") or not host or not text.isascii() or not text.isprintable() or "${" in text or " " in text:
        return "it is not an address that begins with http:// or https://"
    if parts.username is not None or parts.password is not None:
        return "it has a name or a password in it: the key belongs in api_key"
    return "it has a query or a fragment" if "?" in text or "#" in text else None


def _filled(field: str, template: str, secrets: Secrets) -> str:
    """The text with its secrets and variables. No message holds a value."""

    def lookup(name: str) -> Json:
        kind, _, rest = name.partition(".")
        if kind == "secret":
            if (why := secrets.fault(rest)) is not None:
                raise ToolgateError("invalid", f"{field}: the secret {rest} has no value: {why}", retryable=True)
            return secrets.value(rest)
        if kind == "env" and (found := os.environ.get(rest)) is not None:
            return found
        raise ToolgateError("invalid", f"{field}: ${{{name}}} has no value", retryable=kind == "env")

    text = references.fill(template, lookup)
    if not isinstance(text, str) or not text or not text.isascii() or not text.isprintable() or " " in text:
        raise ToolgateError("invalid", f"{field}: it is empty, or holds characters that no header can carry")
    return text
