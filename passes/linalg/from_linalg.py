"""linalg on buffers -> loops and blocks, in place."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from tir_mlir.dialect.diagnostics import LinalgError, NotAffine, NotProvable, TirError
from tir_mlir.dialect.ir import Buffer, Func, Index, Loop, attrs, create, dtypes, edit, funcs, is_block, walk
from tir_mlir.dialect.verify import structure, verify
from tir_mlir.passes.linalg import generic, reshapes
from tir_mlir.passes.linalg.extents import Sizes, restore
from tir_mlir.passes.linalg.generic import Generic
from tir_mlir.passes.linalg.prepare import CLAIM, prepare, update_type

COMPUTED = ("linalg.generic", "memref.copy")
_ALLOCATIONS = ("memref.alloc", "memref.alloca")
_SYMBOLS = ("memref.dim", "memref.extract_strided_metadata")
_DROPPED = ("memref.dealloc",)
_KEPT = (
    "func.return", "memref.alloc", "memref.alloca", "memref.dim", "memref.load", "memref.store", "affine.for",
    "affine.if", "affine.load", "affine.store", "affine.apply", "affine.min", "affine.max", "affine.yield",
)  # fmt: skip
_ADVICE = {
    "func.call": "inline it (mlir-opt --inline)",
    "scf.for": "raise it to affine.for, or leave loops to the schedule",
    "memref.get_global": "make the constant a parameter",
    "linalg.softmax": "decompose it (mlir-opt --transform-interpreter, or write it as reduce, map and generic)",
}


Written = Callable[[ir.Location], "str | None"]


def from_linalg(module: ir.Module, written: Written = lambda _: None) -> None:
    """Make loops and blocks of every linalg op of a module.

        linalg.matmul ins(%A, %B) outs(%C)
    -->
        for i0, i1, i2 in T.grid(n, m, k):
            with T.block("matmul"):
                v0, v1, v2 = T.axis.remap("SSR", [i0, i1, i2])
                C[v0, v1] = C[v0, v1] + A[v0, v2] * B[v2, v1]

    Tensors become buffers first. Symbolic extents become shape variables; extents that linalg demands to be equal share
    one. `written` tells the name of a value in the user's text by its location. Errors: LinalgError for what is no
    linalg program, VerifyError for one that breaks a rule of the encoding.
    """
    structure.check(module)
    prepare(module)
    for func in funcs(module):
        _check(func)
    for func in funcs(module):
        try:
            _convert(func, written)
        except NotAffine as error:
            raise LinalgError(f"function {func.name}: {error}", func.op.location) from None
    structure.check_program(module)
    try:
        verify(module, source=True)
    except NotProvable as error:
        raise LinalgError(f"the program could not be checked: {error}") from error


def _outside_blocks(func: Func) -> list[ir.Operation]:
    """The ops of a function, bodies of blocks and of linalg ops left out."""
    leave = lambda op: is_block(op) or op.name.startswith("linalg.")  # noqa: E731
    return [op for op in walk.ops(func.op, skip=leave) if op != func.op]


# --- what is no such program ------------------------------------------------------------------------------------------


def _check(func: Func) -> None:
    for arg in func.args:
        _check_type(arg.type, func.op.location)
    for op in _outside_blocks(func):
        if op.name not in (*COMPUTED, *_DROPPED, *_KEPT) and not is_block(op) and not reshapes.is_view_op(op):
            if op.name.split(".")[0] not in ("arith", "math") or len(op.regions):
                advice = f": {_ADVICE[op.name]}" if op.name in _ADVICE else ""
                raise LinalgError(f"{op.name} has no form as loops and blocks{advice}", op.location)
        for result in op.results:
            if isinstance(result.type, (ir.MemRefType, ir.UnrankedMemRefType)):
                _check_type(result.type, op.location)


def _check_type(type_: ir.Type, location: ir.Location) -> None:
    if isinstance(type_, (ir.IndexType, ir.IntegerType, ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type)):
        return
    if not isinstance(type_, ir.MemRefType):
        raise LinalgError(f"a value of type {type_}: parameters are memrefs of known rank and numbers", location)
    try:
        if isinstance(type_.element_type, ir.IndexType):
            raise TirError("index is no element type; use i32 or i64")
        dtypes.to_name(type_.element_type)
    except TirError as error:
        raise LinalgError(f"a buffer of type {type_}: {error}", location) from None
    if type_.memory_space is not None and not isinstance(type_.memory_space, ir.StringAttr):
        what = f"{type_} has the memory space {type_.memory_space}; a storage scope is a string or none"
        raise LinalgError(what, location)
    if not isinstance(type_.layout, (ir.AffineMapAttr, ir.StridedLayoutAttr)) or (
        isinstance(type_.layout, ir.AffineMapAttr) and type_.layout != ir.AffineMapAttr.get(_identity(type_))
    ):
        raise LinalgError(f"{type_} has a layout that is not strided", location)


def _identity(type_: ir.MemRefType) -> ir.AffineMap:
    return ir.AffineMap.get_identity(type_.rank)


# --- the rewrite ------------------------------------------------------------------------------------------------------


def _convert(func: Func, written: Written) -> None:
    _name(func, written)
    restore(func)
    found = [generic.read(op) for op in _outside_blocks(func) if op.name in COMPUTED]
    sizes = Sizes(func)
    for op in _outside_blocks(func):
        if CLAIM in op.attributes:
            _claim(op, func, sizes)
    for one in found:
        generic.extents(one, sizes)
    for one in found:
        generic.reach(one, sizes)
    sizes.settle()
    update_type(func)
    _strides(func)
    names = {attrs.get(op, attrs.BLOCK) for op in walk.ops(func.op) if is_block(op)}
    for one in found:
        generic.emit(one, sizes, _fresh(one, names))
    for one in found:
        one.op.erase()
    _allocations(func, sizes)
    _clean(func, sizes)


def _name(func: Func, written: Written) -> None:
    """An id, and names for parameters, allocations and loops."""
    if attrs.ID not in func.op.attributes:
        func.op.attributes[attrs.ID] = attrs.to_attr(create.fresh_id(func.op))
    given = list(ir.ArrayAttr(func.op.attributes["arg_attrs"])) if "arg_attrs" in func.op.attributes else []
    named = []
    for number, arg in enumerate(func.args):
        facts = {a.name: a.attr for a in ir.DictAttr(given[number])} if given else {}
        facts = {k: v for k, v in facts.items() if k.startswith("tir.")}  # those of bufferization say nothing now
        name = written(arg.location) or f"arg{number}"
        named.append(ir.DictAttr.get({attrs.NAME: ir.StringAttr.get(name), **facts}))
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get(named)
    for number, op in enumerate(_outside_blocks(func)):
        if op.name == "affine.for" and attrs.LOOP not in op.attributes:
            name = written(Loop(op).var.location) or f"o{number}"
            op.attributes[attrs.LOOP] = ir.StringAttr.get(name)
        if op.name in _ALLOCATIONS and attrs.NAME not in op.attributes and (name := written(op.location)):
            op.attributes[attrs.NAME] = ir.StringAttr.get(name)


def _claim(op: ir.Operation, func: Func, sizes: Sizes) -> None:
    """A parameter that was an allocation has the size that was allocated."""
    number: int = attrs.get(op, CLAIM)
    for size, given in zip(sizes.of(func.args[number]), sizes.of(op.results[0]), strict=True):
        sizes.equal(size, given, op, f"result {func.arg_name(number)}")


def _strides(func: Func) -> None:
    """Unknown strides of a parameter are stride variables."""
    for arg in func.params:
        strides, _ = arg.type.get_strides_and_offset()
        used = [u.owner.operation for u in arg.value.uses]
        known = any(o.name == "memref.extract_strided_metadata" and attrs.STRIDES in o.attributes for o in used)
        dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
        if known or not isinstance(arg.type.layout, ir.StridedLayoutAttr) or dynamic not in strides:
            continue
        names = [f"s_{arg.name}{axis}" if s == dynamic else "" for axis, s in enumerate(strides)]
        with create.at_start(func.body), func.op.location:
            op = ir.Operation.create("memref.extract_strided_metadata", operands=[arg.value], infer_type=True)
        op.attributes[attrs.STRIDES] = attrs.to_attr(names)


def _fresh(one: Generic, names: set[str]) -> str:
    name, number = one.name, 0
    while name in names:
        number += 1
        name = f"{one.name}_{number}"
    names.add(name)
    return name


def _allocations(func: Func, sizes: Sizes) -> None:
    """Every buffer is allocated once, by name, at the top of the function."""
    made: list[ir.Operation] = []
    for op in _outside_blocks(func):
        if op.name not in _ALLOCATIONS:
            continue
        if CLAIM in op.attributes or not _is_needed(op.results[0]):
            _drop(op)
        elif attrs.ID not in op.attributes:
            buffer = Buffer(op.results[0])
            with _behind(func, made), op.location:
                name = attrs.get(op, attrs.NAME, f"buf{len(made)}")
                new = create.alloc(name, sizes.of(buffer.value), buffer.dtype, buffer.scope)
            made.append(new.owner.operation)
            buffer.value.replace_all_uses_with(new)
            _drop(op)


def _is_needed(buffer: ir.Value) -> bool:
    """Whether anything loads from a buffer, stores to it or takes its size."""
    return any(
        _is_needed(use.owner.results[0]) if reshapes.is_view_op(use.owner) else use.owner.operation.name not in _DROPPED
        for use in buffer.uses
    )


def _drop(op: ir.Operation) -> None:
    """Erase an op with the views of it."""
    for result in op.results:
        for use in list(result.uses):
            _drop(use.owner.operation)
    op.erase()


def _behind(func: Func, made: list[ir.Operation]) -> ir.InsertionPoint:
    """Behind the sizes at the top of the function and the allocations that were made there."""
    ops = [op.operation for op in func.body.operations]
    sizes = [
        op for op in ops if op.name in _SYMBOLS and (attrs.NAME in op.attributes or attrs.STRIDES in op.attributes)
    ]
    last = max((n for n, op in enumerate(ops) if op in made or op in sizes), default=-1)
    return ir.InsertionPoint(ops[last + 1])


def _clean(func: Func, sizes: Sizes) -> None:
    """Sizes that were asked for become shape variables; what nobody uses any more goes."""
    for op in reversed(_outside_blocks(func)):
        if op.name in _DROPPED:
            op.erase()
        elif op.name == "memref.dim" and attrs.NAME not in op.attributes and _used(op):
            value = op.results[0]
            edit.substitute({value: sizes.known(Index.of(value)) if value in sizes.solved else sizes.term(value)})
    for op in reversed(_outside_blocks(func)):
        pure = op.name.split(".")[0] in ("arith", "math") or reshapes.is_view_op(op)
        if (pure or op.name in ("memref.dim", "affine.apply")) and not _used(op):
            if op.name != "memref.dim" or not _is_symbol_of_shape(op, func):
                op.erase()


def _used(op: ir.Operation) -> bool:
    return any(True for r in op.results for _ in r.uses)


def _is_symbol_of_shape(op: ir.Operation, func: Func) -> bool:
    """Whether the shape of a parameter is told in this variable."""
    name = attrs.get(op, attrs.NAME)
    return any(name in b.attributes.get(attrs.SYMS, ()) for b in func.params)
