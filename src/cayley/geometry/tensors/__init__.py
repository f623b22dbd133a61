"""Second-order Cartesian tensors as arrays of components: products, decompositions, invariants, rotating frames."""

from cayley.geometry import part_names

__getattr__, __dir__ = part_names(__name__, __file__)
