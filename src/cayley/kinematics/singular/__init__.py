"""Singular configurations, performance indices and redundancy."""
