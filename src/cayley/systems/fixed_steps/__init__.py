"""Methods of fixed steps: how a step is made in stages, and the methods by name."""
