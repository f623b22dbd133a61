"""Rotations, motions, screws, tensors and inertia: the mathematics of rigid bodies, before there is any mechanism."""
