"""Rotations: one module a parameterisation, and conversions between any pair of them."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
