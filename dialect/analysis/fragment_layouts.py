"""Which lane of a warp holds which element of a matrix, in which register: fragments as maps of bits.

The number of a lane has the bits l0 (lowest) to l4, and w0, w1 of the four warps of a warpgroup; the number of an
element among those of a lane has the bits r0, r1, .. (two float16 share a 32-bit register: r0 says which half). Every
fragment of NVIDIA's matrix units is a linear map over the field of two elements from these bits to those of row and
column, so one line of text says it (PTX manual, "Matrix Fragments for mma.m16n8k16" and its neighbours):

    row: l2 l3 l4 r1, column: r0 l0 l1      element (row, column) of 16 x 8, row = lane // 4 + 8 * bit 1 of the register
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

_TEXT = re.compile(r"row:([^,]*), column:([^,]*)(?:, copies:(.*))?")


@dataclass(frozen=True)
class FragmentDifference:
    """The first register in which two layouts differ, and the element that each of them has there."""

    lane: int
    register: int
    first: tuple[int, int]
    second: tuple[int, int]

    def text(self, first: str, second: str) -> str:
        """`lane 0, register 1: A[4, 0] is where B[8, 0] has to be`, with the names of both matrices."""
        (a, b), (c, d) = self.first, self.second
        return f"lane {self.lane}, register {self.register}: {first}[{a}, {b}] is where {second}[{c}, {d}] has to be"


@dataclass(frozen=True)
class FragmentLayout:
    """A matrix in the registers of a warp (or of four): { (lane, register) -> (row, column) }.

    row, column: the bits that make each of them, lowest first; copies: the bits of lanes that hold the same elements.
    tiles: how many such tiles are below, and beside each other; registers of a tile are adjacent, tiles are in
    row-major order: register = (tile_row * tiles[1] + tile_column) * registers_of_tile + register in the tile.
    """

    row: tuple[str, ...]
    column: tuple[str, ...]
    copies: tuple[str, ...] = ()
    tiles: tuple[int, int] = (1, 1)

    @staticmethod
    @cache
    def parse(text: str) -> FragmentLayout:
        """`row: l2 l3 l4 r1, column: r0 l0 l1` (`, copies: ..`). Raises ValueError if it is not one-to-one."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not of the form `row: l2 r0, column: l0 l1`")
        row, column, copies = (tuple((part or "").split()) for part in match.groups())
        layout = FragmentLayout(row, column, copies)
        layout._require_one_to_one()
        return layout

    def _require_one_to_one(self) -> None:
        """The matrix of the map has full rank: no two registers hold one element, none is without one."""
        inputs = sorted({bit for part in (*self.row, *self.column, *self.copies) for bit in part.split("^")})
        rows = [sum(1 << inputs.index(bit) for bit in part.split("^")) for part in (*self.row, *self.column)]
        rows += [1 << inputs.index(bit) for bit in self.copies]
        named = {kind: [bit for bit in inputs if bit[0] == kind] for kind in "lwr"}
        whole = all(bits == [f"{kind}{n}" for n in range(len(bits))] for kind, bits in named.items())
        if rank(rows) != len(inputs) or len(rows) != len(inputs) or len(named["l"]) != 5 or not whole:
            raise ValueError(f"{self.text} is not one-to-one")

    @property
    def text(self) -> str:
        """What `parse` reads."""
        copies = f", copies: {' '.join(self.copies)}" if self.copies else ""
        return f"row: {' '.join(self.row)}, column: {' '.join(self.column)}{copies}"

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and columns of a tile."""
        return 1 << len(self.row), 1 << len(self.column)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        return self.tile[0] * self.tiles[0], self.tile[1] * self.tiles[1]

    @property
    def tile_registers(self) -> int:
        """The elements of a tile that a lane holds."""
        bits = {bit for part in (*self.row, *self.column) for bit in part.split("^")}
        return 1 << sum(bit[0] == "r" for bit in bits)

    @property
    def registers(self) -> int:
        """The elements of the matrix that a lane holds."""
        return self.tile_registers * self.tiles[0] * self.tiles[1]

    @property
    def lanes(self) -> int:
        """32, or 128 of a warpgroup."""
        return 128 if any(bit[0] == "w" for part in (*self.row, *self.column) for bit in part.split("^")) else 32

    def tile_to(self, shape: Sequence[int]) -> FragmentLayout:
        """The layout of a matrix of whole tiles. Raises ValueError if a side is not a multiple of that of a tile."""
        (rows, columns), (m, n) = shape, self.tile
        if rows % m or columns % n or not rows or not columns:
            raise ValueError(f"{rows} x {columns} is not made of tiles of {m} x {n}")
        return replace(self, tiles=(rows // m, columns // n))

    @cached_property
    def elements(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns, each an array [lane, register]."""
        lane, register = np.arange(self.lanes)[:, None], np.arange(self.registers)[None]
        inside, tile = register % self.tile_registers, register // self.tile_registers

        def number(parts: Sequence[str]) -> np.ndarray:
            total = np.zeros((self.lanes, self.registers), np.int64)
            for position, part in enumerate(parts):
                for bit in part.split("^"):
                    source = {"l": lane, "w": lane >> 5, "r": inside}[bit[0]]
                    total ^= (source >> int(bit[1:]) & 1) << position
            return total

        rows = number(self.row) + tile // self.tiles[1] * self.tile[0]
        return rows, number(self.column) + tile % self.tiles[1] * self.tile[1]

    def element(self, lane: int, register: int) -> tuple[int, int]:
        """The row and column of what a lane holds in a register."""
        rows, columns = self.elements
        return int(rows[lane, register]), int(columns[lane, register])

    def owner(self, row: int, column: int) -> tuple[int, int]:
        """The lane and the register of an element; the lowest lane of those that hold it."""
        rows, columns = self.elements
        lane, register = np.argwhere((rows == row) & (columns == column))[0]
        return int(lane), int(register)

    def transpose(self) -> FragmentLayout:
        """The same registers, as those of the matrix with rows and columns exchanged; for one tile."""
        if self.tiles != (1, 1):
            raise ValueError("tiles of a transposed matrix have another order")
        return replace(self, row=self.column, column=self.row)

    def first_difference(self, other: FragmentLayout) -> FragmentDifference | None:
        """Where two layouts of one shape differ first, by lane, then by register; None: they are equal. Raises
        ValueError for layouts of different lanes or registers."""
        if (self.lanes, self.registers) != (other.lanes, other.registers):
            raise ValueError(
                f"{self.lanes} lanes of {self.registers} registers are compared with {other.lanes} of {other.registers}"
            )
        return difference(self.elements, other.elements)

    def register_order(self, other: FragmentLayout) -> tuple[int, ...] | FragmentDifference:
        """For each register of `other`, which of this layout's registers has the same elements in all lanes: a matrix
        goes from one layout to the other without movement between lanes. Else a register in which a lane would need
        what another one has: `first` is an element that this lane has instead."""
        mine = {element: n for n, element in enumerate(zip(*(part[0].tolist() for part in self.elements), strict=True))}
        order = []
        for register in range(other.registers):
            source = mine.get(other.element(0, register))
            if source is None:
                own = self.element(0, min(register, self.registers - 1))
                return FragmentDifference(0, register, own, other.element(0, register))
            order.append(source)
        rows, columns = (part[:, order] for part in self.elements)
        return difference((rows, columns), other.elements) or tuple(order)

    def vector(self, axis: int = 0) -> FragmentLayout:
        """The layout of a vector with one element a row (axis 0) or a column (axis 1) of the matrix, held by each lane
        that holds some of the row: as a matrix of one column (one row). The lanes of `copies` hold the same:
        accumulators of 16 x 8 have rows in four lanes of a quad, `copies: l0 l1`, in two registers."""
        kept, names = (self.row, self.column)[axis], self._vector_bits(axis)
        bits = tuple("^".join(names.get(bit, bit) for bit in part.split("^")) for part in kept)
        used = {bit for part in kept for bit in part.split("^")}
        other = {bit for part in (*self.row, *self.column) for bit in part.split("^")} - used
        copies = tuple(sorted(bit for bit in other if bit[0] != "r")) + self.copies
        tiles = (self.tiles[0], 1) if axis == 0 else (1, self.tiles[1])
        return FragmentLayout(*((bits, ()) if axis == 0 else ((), bits)), copies, tiles)

    def vector_register(self, register: int, axis: int = 0) -> int:
        """The register of `vector(axis)` that has the row (column) of what is in a register of this matrix."""
        names = self._vector_bits(axis)
        tile, inside = divmod(register, self.tile_registers)
        low = sum((inside >> int(old[1:]) & 1) << int(new[1:]) for old, new in names.items())
        return (tile // self.tiles[1] if axis == 0 else tile % self.tiles[1]) * (1 << len(names)) + low

    def _vector_bits(self, axis: int) -> dict[str, str]:
        """The bits of registers that say the row, and what they are in the registers of the vector."""
        bits = {bit for part in (self.row, self.column)[axis] for bit in part.split("^") if bit[0] == "r"}
        return {bit: f"r{n}" for n, bit in enumerate(sorted(bits))}


def rank(rows: Sequence[int]) -> int:
    """The rank over the field of two elements of a matrix; the bits of a number are the entries of a row."""
    basis: list[int] = []
    for row in rows:
        for other in basis:
            row = min(row, row ^ other)
        if row:
            basis.append(row)
    return len(basis)


def difference(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]
) -> FragmentDifference | None:
    """The first lane and register in which two maps, each as arrays of rows and of columns, differ."""
    differs = (first[0] != second[0]) | (first[1] != second[1])
    if not differs.any():
        return None
    lane, register = (int(n) for n in np.argwhere(differs)[0])
    a, b = ((int(part[0][lane, register]), int(part[1][lane, register])) for part in (first, second))
    return FragmentDifference(lane, register, a, b)


