"""`python -m cayley`: the command line."""

from cayley.cli.app import main

if __name__ == "__main__":
    main()
