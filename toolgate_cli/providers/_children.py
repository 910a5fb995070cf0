"""Code of ours for one call, in a process of its own: what ends a command ends it too, and as hard (I8, I10)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..host.endings import Ended
    from ..runtime.plugs import InvokeLimits, Started

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# the package is this very one, wherever it lies, and nothing that the caller's folder or environment leads to
_BOOT = (
    "import sys, types; package = sys.modules['toolgate_cli'] = types.ModuleType('toolgate_cli'); "
    "package.__path__ = [sys.argv.pop(1)]; from toolgate_cli.providers.{} import main; main()"
)


def run(module: str, words: tuple[str, ...], stdin: str, env: Mapping[str, str], cwd: str, claim: Started, limits: InvokeLimits) -> Ended:
    """`main()` of a module beside this one. Others on this computer can read `words`: no secret may be in them."""
    from ..host import running
    from ..host.child import Command

    argv = (sys.executable, "-P", "-c", _BOOT.format(module), _PACKAGE, *words)
    command = Command(claim.call_id, argv, cwd, env, stdin.encode(), claim.fence)
    return running.run(command, limits.timeout, limits.output_bytes, limits.stop, limits.secrets)
