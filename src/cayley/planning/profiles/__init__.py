"""Motions from rest to rest."""
