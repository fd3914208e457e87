"""Do the loads and products of an implementation compose with the fragments that they fill and take?

A fragment is a map { (lane, register) -> element }, and so is each instruction: `ldmatrix` says which element of memory
gets where, `mma.sync` which element it takes from where. An implementation computes its description if both agree in
each register of each lane. All of it is finite: 32 lanes, few registers; it is compared element by element.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

import numpy as np
from mlir import ir

from tir_mlir.dialect.analysis.fragment_layouts import (
    FragmentLayout,
    difference,
    fragment_layout,
    fragment_tile,
    ldmatrix_layout,
)
from tir_mlir.dialect.analysis.pointers import base_of, pointee
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.ir import (
    MATRIX_LOADS,
    MATRIX_PRODUCTS,
    Buffer,
    Func,
    Index,
    attrs,
    constant_integer,
    dtypes,
    matrix_function,
    matrix_pointer,
    owner_op,
    walk,
)
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, SubviewOp, defining_op, isa
from tir_mlir.dialect.symbolic import Symbol, evaluate, leaves, parse

ROWS, ROW_BYTES = 8, 16
"""Rows of a matrix of `ldmatrix`, and bytes of each."""
Number = TypeVar("Number", np.ndarray, Index)


class NotComposed(ValueError):
    """An implementation that does something else than its description; `fix` says what helps."""

    def __init__(self, text: str, fix: str = ""):
        super().__init__(text)
        self.fix = fix


@dataclass(frozen=True)
class LdmatrixForm:
    """`x4.trans: lane % 16, lane // 16 * 8`: how many matrices, whether transposed, and the row and the first column of
    the 16 bytes whose address each lane gives."""

    count: int
    trans: bool
    row: str
    column: str

    @staticmethod
    def parse(text: str) -> LdmatrixForm:
        """Raises NotComposed for another form."""
        head, _, places = text.partition(":")
        words, parts = head.strip().split("."), places.split(",")
        if words[0] not in ("x1", "x2", "x4") or words[1:] not in ([], ["trans"]) or len(parts) != 2:
            raise NotComposed(
                f'ldmatrix has no form "{text}"', 'write "x4: lane % 16, lane // 16 * 8", or "x2.trans: row, column"'
            )
        form = LdmatrixForm(int(words[0][1:]), len(words) == 2, parts[0].strip(), parts[1].strip())
        form.place(np.arange(32))
        return form

    def place(self, lane: Number) -> tuple[Number, Number]:
        """The row and the column that a lane names; of arrays of lanes, or as affine expressions."""
        return _value(self.row, lane), _value(self.column, lane)


def _value(text: str, lane: Number) -> Number:
    """The value of an expression of `lane`."""
    try:
        expr = parse(text)
    except GraphError:
        raise NotComposed(f'"{text}" is not made of lane, numbers, +, -, *, // and %') from None
    if any(isinstance(leaf, Symbol) and leaf.name != "lane" for leaf in leaves(expr)):
        raise NotComposed(f'"{text}" has another name than lane')
    return evaluate(expr, lambda _: lane) + lane * 0


def element_index(parts: Sequence[str], lane: Index, register: int) -> Index:
    """The row (or column) that the bits `parts` make of a lane and a register, as an affine expression."""
    total, position = Index.constant(0), 0
    while position < len(parts):
        bit, number = parts[position][0], int(parts[position][1:])
        if bit == "r":
            total, position = total + ((register >> number & 1) << position), position + 1
            continue
        width = 1
        while position + width < len(parts) and parts[position + width] == f"l{number + width}":
            width += 1
        field = lane // (1 << number) if number else lane
        field = field if number + width == 5 else field % (1 << width)
        total, position = total + field * (1 << position), position + width
    return total.simplify()


# --- what implementations contain -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _FragmentOperand:
    """A fragment that a call takes: a parameter of the implementation, from a register on."""

    param: Buffer
    number: int
    register: int

    @property
    def layout(self) -> FragmentLayout:
        rows, columns = (n or 0 for n in self.param.shape[-2:])
        return fragment_layout(self.param.scope, self.param.dtype, (rows, columns))


def check_composition(name: str, impl: Func, desc: Func) -> None:
    """Refuse an implementation whose calls on fragments of `mma.sync` do not compute its description. Raises
    NotComposed, with lane, register and both elements."""
    calls = [op for op in walk.ops(impl.op) if matrix_function(op)]
    loads = [op for op in calls if matrix_function(op) in MATRIX_LOADS and _is_mma(op)]
    products = [op for op in calls if matrix_function(op) in MATRIX_PRODUCTS and _is_mma(op)]
    if loads:
        _check_loads(name, loads, impl, desc)
    if products:
        _check_products(name, products, impl, desc)


def _is_mma(op: ir.Operation) -> bool:
    view = base_of(owner_op(op.operands[0]))
    return view is not None and Buffer(view).scope.startswith("mma.")


def _operand(op: ir.Operation, number: int, impl: Func) -> _FragmentOperand:
    view = base_of(owner_op(op.operands[number]))
    while view is not None and (subview := defining_op(view, SubviewOp)) is not None:
        view = subview.source
    if view is None or view not in impl.args:
        raise NotComposed(f"{matrix_function(op)} takes a fragment that is not a parameter of the implementation")
    named = constant_integer(op.operands[number + 1]) if matrix_function(op) in ("ptx_mma", "ptx_ldmatrix") else 0
    if named is None:
        raise NotComposed(f"{matrix_function(op)} takes a register that is not a constant")
    return _FragmentOperand(Buffer(view), impl.args.index(view), named)


def _names(desc: Func, number: int) -> list[ir.Value]:
    """The iters that index a parameter of a description; none if it is not indexed by iters alone."""
    for use in desc.args[number].uses:
        op = use.owner.operation
        if isa(op, AffineElementAccessOp):
            values = [index.simplify().is_value() for index in walk.access_indices(op)]
            known = [value for value in values if value is not None]
            return known if len(known) == len(values) else []
    return []


# --- loads ------------------------------------------------------------------------------------------------------------


def _check_loads(name: str, calls: Sequence[ir.Operation], impl: Func, desc: Func) -> None:
    target = _operand(calls[0], 0, impl)
    rows, columns = target.layout.elements
    found = np.full((2, *rows.shape), -1)
    source = ""
    for op in calls:
        pointer = matrix_pointer(op)
        memory = None if pointer is None else pointee(owner_op(pointer))
        if memory is None or memory not in impl.args or _operand(op, 0, impl).param.value != target.param.value:
            raise NotComposed("an implementation loads one parameter in memory into one parameter in fragments")
        source = Buffer(memory).name
        wanted = _described_elements(desc, impl.args.index(memory), target.number, (rows, columns))
        if matrix_function(op) == "ptx_ldmatrix":
            _fill_by_ldmatrix(op, _operand(op, 0, impl), found, Buffer(memory))
        else:
            found[0], found[1] = rows, columns
        differs = difference((found[0], found[1]), wanted)
    assert calls
    if differs is None:
        return
    lane, register = differs.lane, differs.register
    scope = f"{target.param.scope} of {target.param.dtype}"
    wanted_text = f"{source}[{differs.second[0]}, {differs.second[1]}]"
    if differs.first == (-1, -1):
        raise NotComposed(
            f'"{name}" does not load register {register} of lane {lane}, which has {wanted_text} in {scope}',
            "load all matrices of 8 x 8: x4 fills the registers of four",
        )
    raise NotComposed(
        f'"{name}" loads {source}[{differs.first[0]}, {differs.first[1]}] into register {register} of lane {lane}, '
        f"which has {wanted_text} in {scope}",
        _load_fix(target.param),
    )


def _load_fix(param: Buffer) -> str:
    """The form of a load that fills a fragment, or what loads it."""
    layout = fragment_tile(param.scope, param.dtype)
    assert layout is not None
    form = ldmatrix_form(layout, dtypes.bits(param.dtype))
    way = f'ldmatrix "{form}" loads a tile' if form else "ldmatrix does not load it"
    return f"{way}; T.tvm_load_matrix_sync loads any"


def ldmatrix_form(layout: FragmentLayout, bits: int) -> str:
    """The form of `ldmatrix` that loads a tile, `x4: lane % 16, lane // 16 * 8`; "": there is none."""
    for trans in (False, True):
        moved = ldmatrix_layout(bits, trans)
        if moved is None or any(a % b for a, b in zip(layout.tile, moved.tile, strict=True)):
            continue
        order = moved.tile_to(layout.tile).register_order(layout)
        if not isinstance(order, tuple):
            continue
        wide = layout.tile[1] // moved.tile[1]
        places = [divmod(order[n] // moved.registers, wide) for n in range(0, len(order), moved.registers)]
        row = column = ""
        if len(places) > 1:
            down, beside = places[1]
            row = " + lane // 8 % 2 * 8" if down else ""
            column = f"lane // 8 % 2 * {moved.tile[1]}" if beside else ""
        if len(places) > 2:
            down, beside = places[2]
            row += " + lane // 16 * 8" if down else ""
            column += f"{' + ' if column else ''}lane // 16 * {moved.tile[1]}" if beside else ""
        line = "lane % 16" if row == " + lane // 8 % 2 * 8" else f"lane % 8{row}"
        return f"x{len(places)}{'.trans' if trans else ''}: {line}, {column or '0'}"
    return ""


def _described_elements(
    desc: Func, memory: int, fragment: int, elements: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The elements of memory that a description puts where the elements of a fragment are."""
    source, target = _names(desc, memory), _names(desc, fragment)
    if len(source) != 2 or set(source) != set(target):
        raise NotComposed("the description copies no matrix: C[i, j] = A[i, j]")
    rows, columns = elements
    return (rows, columns) if source == target else (columns, rows)


