"""The command line `cayley`: one module a command.

What a command needs is imported when it runs, so that help and completion are quick."""
