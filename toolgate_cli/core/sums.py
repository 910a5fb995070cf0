"""sha256, without OpenSSL: to load that costs a command more than all of its digests do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import sha256 as sha256
else:
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256
    except ImportError:  # an interpreter that was built without its own
        from hashlib import sha256 as sha256


def prefer_openssl() -> None:
    """For whoever digests a whole log: by the byte it is three times as quick."""
    global sha256
    from hashlib import sha256 as quick

    sha256 = quick
