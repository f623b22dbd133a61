"""Timing of paths under limits of velocity, acceleration, jerk and force."""
