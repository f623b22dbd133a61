"""Curves of rotations and of poses."""
