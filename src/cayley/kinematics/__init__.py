"""Where the bodies of a mechanism are and how they move, given the coordinates of its joints."""
