"""Jacobians of frames, points and functions, with their rates, and velocities."""
