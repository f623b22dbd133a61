"""Second-order Cartesian tensors as arrays of components: products, decompositions, invariants, rotating frames."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
