"""Rollouts: whole trajectories of fixed steps inside one compiled loop, and their derivatives."""
