"""What a loop is worth: equilibria, linear models and their pictures, Lyapunov's methods, regions of attraction.

Every verdict says what was proved, what was only sampled, and where something fails.
"""
