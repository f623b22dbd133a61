"""Learning by trial: a system as thousands of episodes side by side, as Gymnasium's vector API has them."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
