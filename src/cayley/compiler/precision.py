"""The working precisions."""

PRECISION = {"float64": "double", "float32": "float"}
"""By NumPy's name, and by LLVM's and C's."""
