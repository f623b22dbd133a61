"""Evaluation of programs on other scalars: SymPy, CasADi, JAX, mpmath, and counts of operations."""
