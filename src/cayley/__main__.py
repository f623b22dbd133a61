"""`cayley` and `python -m cayley`: the command line."""

import sys

from cayley.errors import MissingPackageError


def main() -> None:
    """Run the command line, or say what to install for it."""
    try:
        from cayley.cli.app import main as run
    except MissingPackageError as error:
        sys.exit(f"Error: {error}")
    run()


if __name__ == "__main__":
    main()
