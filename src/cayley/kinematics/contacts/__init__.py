"""Where shapes touch: contact points of a mechanism as a text, one module for each kind of pairs."""