def _fill_by_ldmatrix(op: ir.Operation, target: _FragmentOperand, found: np.ndarray, memory: Buffer) -> None:
    form = LdmatrixForm.parse(attrs.get(op, attrs.LAYOUT, ""))
    bits = dtypes.bits(memory.dtype)
    moved = ldmatrix_layout(bits, form.trans)
    if moved is None:
        raise NotComposed(f"ldmatrix{'.trans' if form.trans else ''} does not move elements of {memory.dtype}")
    starts = form.place(np.arange(32))
    _check_starts(form, starts, memory)
    unit = moved.registers
    for matrix, element in product(range(form.count), range(unit)):
        register = target.register + matrix * unit + element
        if register >= found.shape[2]:
            raise NotComposed(
                f"ldmatrix x{form.count} fills {form.count * unit} elements from {target.register} on; a lane has "
                f"{found.shape[2]} of {target.param.name}"
            )
        row, column = (part[:, element] for part in moved.elements)
        lanes = matrix * ROWS + row
        found[0][:, register] = starts[0][lanes]
        found[1][:, register] = starts[1][lanes] + column


def _check_starts(form: LdmatrixForm, starts: tuple[np.ndarray, np.ndarray], memory: Buffer) -> None:
    """The rows that lanes name are in memory, and begin at multiples of 16 bytes."""
    rows, columns = (n or 0 for n in memory.shape[-2:])
    width = ROW_BYTES * 8 // dtypes.bits(memory.dtype)
    lanes = np.arange(form.count * ROWS)
    row, column = (part[lanes] for part in starts)
    outside = (row < 0) | (row >= rows) | (column < 0) | (column + width > columns)
    if outside.any():
        lane = int(np.argmax(outside))
        raise NotComposed(
            f"lane {lane} names {width} elements from {memory.name}[{row[lane]}, {column[lane]}] on, outside of "
            f"{rows} x {columns}"
        )
    if (column % width).any():
        lane = int(np.argmax(column % width > 0))
        raise NotComposed(
            f"lane {lane} names {memory.name}[{row[lane]}, {column[lane]}], which is not at a multiple of 16 bytes"
        )