# --- the table --------------------------------------------------------------------------------------------------------

_A16, _A8 = "row: l2 l3 l4 r1, column: r0 l0 l1 r2", "row: l2 l3 l4 r2, column: r0 r1 l0 l1 r3"
_B16, _B8 = "row: r0 l0 l1 r1, column: l2 l3 l4", "row: r0 r1 l0 l1 r2, column: l2 l3 l4"
_SUMS = "row: l2 l3 l4 r1, column: r0 l0 l1"

MMA_LAYOUTS = {
    # m16n8k16
    ("mma.matrix_a", "float16"): _A16,
    ("mma.matrix_a", "bfloat16"): _A16,
    ("mma.matrix_b", "float16"): _B16,
    ("mma.matrix_b", "bfloat16"): _B16,
    # m16n8k8, of float32 in tf32
    ("mma.matrix_a", "float32"): "row: l2 l3 l4 r0, column: l0 l1 r1",
    ("mma.matrix_b", "float32"): "row: l0 l1 r0, column: l2 l3 l4",
    # m8n8k4
    ("mma.matrix_a", "float64"): "row: l2 l3 l4, column: l0 l1",
    ("mma.matrix_b", "float64"): "row: l0 l1, column: l2 l3 l4",
    # m16n8k32
    ("mma.matrix_a", "int8"): _A8,
    ("mma.matrix_a", "uint8"): _A8,
    ("mma.matrix_b", "int8"): _B8,
    ("mma.matrix_b", "uint8"): _B8,
    # sums
    ("mma.accumulator", "float32"): _SUMS,
    ("mma.accumulator", "float16"): _SUMS,
    ("mma.accumulator", "int32"): _SUMS,
    ("mma.accumulator", "float64"): "row: l2 l3 l4, column: r0 l0 l1",
    # of a warpgroup, 64 x 8; wider ones are tiles beside each other
    ("wgmma.accumulator", "float32"): "row: l2 l3 l4 r1 w0 w1, column: r0 l0 l1",
    ("wgmma.accumulator", "float16"): "row: l2 l3 l4 r1 w0 w1, column: r0 l0 l1",
    ("wgmma.accumulator", "int32"): "row: l2 l3 l4 r1 w0 w1, column: r0 l0 l1",
    ("wgmma.matrix_a", "float16"): "row: l2 l3 l4 r1 w0 w1, column: r0 l0 l1 r2",
    ("wgmma.matrix_a", "bfloat16"): "row: l2 l3 l4 r1 w0 w1, column: r0 l0 l1 r2",
}
"""The layout of a tile, by scope and type of the elements. `mma.matrix_a` is M x K, `mma.matrix_b` K x N, the sums
M x N; in `mma.matrix_a_trans` (K x M) and `mma.matrix_b_trans` (N x K) rows and columns are exchanged."""

