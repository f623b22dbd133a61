"""Constraints of a mechanism: their rows, scale, structure and mobility, and the motions that they allow."""
