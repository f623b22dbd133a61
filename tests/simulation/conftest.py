"""What the tests of simulations share."""

from compiler.gpu_stand_in import cupy

__all__ = ["cupy"]