_LDMATRIX = {
    (8, False): "row: l2 l3 l4, column: r0 r1 l0 l1",
    (16, False): "row: l2 l3 l4, column: r0 l0 l1",
    (16, True): "row: r0 l0 l1, column: l2 l3 l4",
    (32, False): "row: l2 l3 l4, column: l0 l1",
}
"""What `ldmatrix` puts into a register, and `stmatrix` takes from it, of each matrix of 8 rows of 16 bytes in memory:
by the bits of an element, and `.trans`, which exchanges elements of 16 bits only."""

_TRANS = "_trans"


def fragment_tile(scope: str, dtype: str) -> FragmentLayout | None:
    """The layout of one tile in a scope of matrix units, None if there is none for the type."""
    text = MMA_LAYOUTS.get((scope.removesuffix(_TRANS), dtype))
    if text is None or (scope.endswith(_TRANS) and "accumulator" in scope):
        return None
    layout = FragmentLayout.parse(text)
    return layout.transpose() if scope.endswith(_TRANS) else layout


def fragment_layout(scope: str, dtype: str, shape: Sequence[int]) -> FragmentLayout:
    """The layout of a buffer in a scope of matrix units. Raises ValueError for scopes, types and shapes that have none;
    the text names what there is."""
    tile = fragment_tile(scope, dtype)
    if tile is None:
        scopes = sorted({name for name, _ in MMA_LAYOUTS})
        types = [type_ for name, type_ in MMA_LAYOUTS if name == scope.removesuffix(_TRANS)]
        there = f"{scope} has {', '.join(types)}" if types else f"there are {', '.join(scopes)}"
        raise ValueError(f"no matrix unit holds {dtype} in {scope}; {there}")
    return tile.tile_to(shape)


def ldmatrix_layout(bits: int, trans: bool = False) -> FragmentLayout | None:
    """The layout in registers of a matrix of 8 rows of 16 bytes that `ldmatrix` loads; None: there is none for elements
    of so many bits."""
    text = _LDMATRIX.get((bits, trans))
    return None if text is None else FragmentLayout.parse(text)


def vector_layout(dtype: str, axis: int) -> FragmentLayout:
    """The layout of a tile of one value a row (axis 0) or column (axis 1) of accumulators, by the type of the values:
    those of float64 are of 8 rows, all others of 16."""
    tile = fragment_tile("mma.accumulator", dtype) or fragment_tile("mma.accumulator", "float32")
    assert tile is not None
    return tile.vector(axis)
