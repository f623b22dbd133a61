"""Expression graphs: how Python functions become programs, and how programs are simplified."""
