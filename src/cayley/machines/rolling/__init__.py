"""Robots on wheels with their closed forms."""
