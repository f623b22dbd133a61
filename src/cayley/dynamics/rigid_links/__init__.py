"""The links that every algorithm of the dynamics walks along, and their algebra: frames, moments of mass, energies,
drives."""
