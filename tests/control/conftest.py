"""What the tests of controllers share."""

from compiler.gpu_stand_in import cupy

__all__ = ["cupy"]