# --- products ---------------------------------------------------------------------------------------------------------


def _check_products(name: str, calls: Sequence[ir.Operation], impl: Func, desc: Func) -> None:
    done = Counter[tuple[int, int, int]]()
    sizes: tuple[int, ...] = ()
    for op in calls:
        operands = [_operand(op, number, impl) for number in (0, 2, 4, 6)]
        shape = _instruction(op, operands)
        rows = _names(desc, operands[0].number)
        if len(rows) != 2:
            raise NotComposed("the description sums into no matrix: C[i, j] += A[i, k] * B[k, j]")
        for registers in _tiles(op, operands, shape):
            starts = [
                _start(name, operand, register, role, desc, rows)
                for operand, register, role in zip(operands, registers, "dabc", strict=True)
            ]
            done[_agree(name, starts, operands)] += 1
        sizes = shape
        extents = _extents(operands, desc, rows)
    wanted = set(product(*(range(0, n, side) for n, side in zip(extents, sizes, strict=True))))
    if missing := sorted(wanted - done.keys()):
        i, j, k = missing[0]
        raise NotComposed(f'"{name}" does not add A[{i}, {k}] * B[{k}, {j}] to C[{i}, {j}], as its description does')
    if twice := sorted(key for key, count in done.items() if count > 1):
        i, j, k = twice[0]
        raise NotComposed(f'"{name}" adds A[{i}, {k}] * B[{k}, {j}] to C[{i}, {j}] more than once')


