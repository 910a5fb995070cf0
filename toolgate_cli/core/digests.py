"""Digests that bind a decision to exactly what was shown (I3): of a call, and of the row that a person names."""

from __future__ import annotations

from . import canonical, sums
from .records import Row

REF_DIGITS = 12


def sha256(text: str | bytes) -> str:
    """64 hex digits of the bytes; text counts as UTF-8."""
    return sums.sha256(text.encode("utf-8") if isinstance(text, str) else text).hexdigest()


def call_digest(capability: str, arguments: str, definition_digest: str) -> str:
    """What a call does, 64 hex digits. `arguments` is canonical JSON text; it is digested as one string, so no boundary can be shifted."""
    return sha256(canonical.encode([capability, arguments, definition_digest]))


def ref(row: Row) -> str:
    """`ID@HEX`: names one version of a row; another version, origin or digest is another ref."""
    return f"{row.id}@{sha256(canonical.encode([row.id, row.version, row.origin, row.call_digest]))[:REF_DIGITS]}"
