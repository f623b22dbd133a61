"""Laws that make a mechanism move as it should, and what they are worth: linearisation by feedback, tracking."""