def _instruction(op: ir.Operation, operands: Sequence[_FragmentOperand]) -> tuple[int, int, int]:
    """Rows, columns and depth of one `mma.sync` of these types."""
    dtype = operands[1].param.dtype
    a, b = (fragment_tile(f"mma.matrix_{word}", dtype) for word in "ab")
    if a is None or b is None:
        raise NotComposed(f"mma.sync does not multiply {dtype}")
    shape = (a.tile[0], b.tile[1], a.tile[1])
    text = f"m{shape[0]}n{shape[1]}k{shape[2]}"
    named = attrs.get(op, attrs.LAYOUT, "")
    if named and named != text:
        raise NotComposed(f"mma.sync of {dtype} is {text}, not {named}")
    return shape


def _tiles(op: ir.Operation, operands: Sequence[_FragmentOperand], shape: Sequence[int]) -> Iterator[list[int]]:
    """The first registers of d, a, b, c of each instruction of a call."""
    if matrix_function(op) == "ptx_mma":
        yield [operand.register for operand in operands]
        return
    d, a, b, c = (operand.layout for operand in operands)
    turned = [operand.param.scope.endswith("_trans") for operand in operands]
    depth = a.tiles[0] if turned[1] else a.tiles[1]

    def register(layout: FragmentLayout, row: int, column: int, is_turned: bool) -> int:
        row, column = (column, row) if is_turned else (row, column)
        return (row * layout.tiles[1] + column) * layout.tile_registers

    for i, j, k in product(range(d.tiles[0]), range(d.tiles[1]), range(depth)):
        places = ((d, i, j), (a, i, k), (b, k, j), (c, i, j))
        yield [register(*place, is_turned) for place, is_turned in zip(places, turned, strict=True)]


_ROLES = {"d": "mma.accumulator", "c": "mma.accumulator", "a": "mma.matrix_a", "b": "mma.matrix_b"}


