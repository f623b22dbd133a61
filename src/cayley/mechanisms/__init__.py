"""Machines that are no open trees: parallel machines and linkages, with their closed forms."""
