"""What the tests of the compiler share."""

from compiler.gpu_stand_in import cupy

__all__ = ["cupy"]
