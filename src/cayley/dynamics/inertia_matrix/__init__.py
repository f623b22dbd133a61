"""The inertia matrix: one module a published method."""
