"""Motors, windings and gears."""
