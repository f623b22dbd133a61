"""Linearisation by feedback."""
