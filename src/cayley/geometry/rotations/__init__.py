"""Rotations: one module a parameterisation, and conversions between any pair of them."""

from cayley.geometry import part_names

__getattr__, __dir__ = part_names(__name__, __file__)
