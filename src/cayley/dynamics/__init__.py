"""Dynamics of trees of rigid bodies: inverse and forward dynamics, linearised models, energies, identification."""
