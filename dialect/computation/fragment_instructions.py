"""Instructions on fragments of `mma.sync`, `ptx_ldmatrix` and `ptx_mma`, as loops over lanes and elements."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.analysis.fragment_layouts import FragmentLayout, fragment_layout, fragment_tile, ldmatrix_layout
from tir_mlir.dialect.analysis.pointers import pointee
from tir_mlir.dialect.computation.fragment_maps import ROWS, LdmatrixForm, NotComposed, element_index
from tir_mlir.dialect.ir import (
    Buffer,
    Index,
    Loop,
    attrs,
    constant_integer,
    create,
    dtypes,
    matrix_function,
    matrix_pointer,
    owner_op,
)
from tir_mlir.dialect.ir.fragments import WARP


def expand_instruction(op: ir.Operation, fragments: Sequence[ir.Value]) -> bool:
    """Write what an instruction does before it. False: it is none that the hardware has."""
    layouts = [_layout(view) for view in fragments]
    if any(layout is None for layout in layouts):
        return False
    known = [layout for layout in layouts if layout is not None]
    if matrix_function(op) == "ptx_ldmatrix":
        return _load(op, fragments[0], known[0])
    return _multiply(op, fragments, known)


def _layout(view: ir.Value) -> FragmentLayout | None:
    buffer = Buffer(view)
    rows, columns = (n or 0 for n in buffer.shape)
    try:
        return fragment_layout(buffer.scope, buffer.dtype, (rows, columns))
    except ValueError:
        return None


def _element(layout: FragmentLayout, lane: Index, register: int) -> list[Index]:
    """The row and column of what a lane holds in a register."""
    inside, tile = register % layout.tile_registers, register // layout.tile_registers
    starts = [place * side for place, side in zip(divmod(tile, layout.tiles[1]), layout.tile, strict=True)]
    return [
        element_index(parts, lane, inside) + start
        for parts, start in zip((layout.row, layout.column), starts, strict=True)
    ]


def _load(op: ir.Operation, fragment: ir.Value, layout: FragmentLayout) -> bool:
    pointer, first = matrix_pointer(op), constant_integer(op.operands[1])
    memory = None if pointer is None else pointee(owner_op(pointer))
    try:
        form = LdmatrixForm.parse(attrs.get(op, attrs.LAYOUT, ""))
    except NotComposed:
        return False
    moved = ldmatrix_layout(dtypes.bits(Buffer(fragment).dtype), form.trans)
    if memory is None or first is None or moved is None or Buffer(memory).rank != 2:
        return False
    loop = create.loop("lane", 0, WARP)
    lane = Index.from_value(loop.var)
    with create.at_end(loop.body):
        for matrix in range(form.count):
            for element in range(moved.registers):
                row, column = _element(moved, lane, element)
                start = form.place(row + matrix * ROWS)
                value = create.load(memory, [start[0].simplify(), (start[1] + column).simplify()])
                create.store(value, fragment, _element(layout, lane, first + matrix * moved.registers + element))
    return True


def _multiply(op: ir.Operation, fragments: Sequence[ir.Value], layouts: Sequence[FragmentLayout]) -> bool:
    registers = [constant_integer(op.operands[n]) for n in (1, 3, 5, 7)]
    dtype, sums = Buffer(fragments[1]).dtype, Buffer(fragments[0]).dtype
    tiles = [fragment_tile(f"mma.matrix_{word}", dtype) for word in "ab"]
    scopes = [Buffer(view).scope.removesuffix("_trans") for view in fragments]
    if scopes != ["mma.accumulator", "mma.matrix_a", "mma.matrix_b", "mma.accumulator"] or None in registers:
        return False
    assert tiles[0] is not None and tiles[1] is not None
    turned = [Buffer(view).scope.endswith("_trans") for view in fragments]
    starts = []
    for layout, register in zip(layouts, registers, strict=True):
        place = divmod((register or 0) // layout.tile_registers, layout.tiles[1])
        starts.append([n * side for n, side in zip(place, layout.tile, strict=True)])
    multiply, add = (arith.mulf, arith.addf) if dtypes.is_float(sums) else (arith.muli, arith.addi)

    def element(number: int, row: Index, column: Index) -> list[Index]:
        first, second = (column, row) if turned[number] else (row, column)
        return [first + starts[number][0], second + starts[number][1]]

    loops = [create.loop("i", 0, tiles[0].tile[0])]
    for name, extent in (("j", tiles[1].tile[1]), ("k", tiles[0].tile[1])):
        with create.at_end(loops[-1].body):
            if name == "k" and (fragments[0] != fragments[3] or starts[0] != starts[3]):
                create.store(
                    create.load(fragments[3], element(3, *_vars(loops))), fragments[0], element(0, *_vars(loops))
                )
            loops.append(create.loop(name, 0, extent))
    i, j, k = _vars(loops)
    with create.at_end(loops[-1].body):
        a, b = create.load(fragments[1], element(1, i, k)), create.load(fragments[2], element(2, k, j))
        product = multiply(*(create.convert(v, sums, dtype) for v in (a, b)))
        create.store(add(create.load(fragments[0], element(0, i, j)), product), fragments[0], element(0, i, j))
    return True


def _vars(loops: Sequence[Loop]) -> list[Index]:
    return [Index.from_value(loop.var) for loop in loops]
