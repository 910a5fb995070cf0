"""`python -m toolgate_cli` is `toolgate`."""

from .cli.main import main

if __name__ == "__main__":
    main()
