"""Dynamics in the coordinates of a frame: the operational-space model, its torques, and its linearisation."""
