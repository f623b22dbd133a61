"""Splines and polynomials through points, as motions."""
