"""The system's clocks: wall time as text of fixed width, and a clock that counts suspension, so no deadline grows while a laptop sleeps."""

from __future__ import annotations

import time


class SystemClock:
    """`ports.Clock` over the kernel's clocks."""

    def now(self) -> str:
        """UTC, RFC 3339, milliseconds: 2026-01-31T12:00:00.000Z. Of fixed width, so text order is time order."""
        seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{nanoseconds // 1_000_000:03d}Z"

    def monotonic(self) -> float:
        """Seconds since boot, suspension included."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def sleep(self, seconds: float) -> None:
        """Waits; a negative time is none."""
        if seconds > 0:
            time.sleep(seconds)
