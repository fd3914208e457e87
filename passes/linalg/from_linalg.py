"""Convert linalg ops on tensors or buffers to loops and blocks, in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import LinalgError, NotAffine, NotProvable, TirError
from tir_mlir.dialect.ir import (
    Buffer,
    Func,
    Index,
    Loop,
    attrs,
    create,
    direct_ops,
    dtypes,
    edit,
    funcs,
    is_block,
    walk,
)
from tir_mlir.dialect.ir.lowering_op_views import AssertOp, LinalgGenericOp
from tir_mlir.dialect.ir.op_views import (
    AffineForOp,
    AllocLikeOp,
    ApplyOp,
    ChoiceOp,
    ConditionOp,
    CopyOp,
    DataLoopOp,
    DeallocOp,
    DimOp,
    ElementAccessOp,
    MappedOp,
    NeutralOp,
    ReturnOp,
    StridedMetadataOp,
    isa,
)
from tir_mlir.dialect.verify import structure, verify
from tir_mlir.passes.linalg import generic, reshapes
from tir_mlir.passes.linalg.extents import ExtentSolver, restore_shape_variables
from tir_mlir.passes.linalg.generic import GenericOp, extents
from tir_mlir.passes.linalg.prepare import ALLOCATED_PARAMETER, prepare, update_type

_TAKEN = (
    LinalgGenericOp, CopyOp, AllocLikeOp, ElementAccessOp, ChoiceOp, DeallocOp, DimOp, AssertOp, ReturnOp, AffineForOp,
    MappedOp, ConditionOp,
)  # fmt: skip
"""The ops that this front takes, besides views; others are refused."""

_ADVICE = {
    "func.call": "inline it (mlir-opt --inline)",
    "scf.for": "raise it to affine.for, or leave loops to the schedule",
    "memref.reshape": "reshape to sizes that are numbers, or values of tensor.from_elements",
}


NameOfLocation = Callable[[ir.Location], "str | None"]


def from_linalg(module: ir.Module, written: NameOfLocation = lambda _: None) -> dict[str, dict[str, np.ndarray]]:
    """Convert every linalg op of a module to a loop nest with a block.

        linalg.matmul ins(%A, %B) outs(%C)
    -->
        for i0, i1, i2 in T.grid(n, m, k):
            with T.block("matmul"):
                v0, v1, v2 = T.axis.remap("SSR", [i0, i1, i2])
                C[v0, v1] = C[v0, v1] + A[v0, v2] * B[v2, v1]

    Tensors are bufferized first. Symbolic extents become shape variables; extents that linalg requires to be equal
    share one. A fill before a reduction becomes its init; constants and results become parameters. `written` maps a
    location to the name of the value in the user's source. Returns the constants by function and parameter. Errors:
    LinalgError for an unsupported program, VerifyError for one that violates a rule of the encoding.
    """
    structure.check(module)
    constants = prepare(module)
    for func in funcs(module):
        _check(func)
    for func in funcs(module):
        try:
            _convert(func, written)
        except NotAffine as error:
            raise LinalgError(f"function {func.name}: {error}", func.op.location) from None
    structure.check_program(module)
    try:
        verify(module, source=True, written=True)
    except NotProvable as error:
        raise LinalgError(f"the program could not be checked: {error}") from error
    return {f.name: {f.arg_name(n): a for n, a in constants.get(f.name, {}).items()} for f in funcs(module)}


def _outside_blocks(func: Func) -> list[ir.Operation]:
    """The ops of a function, without those in blocks and in bodies of linalg ops."""
    leave = lambda op: is_block(op) or op.name.startswith("linalg.")  # noqa: E731
    return [op for op in walk.ops(func.op, skip=leave) if op != func.op]


# --- checks -----------------------------------------------------------------------------------------------------------


def _check(func: Func) -> None:
    for arg in func.args:
        _check_type(arg.type, func.op.location)
    for op in _outside_blocks(func):
        if not isa(op, *_TAKEN) and not _is_encoded(op) and not reshapes.is_view_op(op):
            if op.name.split(".")[0] not in ("arith", "math") or len(op.regions):
                advice = f": {_ADVICE[op.name]}" if op.name in _ADVICE else ""
                raise LinalgError(f"{op.name} cannot be expressed as loops and blocks{advice}", op.location)
        for result in op.results:
            if isinstance(result.type, (ir.MemRefType, ir.UnrankedMemRefType)):
                _check_type(result.type, op.location)


def _is_encoded(op: ir.Operation) -> bool:
    """Whether an op is a block, or a loop over data, of a TensorIR program."""
    return is_block(op) or (isa(op, DataLoopOp) and attrs.LOOP in op.attributes)


def _check_type(type_: ir.Type, location: ir.Location) -> None:
    if isinstance(type_, (ir.IndexType, ir.IntegerType, ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type)):
        return
    if not isinstance(type_, ir.MemRefType):
        raise LinalgError(f"a value of type {type_}: parameters must be ranked memrefs or numbers", location)
    try:
        if isinstance(type_.element_type, ir.IndexType):
            raise TirError("index is not an element type; use i32 or i64")
        dtypes.to_name(type_.element_type)
    except TirError as error:
        raise LinalgError(f"a buffer of type {type_}: {error}", location) from None
    if type_.memory_space is not None and not isinstance(type_.memory_space, ir.StringAttr):
        what = f"{type_} has the memory space {type_.memory_space}; a storage scope is a string or none"
        raise LinalgError(what, location)
    if not isinstance(type_.layout, (ir.AffineMapAttr, ir.StridedLayoutAttr)) or (
        isinstance(type_.layout, ir.AffineMapAttr)
        and type_.layout != ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank))
    ):
        raise LinalgError(f"{type_} has a non-strided layout", location)


# --- rewrite ----------------------------------------------------------------------------------------------------------


def _convert(func: Func, written: NameOfLocation) -> None:
    _name(func, written)
    restore_shape_variables(func)
    linalg_ops = [generic.read_generic(op) for op in _outside_blocks(func) if isa(op, LinalgGenericOp, CopyOp)]
    sizes = ExtentSolver(func)
    for op in _outside_blocks(func):
        if ALLOCATED_PARAMETER in op.attributes:
            _equate_allocation(op, func, sizes)
    for linalg_op in linalg_ops:
        generic.extents(linalg_op, sizes)
    for op in _outside_blocks(func):
        if isa(op, AssertOp):
            sizes.assume(op)
    for linalg_op in linalg_ops:
        generic.require_extents(linalg_op, sizes)
    sizes.settle()
    update_type(func)
    _strides(func)
    names = {attrs.get(op, attrs.BLOCK) for op in walk.ops(func.op) if is_block(op)}
    starts = fills_to_fold(linalg_ops, func, sizes)
    folded = {fill.op for fills in starts.values() for fill in fills}
    for linalg_op in [linalg_op for linalg_op in linalg_ops if linalg_op.op not in folded]:
        generic.emit_loops(linalg_op, sizes, _fresh(linalg_op, names), starts.get(linalg_op.op, ()))
    for linalg_op in linalg_ops:
        linalg_op.op.erase()
    _allocations(func, sizes)
    _erase_unused(func, sizes)


def _name(func: Func, written: NameOfLocation) -> None:
    """Set ids, and names of parameters, allocations and loops."""
    if attrs.ID not in func.op.attributes:
        func.op.attributes[attrs.ID] = attrs.to_attr(create.fresh_id(func.op))
    arg_attrs = list(ir.ArrayAttr(func.op.attributes["arg_attrs"])) if "arg_attrs" in func.op.attributes else []
    named = []
    for number, arg in enumerate(func.args):
        facts = {a.name: a.attr for a in ir.DictAttr(arg_attrs[number])} if number < len(arg_attrs) else {}
        facts = {k: v for k, v in facts.items() if k.startswith("tir.")}  # those of bufferization do not apply here
        name = written(arg.location) or f"arg{number}"
        named.append(ir.DictAttr.get({attrs.NAME: ir.StringAttr.get(name), **facts}))
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get(named)
    for number, op in enumerate(_outside_blocks(func)):
        if isa(op, AffineForOp) and attrs.LOOP not in op.attributes:
            name = written(Loop(op).var.location) or f"o{number}"
            op.attributes[attrs.LOOP] = ir.StringAttr.get(name)
        if isa(op, AllocLikeOp) and attrs.NAME not in op.attributes and (name := written(op.location)):
            op.attributes[attrs.NAME] = ir.StringAttr.get(name)


def _equate_allocation(op: ir.Operation, func: Func, sizes: ExtentSolver) -> None:
    """Equate the shape of a parameter that was an allocation with the allocated sizes."""
    number: int = attrs.get(op, ALLOCATED_PARAMETER)
    for size, allocated in zip(sizes.extents_of(func.args[number]), sizes.extents_of(op.results[0]), strict=True):
        sizes.equal(size, allocated, op, f"result {func.arg_name(number)}")


def _strides(func: Func) -> None:
    """Create stride variables for unknown strides of a parameter."""
    for arg in func.params:
        strides, _ = arg.type.get_strides_and_offset()
        users = [u.owner.operation for u in arg.value.uses]
        has_strides = any(isa(o, StridedMetadataOp) and attrs.STRIDES in o.attributes for o in users)
        dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
        if has_strides or not isinstance(arg.type.layout, ir.StridedLayoutAttr) or dynamic not in strides:
            continue
        names = [f"s_{arg.name}{axis}" if s == dynamic else "" for axis, s in enumerate(strides)]
        with create.at_start(func.body), func.op.location:
            op = ir.Operation.create("memref.extract_strided_metadata", operands=[arg.value], infer_type=True)
        op.attributes[attrs.STRIDES] = attrs.to_attr(names)


def _fresh(linalg_op: GenericOp, names: set[str]) -> str:
    name, number = linalg_op.name, 0
    while name in names:
        number += 1
        name = f"{linalg_op.name}_{number}"
    names.add(name)
    return name


def _allocations(func: Func, sizes: ExtentSolver) -> None:
    """Move every allocation to the top of the function, and name it."""
    allocs: list[ir.Operation] = []
    for op in _outside_blocks(func):
        if not isa(op, AllocLikeOp):
            continue
        if ALLOCATED_PARAMETER in op.attributes or not _is_needed(op.results[0]):
            _drop(op)
        elif attrs.ID not in op.attributes:
            buffer = Buffer(op.results[0])
            with _after_allocations(func, allocs), op.location:
                name = attrs.get(op, attrs.NAME, f"buf{len(allocs)}")
                new = create.alloc(name, sizes.extents_of(buffer.value), buffer.dtype, buffer.scope)
            allocs.append(new.owner.operation)
            buffer.value.replace_all_uses_with(new)
            _drop(op)


def _is_dropped(op: ir.Operation | ir.OpView) -> bool:
    """Whether an op has no counterpart in programs."""
    return isa(op, DeallocOp, AssertOp)


def _is_needed(buffer: ir.Value) -> bool:
    """Whether any op loads from a buffer, stores to it or takes its size."""
    return any(
        _is_needed(use.owner.results[0]) if reshapes.is_view_op(use.owner) else not _is_dropped(use.owner)
        for use in buffer.uses
    )


def _drop(op: ir.Operation) -> None:
    """Erase an op and the views of it."""
    for result in op.results:
        for use in list(result.uses):
            _drop(use.owner.operation)
    op.erase()


def _after_allocations(func: Func, allocs: list[ir.Operation]) -> ir.InsertionPoint:
    """The insertion point after the sizes at the top of the function and the new allocations."""
    ops = [op.operation for op in func.body.operations]
    sizes = [
        op
        for op in ops
        if isa(op, DimOp, StridedMetadataOp) and (attrs.NAME in op.attributes or attrs.STRIDES in op.attributes)
    ]
    last = max((n for n, op in enumerate(ops) if op in allocs or op in sizes), default=-1)
    return ir.InsertionPoint(ops[last + 1])


def _erase_unused(func: Func, sizes: ExtentSolver) -> None:
    """Replace sizes by shape variables, and erase unused ops."""
    for op in reversed(_outside_blocks(func)):
        if _is_dropped(op):
            op.erase()
        elif isa(op, DimOp) and attrs.NAME not in op.attributes and _used(op):
            value = op.results[0]
            edit.substitute(
                {
                    value: sizes.substitute_solved(Index.from_value(value))
                    if value in sizes.solved
                    else sizes.term(value)
                }
            )
    for op in reversed(_outside_blocks(func)):
        pure = op.name.split(".")[0] in ("arith", "math") or reshapes.is_view_op(op)
        if (pure or isa(op, DimOp, ApplyOp)) and not _used(op):
            if not isa(op, DimOp) or not _is_symbol_of_shape(op, func):
                op.erase()


def _used(op: ir.Operation) -> bool:
    return any(True for r in op.results for _ in r.uses)


def _is_symbol_of_shape(op: ir.Operation, func: Func) -> bool:
    """Whether the shape of a parameter refers to this variable."""
    name = attrs.get(op, attrs.NAME)
    return any(name in b.attributes.get(attrs.SYMS, ()) for b in func.params)


# --- find the fills that are the init of a reduction, so that both become one block ----------------------------------


def fills_to_fold(
    linalg_ops: Sequence[GenericOp], func: Func, sizes: ExtentSolver
) -> dict[ir.Operation, list[GenericOp]]:
    """The fills of the outputs of each reduction, by the op of the reduction: they start its sums.

        linalg.fill ins(%zero) outs(%C)             with T.block("matmul"):
        linalg.matmul ins(%A, %B) outs(%C)    -->       with T.init(): C[v0, v1] = 0
                                                        C[v0, v1] = C[v0, v1] + A[v0, v2] * B[v2, v1]

    Requires that nothing accesses the outputs in between, that the reduction reads them only to update them, that it
    updates each element, and that it has at least one term: a sum over a size that may be 0 keeps its fill.
    """
    positions = {op: number for number, op in enumerate(direct_ops(func.op))}
    direct = [linalg_op for linalg_op in linalg_ops if linalg_op.op in positions]
    fills = [linalg_op for linalg_op in direct if _is_fill(linalg_op)]
    folded: dict[ir.Operation, list[GenericOp]] = {}
    for linalg_op in direct:
        if "R" not in linalg_op.kinds or "O" in linalg_op.kinds or not _has_terms(linalg_op, sizes):
            continue
        starts = [_start(linalg_op, number, fills, positions) for number in range(len(linalg_op.outputs))]
        if all(start is not None for start in starts):
            folded[linalg_op.op] = [start for start in starts if start is not None]
    return folded


def _is_fill(linalg_op: GenericOp) -> bool:
    """Whether an op stores one value to each element of a whole buffer."""
    body = linalg_op.body
    if (
        body is None
        or len(linalg_op.inputs) != 1
        or len(linalg_op.outputs) != 1
        or isinstance(linalg_op.inputs[0].type, ir.MemRefType)
    ):
        return False
    return linalg_op.yielded_values() == [body.arguments[0]] and _is_whole(linalg_op, 0)


def _is_whole(linalg_op: GenericOp, number: int) -> bool:
    """Whether an op writes each element of a buffer, at its parallel iterators in some order."""
    exprs = [e.maybe_downcast() for e in linalg_op.maps[len(linalg_op.inputs) + number].results]
    dims = [e.position for e in exprs if isinstance(e, ir.AffineDimExpr)]
    parallel = [d for d, kind in enumerate(linalg_op.kinds) if kind == "S"]
    return len(dims) == len(exprs) and sorted(dims) == parallel and not reshapes.is_view(linalg_op.outputs[number])


def _has_terms(reduction: GenericOp, sizes: ExtentSolver) -> bool:
    """Whether the reduction runs over at least one point, whatever the sizes are."""
    counts = [
        e.as_constant() for e, kind in zip(extents(reduction, sizes), reduction.kinds, strict=True) if kind == "R"
    ]
    return all(n is not None and n > 0 for n in counts)


def _start(
    reduction: GenericOp, number: int, fills: Sequence[GenericOp], positions: dict[ir.Operation, int]
) -> GenericOp | None:
    """The fill of an output that a reduction starts from."""
    buffer, position = reduction.outputs[number], positions[reduction.op]
    earlier = [f for f in fills if f.outputs[0] == buffer and positions[f.op] < position]
    if not earlier or not _is_whole(reduction, number):
        return None
    users = _users(buffer)
    if users.count(reduction.op) != 1:
        return None
    last = earlier[-1]
    between = [op for op in users if positions[last.op] < _position(op, positions) < position]
    return None if between else last


def _users(buffer: ir.Value) -> list[ir.Operation]:
    """The ops that access a buffer, also through views; one that does so twice is listed twice."""
    users: list[ir.Operation] = []
    for use in buffer.uses:
        op = use.owner.operation
        if reshapes.is_view_op(op):
            users += _users(op.results[0])
        elif not isa(op, NeutralOp, ReturnOp):
            users.append(op)
    return users


def _position(op: ir.Operation, positions: dict[ir.Operation, int]) -> int:
    """The position of an op, or of the loop around it, in the function."""
    return next(positions[ancestor] for ancestor in [op, *walk.parents(op)] if ancestor in positions)
