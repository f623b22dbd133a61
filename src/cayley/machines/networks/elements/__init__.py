"""The kinds of elements of circuits: electrical ones, shafts and slides, and what couples them. A new kind is a class
here and a name in the stub."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
