"""Walking machines with their closed forms."""
