"""Linearised dynamics: sensitivity matrices by several routes, state-space models, and what is done with them."""
