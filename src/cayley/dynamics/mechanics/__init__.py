"""Mechanics without robots: Lagrange's equations, systems of particles, equilibria, functions of time."""
