"""Analysis of stability: equilibria, linear models, Bode and root locus, Lyapunov's methods, regions of attraction."""
