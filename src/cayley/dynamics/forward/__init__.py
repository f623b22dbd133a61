"""Forward dynamics: one module a published method."""
