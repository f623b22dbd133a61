"""Machines that are no open trees: parallel machines and linkages, with their closed forms."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
