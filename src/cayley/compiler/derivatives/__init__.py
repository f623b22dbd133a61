"""Derivatives of programs, and the layers by which JAX and torch differentiate through kernels."""
