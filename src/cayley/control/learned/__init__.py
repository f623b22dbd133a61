"""Controllers that learn: iterative learning, neural and fuzzy compensators."""
