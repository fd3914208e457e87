"""Producers and consumers for inlining: plain, reversed, padded, gathered, packed, cropped."""

from programs.short import each, main, program

F32 = "float32"


Mirrored = program(
    "A:8x12 C:8x12; B:8x12",
    each("B:8x12", "B[vi, vj] = A[vi, vj] * 2.0 + T.cast(vi, 'float32')"),
    each("C:8x12", "C[vi, vj] = B[vi, vj] * B[7 - vi, vj] + 1.0"),
)
MIRRORED = [((8, 12), F32)] * 2


Straight = program(
    "A:8x12 E:8x12 C:8x12; B:8x12",
    each("B:8x12", "B[vi, vj] = A[vi, vj] * 2.0"),
    each("C:8x12", "C[vi, vj] = B[vi, vj] + E[vi, vj] * B[vi, vj]"),
)
STRAIGHT = [((8, 12), F32)] * 3


Padded = program(
    "A:10 C:10; P:12",
    each("P:12", "P[vi] = T.if_then_else(vi >= 1 and vi < 11, A[vi - 1], T.float32(0))"),
    each("C i:10 k:3R", "C[vi] += P[vi + vk]", init="C[vi] = P[vi] * 0.5"),
)
"""A padded copy, summed over windows; the consumer reads it in its update and in its init."""
PADDED = [((10,), F32)] * 2


Gather = program(
    "A:9 P:8:int32 C:8; B:8",
    each("B", "B[vi] = A[vi + 1] + T.cast(vi * 3, 'float32')"),
    each("C", "C[vi] = B[T.max(T.min(P[vi], 7), 0)]"),
)
GATHER = [((9,), F32), ((8,), "int32"), ((8,), F32)]


Packed = program(
    "A:8x4 C:32; B:32", each("B:8x4", "B[vi * 4 + vj] = A[vi, vj] * 3.0"), each("C:32", "C[vi] = B[31 - vi] + 1.0")
)
"""The producer stores at a mixed-radix index of its iters."""
PACKED = [((8, 4), F32), ((32,), F32)]


Cropped = program("A:12 C:8; B:12", each("B:12", "B[vi] = A[vi] + 1.0"), each("C", "C[vi] = B[vi + 2] * 2.0"))
"""The consumer reads the middle of the producer's output."""
FILLED = main("A:3 C:3; B:3", each("B:3", "B[vi] = 2.0"), each("C:3", "C[vi] = A[vi] * (B[vi] + 1.0)"))
"""A block that fills B with a constant, and its consumer."""
