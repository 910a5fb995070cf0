"""`toolgate`, also as `python -m toolgate_cli`: until the command's own handler is there an interrupt ends the process without a word."""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of: that one takes milliseconds to load
import os

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, lambda *_: os._exit(130))

try:
    from .cli.main import main
except MemoryError:
    os.write(2, b"error: not enough memory is left\n")
    os._exit(10)

if __name__ == "__main__":
    main()
