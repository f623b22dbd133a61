"""Inverse dynamics: one module a published method."""
