"""Parts of control laws: targets, gains, limits, integral action, observers, compensators and signals."""
