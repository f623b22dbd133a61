"""Elastic drives: what the reduced model leaves out, and that model in vector-parameters. The mechanism itself, with
its motors, is `arm.including("elastic drives")`."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
