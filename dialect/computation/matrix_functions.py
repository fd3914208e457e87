"""Matrix functions of a warp: the layouts of their fragments, and what they compute, as loops.

A fragment of `mma.*` is the matrix that the program has; its scope says in which layout, and whether rows and columns
are exchanged for the product. A fragment of `wmma` keeps its elements as they are in memory, F[i, j] = A[i, j],
whatever the layout of its load. The hardware's element [i, j] is F[i, j] in layout "row_major" and F[j, i] in
"col_major": a product reads each of its operands by the layout with which it was loaded, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.analysis.pointers import address, base_of
from tir_mlir.dialect.computation.fragment_instructions import expand_instruction
from tir_mlir.dialect.ir import (
    Buffer,
    Func,
    Index,
    Loop,
    MatrixCallOp,
    attrs,
    constant_integer,
    create,
    dtypes,
    edit,
    is_loop,
    is_warp_loop,
    matrix_function,
    owner_op,
    walk,
)
from tir_mlir.dialect.ir.op_traits import is_scalar
from tir_mlir.dialect.ir.op_views import (
    AffineElementAccessOp,
    AffineYieldOp,
    ConstantOp,
    StridedMetadataOp,
    SubviewOp,
    defining_op,
    isa,
)

SIDE = 16
ROWS, COLUMNS = "row_major", "col_major"
_OPERANDS = {
    "tvm_load_matrix_sync": (0,), "tvm_store_matrix_sync": (0,), "tvm_fill_fragment": (0,),
    "tvm_mma_sync": (0, 2, 4, 6), "ptx_ldmatrix": (0,), "ptx_mma": (0, 2, 4, 6),
}  # fmt: skip


def fragment_view(call: ir.Operation, number: int) -> ir.Value | None:
    """The elements, a view of a buffer, that an operand of a matrix function points to: 16 x 16 of `wmma`, rows and
    columns of `mma`. None: it is not one."""
    view = base_of(owner_op(call.operands[number]))
    if view is None:
        return None
    shape = Buffer(view).shape
    fits = len(shape) == 2 and None not in shape if is_mma(view) else shape == [SIDE, SIDE]
    return view if fits else None


def is_mma(view: ir.Value) -> bool:
    """Whether a view is of a fragment of `mma.sync`, whose layout its scope says."""
    return Buffer(view).scope.startswith("mma.")


def root_of_view(view: ir.Value) -> ir.Value:
    """The buffer behind a view."""
    while subview := defining_op(view, SubviewOp):
        view = subview.source
    return view


def calls_on(buffer: ir.Value) -> Iterator[tuple[ir.Operation, int]]:
    """The calls of matrix functions on fragments of a buffer, with the number of the operand."""
    for call in [op for op in walk.ops(walk.module_of(owner_op(buffer))) if matrix_function(op)]:
        for number in _OPERANDS[matrix_function(call) or ""]:
            view = fragment_view(call, number)
            if view is not None and root_of_view(view) == buffer:
                yield call, number


def layout_of(call: ir.Operation, number: int) -> str:
    """The layout in which a call loads its fragment, or in which a product takes its operand by its description; "": it
    has none."""
    view = base_of(owner_op(call.operands[number]))
    if view is not None and is_mma(view):
        return ""
    if matrix_function(call) == "tvm_load_matrix_sync":
        return attrs.get(call, attrs.LAYOUT, ROWS)
    if matrix_function(call) == "tvm_mma_sync" and number in (2, 4):
        return attrs.get(call, attrs.FRAGMENT_LAYOUTS, ["", ""])[number // 2 - 1]
    return ""


def described_layouts(call: ir.Operation, impl: Func, desc: Func) -> list[str]:
    """The layouts of the operands A and B with which a product of an implementation computes its description: B is
    "col_major" in C[i, j] += A[i, k] * B[j, k]. "": the description does not say it."""
    views = [fragment_view(call, number) for number in (0, 2, 4)]
    roots = [root for v in views if v is not None and (root := root_of_view(v)) in impl.args]
    if len(roots) != len(views) or any(is_mma(root) for root in roots):
        return ["", ""]
    result, a, b = (_indices(desc, impl.args.index(r)) for r in roots)
    if len(result) != 2 or len(a) != 2 or len(b) != 2:
        return ["", ""]
    first = ROWS if a[0] == result[0] else COLUMNS if a[1] == result[0] else ""
    return [first, ROWS if b[1] == result[1] else COLUMNS if b[0] == result[1] else ""]


def _indices(desc: Func, number: int) -> list[ir.Value | None]:
    """The iters that index a parameter of a description."""
    for use in desc.args[number].uses:
        op = use.owner.operation
        if isa(op, AffineElementAccessOp):
            return [index.simplify().is_value() for index in walk.access_indices(op)]
    return []


def expand_matrix_functions(module: ir.Module) -> None:
    """Replace calls of matrix functions by loops over elements, which a warp runs once.

        for %t = 0 to 32 {   (threadIdx.x)                     for %i = 0 to 16 { for %j = 0 to 16 {
          call @tvm_load_matrix_sync(%F, .., %A, 64)     -->     %F[%i, %j] = %A[%i, %j]
        }                                                      } }

    Calls on other shapes, other memory than a view of as many elements, or fragments loaded in several layouts remain.
    """
    calls = [op for op in walk.ops(module.operation) if matrix_function(op)]
    if not calls:
        return
    layouts: dict[ir.Value, set[str]] = {}
    for op in calls:
        if matrix_function(op) == "tvm_load_matrix_sync" and (view := fragment_view(op, 0)) is not None:
            layouts.setdefault(root_of_view(view), set()).add(layout_of(op, 0))
    warps = [Loop(op) for op in walk.ops(module.operation) if is_loop(op) and is_warp_loop(Loop(op))]
    done = [op for op in calls if _expand(op, layouts)]
    for op in done:
        edit.drop(op)
    for loop in warps:
        if not any(matrix_function(op) for op in walk.ops(loop.op)):
            for op in loop.body_ops():
                if not isa(op, AffineYieldOp):
                    edit.move_before(op, loop.op)
            edit.drop(loop.op)


def _expand(op: ir.Operation, layouts: dict[ir.Value, set[str]]) -> bool:
    """Write the loops of a call before it. False: it remains."""
    name = matrix_function(op) or ""
    views = [fragment_view(op, number) for number in _OPERANDS[name]]
    fragments = [v for v in views if v is not None]
    if len(fragments) < len(views):
        return False
    with ir.InsertionPoint(op), op.location:
        if name.startswith("ptx_"):
            return expand_instruction(op, fragments)
        if name == "tvm_mma_sync":
            return _product(fragments, layouts)
        if not is_mma(fragments[0]) and [constant_integer(op.operands[n]) for n in (1, 2, 3)] != [SIDE] * 3:
            return False
        dtype, shape = Buffer(fragments[0]).dtype, _shape(fragments[0])
        if name == "tvm_fill_fragment":
            value = _filling(MatrixCallOp(op).value, dtype)
            _emit_nest(shape, lambda i, j: create.store(value, fragments[0], [i, j]))
            return True
        memory = _memory(op, shape)
        if memory is None:
            return False
        if name == "tvm_load_matrix_sync":
            _emit_nest(shape, lambda i, j: create.store(create.load(memory, [i, j]), fragments[0], [i, j]))
        else:
            turned, stored = attrs.get(op, attrs.LAYOUT, ROWS) == COLUMNS, Buffer(memory).dtype
            _emit_nest(shape, lambda i, j: create.store(create.convert(
                create.load(fragments[0], [j, i] if turned else [i, j]), stored, dtype), memory, [i, j]))  # fmt: skip
    return True


def _shape(view: ir.Value) -> tuple[int, int]:
    rows, columns = (n or 0 for n in Buffer(view).shape)
    return rows, columns


def _filling(value: ir.Value, dtype: str) -> ir.Value:
    """A value in the type of a fragment; a constant remains one: it needs no rounding when the program runs."""
    source = owner_op(value)
    if isa(source, ConstantOp):
        number = ir.FloatAttr(source.attributes["value"]).value
        return arith.constant(dtypes.to_mlir(dtype), number if dtypes.is_float(dtype) else int(number))
    return create.convert(value, dtype)


def _product(fragments: list[ir.Value], layouts: dict[ir.Value, set[str]]) -> bool:
    d, a, b, c = fragments
    turned = _exchanged_operands(fragments, layouts)
    if turned is None:
        return False
    dtype, (m, n) = Buffer(d).dtype, _shape(d)
    depth = _shape(a)[0 if turned[0] else 1]
    multiply, total_of = (arith.mulf, arith.addf) if dtypes.is_float(dtype) else (arith.muli, arith.addi)

    def add(i: Index, j: Index, k: Index) -> None:
        x = create.load(a, [k, i] if turned[0] else [i, k])
        y = create.load(b, [j, k] if turned[1] else [k, j])
        factors = [create.convert(v, dtype, Buffer(of).dtype) for v, of in ((x, a), (y, b))]
        create.store(total_of(create.load(d, [i, j]), multiply(*factors)), d, [i, j])

    if d != c:
        _emit_nest((m, n), lambda i, j: create.store(create.load(c, [i, j]), d, [i, j]))
    _emit_nest((m, n, depth), add)
    return True


def _exchanged_operands(fragments: list[ir.Value], layouts: dict[ir.Value, set[str]]) -> list[bool] | None:
    """Whether A and B have rows and columns exchanged; None: there is no product of them."""
    d, a, b, c = fragments
    if not is_mma(a):
        both = [layouts.get(root_of_view(v), {ROWS}) for v in (a, b)]
        return None if any(len(of_one) > 1 for of_one in both) else [COLUMNS in of_one for of_one in both]
    scopes = [Buffer(v).scope.removesuffix("_trans") for v in fragments]
    if scopes != ["mma.accumulator", "mma.matrix_a", "mma.matrix_b", "mma.accumulator"]:
        return None
    turned = [Buffer(v).scope.endswith("_trans") for v in (a, b)]
    (m, depth), (k, n) = (_shape(v)[::-1] if t else _shape(v) for v, t in zip((a, b), turned, strict=True))
    return turned if depth == k and _shape(d) == _shape(c) == (m, n) else None


def _emit_nest(sizes: tuple[int, ...], write: Callable[..., object], indices: tuple[Index, ...] = ()) -> None:
    """A nest of loops over `sizes`, around what `write` writes for its indices."""
    if len(indices) == len(sizes):
        write(*indices)
        return
    loop = create.loop("ijk"[len(indices)], 0, sizes[len(indices)])
    with create.at_end(loop.body):
        _emit_nest(sizes, write, (*indices, Index.from_value(loop.var)))


def _memory(op: ir.Operation, shape: tuple[int, int]) -> ir.Value | None:
    """The view of so many elements that a load or store accesses: from the first on, row by row."""
    pointed = address(owner_op(MatrixCallOp(op).pointer))
    start = None if pointed is None else owner_op(pointed[1])
    if pointed is None or start is None or not isa(start, StridedMetadataOp):
        return None
    view = pointed[0].value
    if StridedMetadataOp(start).source != view or list(pointed[0].shape) != list(shape):
        return None
    strides, _ = ir.MemRefType(view.type).get_strides_and_offset()
    stride = MatrixCallOp(op).stride
    while is_scalar(owner_op(stride).name) and len(owner_op(stride).operands) == 1:  # a conversion
        stride = owner_op(stride).operands[0]
    number = constant_integer(stride)
    source = owner_op(stride)
    is_its_own = isa(source, StridedMetadataOp) and StridedMetadataOp(source).source == view and (
        ir.OpResult(stride).result_number == 4
    )  # fmt: skip
    return view if is_its_own or (number is not None and number == strides[0]) else None
