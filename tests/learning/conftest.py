"""What the tests of learning share."""

from compiler.gpu_stand_in import cupy

__all__ = ["cupy"]
