"""The command line `cayley`: one module a command.

What a command needs is imported when it runs, so that help and completion are quick."""

from cayley.extras import optional_imports

with optional_imports():
    import typer as typer  # which every module here uses, as they do Rich, which comes with it
