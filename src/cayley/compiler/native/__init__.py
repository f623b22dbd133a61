"""Machine code by LLVM: assembly, loops over batches, the cache, and calls from Python."""
