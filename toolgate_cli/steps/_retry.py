"""How often a step that asks models may be repeated: only as its workflow says."""

from __future__ import annotations

from typing import Annotated

from ..core.fields import Between
from ..core.values import NamedTuple


class Retry(NamedTuple):
    """Whether `retry --step` and a `retry_previous` step may repeat this one, and how often both together; without it: never."""

    allow: bool = False
    allow_from_previous: bool = False
    max_retries: Annotated[int, Between(1)] = 1
