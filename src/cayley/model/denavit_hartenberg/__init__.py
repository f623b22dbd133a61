"""Denavit-Hartenberg tables and joint axes: from trees, and into trees."""
