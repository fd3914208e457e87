"""Loop passes: guards into bounds, peeled partial tiles, unrolling, threads and parallel loops, register promotion,
prefetch.
"""
