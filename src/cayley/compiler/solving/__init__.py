"""Linear equations, least squares, null spaces and iterations, written so that they can be traced."""
