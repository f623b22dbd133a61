"""Trials of a control law on an arm: step and motion responses, and their report."""
