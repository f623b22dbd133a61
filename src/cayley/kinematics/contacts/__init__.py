"""Contact points of the shapes of a mechanism, as a text, one module for each kind of pairs."""
