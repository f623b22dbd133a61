"""Simulation of a system with adaptive steps: SciPy's integrators, events, inputs written in Python, and standstill."""