def _start(
    name: str,
    operand: _FragmentOperand,
    register: int,
    role: str,
    desc: Func,
    result: Sequence[ir.Value],
) -> tuple[int, int]:
    """Where in the matrix, as the hardware has it, the fragment of an operand begins. Refuses one whose elements are
    elsewhere than the instruction takes them."""
    wants = fragment_tile(_ROLES[role], operand.param.dtype)
    names = _names(desc, operand.number)
    buffer, what = operand.param.name, role.upper()
    if wants is None:
        raise NotComposed(f'"{name}": mma.sync has no {what} of {operand.param.dtype}')
    own = operand.layout.elements
    turned = _is_turned(role, names, result)
    if turned is None:
        place = f"{buffer}[{own[0][0, 0]}, {own[1][0, 0]}]"
        raise NotComposed(
            f'"{name}": lane 0, register 0: {place} is where mma.sync takes {what}[0, 0], and the description does not '
            f"use {buffer} as {what}",
            "pass the operands as d, a, b, c",
        )
    if register < 0 or register + wants.registers > own[0].shape[1]:
        raise NotComposed(
            f'"{name}" takes registers {register} to {register + wants.registers - 1} of {buffer} as {what}; a lane '
            f"has {own[0].shape[1]} of it"
        )
    rows, columns = own[::-1] if turned else own
    part = slice(register, register + wants.registers)
    start = int(rows[0, register]), int(columns[0, register])
    found = (rows[:, part] - start[0], columns[:, part] - start[1])
    differs = difference(found, wants.elements)
    if differs is not None:
        place = (differs.first[0] + start[0], differs.first[1] + start[1])
        place = place[::-1] if turned else place
        expected = (differs.second[0] + start[0], differs.second[1] + start[1])
        expected = expected[::-1] if turned else expected
        raise NotComposed(
            f'"{name}": lane {differs.lane}, register {register + differs.register}: {buffer}[{place[0]}, {place[1]}] '
            f"is where mma.sync takes {buffer}[{expected[0]}, {expected[1]}] as {what}",
            _product_fix(role, turned),
        )
    return start


def _product_fix(role: str, turned: bool) -> str:
    scope = _ROLES[role] + ("_trans" if turned and role in "ab" else "")
    return f"scope {scope}, and registers from the start of a fragment on"


def _is_turned(role: str, names: Sequence[ir.Value], result: Sequence[ir.Value]) -> bool | None:
    """Whether the description indexes an operand by columns and rows; None: it is not an operand of this role."""
    if len(names) != 2:
        return None
    i, j = result
    if role in "dc":
        return False if list(names) == [i, j] else None
    own = i if role == "a" else j
    if own not in names or (i if own is j else j) in names:
        return None
    return names[1] == own if role == "a" else names[0] == own


def _agree(name: str, starts: Sequence[tuple[int, int]], operands: Sequence[_FragmentOperand]) -> tuple[int, int, int]:
    """The tile of the product that four fragments are of: (row, column, depth). Refuses others."""
    d, a, b, c = starts
    names = [operand.param.name for operand in operands]

    def refuse(first: int, second: int, what: str) -> None:
        (x, y), (u, v) = starts[first], starts[second]
        raise NotComposed(
            f'"{name}": lane 0 has {names[first]}[{x}, {y}] and {names[second]}[{u}, {v}] in the first registers of '
            f"{'dabc'[first].upper()} and {'dabc'[second].upper()}: they differ in {what}",
            "take fragments of the same rows, columns and depth",
        )

    if d != c or operands[0].number != operands[3].number:
        refuse(0, 3, "their place")
    if a[1] != b[0]:
        refuse(1, 2, "the depth k")
    if a[0] != c[0]:
        refuse(1, 3, "the row i")
    if b[1] != c[1]:
        refuse(2, 3, "the column j")
    return d[0], d[1], a[1]


def _extents(operands: Sequence[_FragmentOperand], desc: Func, result: Sequence[ir.Value]) -> tuple[int, int, int]:
    rows, columns = operands[0].layout.shape
    a = operands[1].layout.shape
    return rows, columns, a[0] if _is_turned("a", _names(desc, operands[1].number), result) else a[1]
