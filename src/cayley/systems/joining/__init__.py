"""Systems joined by the names of their ports, and under other names."""
