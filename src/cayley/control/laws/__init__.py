"""Control laws, one a module, and their table."""
