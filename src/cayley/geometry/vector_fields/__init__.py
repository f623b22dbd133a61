"""Vector fields and their brackets: distributions, involutivity, the Lie algebra that a control system generates, and
whether feedback makes it linear; Lie groups by their laws of composition.

A field is a text or a kernel `f(x)`, or `f(x, p)` with parameters p. Where questions are asked decides how they are
answered: at numbers (..., n), by singular values with a tolerance; at SymPy's symbols (n), exactly, for all states but
special ones."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
