"""The former name of `cayley.machines`, which works until version 0.3."""

import warnings

from cayley import machines

__getattr__, __dir__ = machines.__getattr__, machines.__dir__
warnings.warn("cayley.mechanisms is now cayley.machines", DeprecationWarning, stacklevel=2)
