"""Forces added to those of a law: observers of disturbances, networks and rules that compensate, learned motions."""
