"""What the proofs count is told at the end of the run: how many points, crashes, doubts and rounds there were."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Callable[[str, float], None]:
    """Adds a number to what this test has counted under a name; a name that ends in " s" keeps the largest."""
    counted: dict[str, float] = {}
    name = request.node.originalname

    def add(what: str, number: float) -> None:
        counted[what] = max(counted.get(what, 0.0), number) if what.endswith(" s") else counted.get(what, 0) + number

    def keep() -> None:
        request.node.user_properties.append((f"tally:{name}", counted))

    request.addfinalizer(keep)
    return add


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    told: dict[str, dict[str, float]] = {}
    reports = [report for group in terminalreporter.stats.values() for report in group if getattr(report, "when", "") == "teardown"]
    for report in reports:
        for name, counted in report.user_properties:
            if name.startswith("tally:"):
                _merge(told.setdefault(name.removeprefix("tally:"), {}), counted)
    for name, counted in sorted(told.items()):
        terminalreporter.write_line(f"{name}: " + ", ".join(f"{_number(number)} {what}" for what, number in counted.items()))


def _merge(told: dict[str, float], counted: dict[str, float]) -> None:
    for what, number in counted.items():
        told[what] = max(told.get(what, 0.0), number) if what.endswith(" s") else told.get(what, 0) + number


def _number(number: float) -> str:
    return f"{number:.2f}" if isinstance(number, float) else str(number)
