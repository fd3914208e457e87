"""Several blocks that share a buffer: forks, split loops, loop-carried values, windows with offsets."""

from programs.short import each, nest, program, sblock

Fork = program(
    "A:8x12 C:8x12 D:8x12; B:8x12",
    each("B:8x12", "B[vi, vj] = A[vi, vj] * 2.0"),
    each("D:8x12", "D[vi, vj] = A[vi, vj] + 1.0"),
    each("C:8x12", "C[vi, vj] = B[vi, vj] + A[7 - vi, vj]"),
)
"""B from A, D from A, C from B."""
FORK = [((8, 12), "float32")] * 3


Halves = program(
    "A:4x8 C:4x8 D:4x8; B:4x8",
    nest(
        "i:4",
        nest("j:8", sblock("B", "SS i j", "B[vi, vj] = A[vi, vj] + 1.0")),
        nest("j:8", sblock("C", "SS i j", "C[vi, vj] = B[vi, 7 - vj]")),
    ),
    each("D:4x8", "D[vi, vj] = B[vi, vj] * 3.0"),
)
"""Producer and consumer in one loop, a second consumer after it."""
HALVES = [((4, 8), "float32")] * 3


Running = program(
    "A:9x8 C:9x8; B:9x8",
    nest(
        "i:9",
        nest("j:8", sblock("B", "SS i j", "B[vi, vj] = A[vi, vj] + 1.0")),
        nest("j:8", sblock("C", "SS i j", "C[vi, vj] = T.if_then_else(vi > 0, B[vi - 1, vj], T.float32(0))")),
    ),
)
"""Each row adds to the row above: a loop-carried value between writer and reader."""
ViewedInTiles = program(
    "A:8x8 C:8x8; B:8x8",
    each("B:8x8", "B[vi, vj] = A[vi, vj]"),
    each(
        "outer:2",
        "W = T.match_buffer(B[vi * 4:vi * 4 + 4, 0:8], (4, 8), strides=['t', 1], offset_factor=1)",
        each("C j:4 k:8", "C[vi * 4 + vj, vk] = W[vj, vk]"),
    ),
)
"""Block "outer" reads the output of block "B" through a view of four rows."""
Diagonals = program("A:4x3 B:6", each("B i:4O j:3O", "B[vi + vj] = A[vi, vj]"))
"""Several iterations store to the same element."""
