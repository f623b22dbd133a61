"""Motions of joints that lead a tool along a path, and their inspection."""
