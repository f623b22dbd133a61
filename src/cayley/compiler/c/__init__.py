"""C99 source of programs and iterations."""
