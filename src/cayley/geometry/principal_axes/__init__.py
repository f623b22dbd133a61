"""Symmetric 3x3 matrices diagonalized by rotations in two levels, and what that solves."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
