"""What a test does that needs a program of others which is not there: it is skipped with the reason, and fails in CI."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

_REQUIRED = os.environ.get("TOOLGATE_TESTS_PEERS") == "required"  # read now: no test is left a variable of that kind


def missing(why: str, install: str = ".ci/peers") -> NoReturn:
    (pytest.fail if _REQUIRED else pytest.skip)(f"{why}: run {install}")
    raise AssertionError  # neither of them comes back
