"""More than one machine: sweeps over states, parameters and gains, in tasks whose results are kept or reduced."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
