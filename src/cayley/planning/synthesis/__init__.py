"""Synthesis of linkages: their lengths from what they are to do."""
