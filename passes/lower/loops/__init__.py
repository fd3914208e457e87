"""Guards, peeled tails, unrolling, threads, register promotion, prefetch."""
