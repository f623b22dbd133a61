"""Functions of a tree that rooms of a mechanism forward to, imported when they are first asked for."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
