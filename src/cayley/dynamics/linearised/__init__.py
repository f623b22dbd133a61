"""Linearised dynamics: sensitivity matrices by several routes, state-space models, and what is done with them."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
