"""Inline an intrinsic's implementation into a block: parameters become views of buffer regions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.analysis import buffer_strides
from tir_mlir.dialect.computation import ParamBinding
from tir_mlir.dialect.ir import Block, Buffer, Func, Index, attrs, create, edit, is_block, module_of, read_apply, walk
from tir_mlir.dialect.ir.memo import touch_here
from tir_mlir.dialect.ir.op_views import AlignedPointerOp, ApplyOp, CallOp, StridedMetadataOp, isa
from tir_mlir.dialect.presburger import has_division
from tir_mlir.dialect.symbolic import fold_affine
from tir_mlir.passes.schedule.edits import DYNAMIC, propagate_type
from tir_mlir.passes.schedule.registry import refuse


def root_block(impl: Func) -> Block | None:
    """The block without iters that is the whole body of an implementation, if there is one."""
    effects = [o for o in impl.body_ops() if is_block(o)]
    return Block(effects[0]) if len(effects) == 1 and not Block(effects[0]).iters else None


def region_view_type(binding: ParamBinding) -> ir.MemRefType:
    """The type of a parameter's view: the parameter's shape with the strides of the buffer."""
    source = binding.buffer.type
    strides, offset = source.get_strides_and_offset()
    start = offset
    for index, stride in zip(binding.base, strides, strict=True):
        number = index.as_constant()
        is_static = number is not None and DYNAMIC not in (start, stride)
        start = start + number * stride if is_static else DYNAMIC  # type: ignore[operator]
    view_strides = [strides[d] for d, p in enumerate(binding.dims) if p is not None]
    return ir.MemRefType.get(
        binding.shape, source.element_type, ir.StridedLayoutAttr.get(start, view_strides), source.memory_space
    )


def region_view(binding: ParamBinding, param: Buffer) -> ir.Value:
    """Create the `memref.subview` for a parameter at the insertion point, with the parameter's name and
    requirements.
    """
    fixed = [i.as_constant() for i in binding.base]
    offsets: list[Any] = [i if n is None else n for n, i in zip(fixed, binding.base, strict=True)]
    offsets = [o if isinstance(o, int) else create.apply(o) for o in offsets]
    ones = [1] * len(offsets)
    touch_here()
    view = memref.subview(binding.buffer.value, offsets, binding.sizes, ones, result_type=region_view_type(binding))
    facts = view.owner.attributes
    for key in (attrs.NAME, attrs.OFFSET_FACTOR, attrs.ALIGN):
        if key in param.attributes:
            facts[key] = attrs.to_attr(param.attributes[key])
    if any(stride_names(param)):
        facts[attrs.STRIDES] = attrs.to_attr(_stride_variables(param))
    return view


def stride_names(param: Buffer) -> list[str]:
    """The stride variables that an implementation declares for a parameter, "" where there is none."""
    for use in param.value.uses:
        if isa(use.owner.operation, StridedMetadataOp) and attrs.STRIDES in use.owner.attributes:
            return attrs.get(use.owner, attrs.STRIDES)
    return [""] * param.rank


def _stride_variables(param: Buffer) -> list[str]:
    return [f"{param.name}_s{d}" if n else "" for d, n in enumerate(stride_names(param))]


def check_inlinable(impl: Func, name: str) -> None:
    """Refuse an implementation that uses stride variables in an index, which a block cannot. Sums of them, and products
    with constants, may be arguments of a call."""
    for op in walk.ops(impl.op):
        if not isa(op, StridedMetadataOp):
            continue
        for user in [use.owner.operation for value in op.results for use in value.uses]:
            if isa(user, ApplyOp) and not has_division(read_apply(user.results[0]).expr):
                user = next((u.owner.operation for u in user.results[0].uses if _is_affine(u.owner.operation)), op)
            if _is_affine(user):
                refuse(
                    None,
                    f'the implementation of "{name}" uses a stride variable in an index, or divides one',
                    fix="pass the stride to the kernel, alone, multiplied by a constant or in a sum",
                )


def _is_affine(op: ir.Operation) -> bool:
    return op.name.startswith("affine.")


def inline(
    block: Block, impl: Func, arguments: Mapping[int, ir.Value], open_windows: Mapping[int, ParamBinding]
) -> None:
    """Copy the body of `impl` to the end of a block's body, with `arguments` for its parameters, and pointers into the
    buffers of `open_windows`. A root block is dropped.
    """
    mapping: dict[ir.Value, ir.Value] = {a: arguments[n] for n, a in enumerate(impl.args) if n in arguments}
    open_params = {impl.args[n]: binding for n, binding in open_windows.items()}
    root = root_block(impl)
    for op in impl.body_ops():
        for piece in root.body_ops() if root is not None and op == root.op else [op]:
            if len(piece.operands) == 1 and (binding := open_params.get(piece.operands[0])) is not None:
                mapping |= _point_into(piece, binding)
            else:
                _copy(piece, block, mapping)
    params = [p for p in impl.params if ir.BlockArgument(p.value).arg_number in arguments]
    for param in params:
        view = arguments[ir.BlockArgument(param.value).arg_number]
        for use in list(view.uses):
            user = use.owner.operation
            if isa(user, StridedMetadataOp) and attrs.STRIDES in user.attributes:
                edit.set_attribute(user, attrs.STRIDES, attrs.to_attr(_stride_variables(param)))
            propagate_type(user)
    _compute_strides(block)
    annotations = {**impl.annotations, **(root.annotations if root is not None else {})}
    if annotations:
        attrs.put(block.op, attrs.ANNOTATIONS, {**annotations, **block.annotations})


def _point_into(op: ir.Operation, binding: ParamBinding) -> dict[ir.Value, ir.Value]:
    """Create what an op on a parameter is for a window that may end outside of its buffer: nothing is a view of it."""
    buffer = binding.buffer.value
    if isa(op, AlignedPointerOp):
        return {op.results[0]: memref.extract_aligned_pointer_as_index(buffer)}
    assert isa(op, StridedMetadataOp)  # `can_be_open`
    found = memref.ExtractStridedMetadataOp(buffer)
    start = _emit_offset(binding)
    values: dict[ir.Value, ir.Value] = {op.results[1]: arith.addi(found.offset, start)}
    strides = buffer_strides(binding.buffer)
    dims = {d: n for n, d in enumerate(binding.dims) if d is not None}
    for number, result in enumerate(op.results[2 + binding.param.rank :]):
        if number in dims:
            values[result] = create.apply(strides[dims[number]])
    return values


def can_be_open(impl: Func, param: Buffer) -> bool:
    """Whether an implementation takes only a pointer to a parameter, and strides."""
    return all(isa(use.owner.operation, AlignedPointerOp, StridedMetadataOp) for use in param.value.uses)


def _emit_offset(binding: ParamBinding) -> ir.Value:
    """Create the elements before the first one of a window: an index, and products of indices with variable strides."""
    total, products = Index.constant(0), list[tuple[Index, Index]]()
    for index, stride in zip(binding.base, buffer_strides(binding.buffer), strict=True):
        if index.as_constant() is None and stride.as_constant() is None:
            products.append((index, stride))
        else:
            total = index * stride + total
    start = create.apply(total.simplify())
    for index, stride in products:
        start = arith.addi(start, arith.muli(create.apply(index), create.apply(stride)))
    return start


def _compute_strides(block: Block) -> None:
    """Compute expressions of strides, which are no affine symbols in a block, by arithmetic."""
    for op in [o for o in walk.ops(block.op) if isa(o, ApplyOp)]:
        owners = [v.owner for v in op.operands]
        if any(not isinstance(o, ir.Block) and isa(o, StridedMetadataOp) for o in owners):
            index = read_apply(op.results[0])
            with ir.InsertionPoint(op), op.location:
                edit.replace_uses(op.results[0], _arithmetic(index))
            edit.erase(op)


def _arithmetic(index: Index) -> ir.Value:
    def leaf(part: Any) -> ir.Value:
        constant = isinstance(part, ir.AffineConstantExpr)
        return arith.constant(ir.IndexType.get(), part.value) if constant else index.values[part.position]

    return fold_affine(index.expr, leaf, lambda symbol, a, b: (arith.addi if symbol == "+" else arith.muli)(a, b))


def _copy(op: ir.Operation, block: Block, mapping: dict[ir.Value, ir.Value]) -> None:
    new = edit.clone(op, create.at_end(block.body), mapping)
    edit.renumber(new)
    for old, value in zip(op.results, new.results, strict=True):
        mapping[old] = value


def missing_externs(module: ir.Operation, impl: Func) -> list[ir.Operation]:
    """The declarations that an implementation calls and `module` lacks. Refuses one with another signature there."""
    module_symbols = _symbols(module)
    impl_symbols = _symbols(module_of(impl.op))
    missing: dict[str, ir.Operation] = {}
    for op in walk.ops(impl.op):
        if not isa(op, CallOp):
            continue
        callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
        declaration = impl_symbols[callee]
        if callee not in module_symbols:
            missing[callee] = declaration
        elif module_symbols[callee].attributes["function_type"] != declaration.attributes["function_type"]:
            types = [ir.TypeAttr(o.attributes["function_type"]).value for o in (module_symbols[callee], declaration)]
            refuse(
                None,
                f"the module has a function {callee} of type {types[0]}, but the intrinsic calls it as {types[1]}",
                fix="rename one of the two functions",
            )
    return list(missing.values())


def _symbols(module: ir.Operation) -> dict[str, ir.Operation]:
    module_ops = [o.operation for o in module.regions[0].blocks[0].operations]
    return {ir.StringAttr(o.attributes["sym_name"]).value: o for o in module_ops if "sym_name" in o.attributes}
