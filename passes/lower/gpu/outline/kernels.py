"""Outline the nests of axes as `gpu.func` kernels, which the function launches in order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.analysis import has_distinct_buffers
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Func, Index, Loop, apply, attrs, is_loop, is_size, walk
from tir_mlir.dialect.ir.lowering_op_views import BarrierOp, LLVMCallOp
from tir_mlir.dialect.ir.op_traits import MEMREF_OPERAND, accessed_memref, is_pure, may_write
from tir_mlir.dialect.ir.op_views import AllocLikeOp, BufferOp, CallOp, ConstantOp, ReadOp, ViewLikeOp, isa
from tir_mlir.passes.lower.gpu.axes import axes_of
from tir_mlir.passes.lower.gpu.barriers import EXCHANGED
from tir_mlir.passes.lower.gpu.outline import kernel_memory
from tir_mlir.passes.lower.gpu.outline.index_width import INDEX_BITS, fits_32_bits
from tir_mlir.passes.lower.gpu.outline.kernel_memory import KernelLimits, check_block, check_grid
from tir_mlir.passes.lower.gpu.thread_tags import AXES, is_axis, is_shared, kernel_nests
from tir_mlir.passes.lower.gpu.vectors import alignment_of
from tir_mlir.passes.lower.op_attrs import is_row_major
from tir_mlir.passes.lower.registry import location_text, lowering, programs
from tir_mlir.passes.lower.retype_module import retype


@lowering("tir-lower-gpu-kernels", "Outline nests of axes as gpu.func kernels, and launch them in order")
def run(
    module: ir.Module,
    threads: int | str = KernelLimits.threads,
    shared_static: int | str = KernelLimits.shared_static,
    shared: int | str = KernelLimits.shared,
    chip: str = KernelLimits.chip,
) -> None:
    """Make each perfect nest of axes a kernel, and the function one that launches them.

        func.func @f(%A, %B) {                         func.func @f(%A, %B) {
          for %b = 0 to 8 {      (blockIdx.x)            gpu.launch_func @f_kernels::@f_kernel
            %s = memref.alloc "shared"           -->         blocks in (8, 1, 1) threads in (64, 1, 1) args(%A, %B)
            for %t = 0 to 64 {   (threadIdx.x)         }
              ..%b..%t..                               gpu.module @f_kernels {
          }}                                             gpu.func @f_kernel(%A, %B) workgroup(%s) kernel {..}
        }                                              }

    Kernels are called f_kernel, f_kernel_1, ..., with letters that C has. Their arguments are the buffers, then the
    sizes that they use. Shared buffers are attributions while all of a block fit what can be declared, else parts of
    one dynamic buffer. An argument is `llvm.noalias` unless threads of its kernel exchange values through it
    (`tir-lower-gpu-barriers`).
    Options: see `Limits`. Raises LoweringError for what exceeds them, and for work outside of the nests.
    """
    limits = KernelLimits(int(threads), int(shared_static), int(shared), chip)
    for func in programs(module):
        nests = kernel_nests(func)
        _check_host(func, nests)
        kernels = [_OutlinedKernel(func, nest, number, limits) for number, nest in enumerate(nests)]
        if kernels:
            module.operation.attributes["gpu.container_module"] = ir.UnitAttr.get()
            bits = 32 if all(fits_32_bits(nest) for nest in nests) else 64
            holder = _kernel_module(module, func, bits)
            for kernel in kernels:
                kernel.outline(holder)
            _erase_unused(func)
            retype(walk.ops(func.op), kernel_memory.device_type)


def _check_host(func: Func, nests: Sequence[ir.Operation]) -> None:
    """Refuse loops and statements that no kernel would run. Raises LoweringError."""
    for op in func.body_ops():
        writes = any(may_write(inner.name) for inner in walk.ops(op) if not isa(inner, AllocLikeOp))
        if op in nests or attrs.TENSOR_MAP in op.attributes or not writes:
            continue
        if isa(op, CallOp):
            what = f"the call of {ir.FlatSymbolRefAttr(op.attributes['callee']).value}"
            fix = "write what it computes in the program, in a loop that is bound"
        elif is_loop(op):
            what, fix = f'loop "{Loop(op).name}"', 'bind it, for example sch.bind(loop, "blockIdx.x")'
        else:
            what = f"{_statement(op)}"
            fix = "put it into a loop, for example by add_unit_loop, and bind that"
        raise LoweringError(
            f"{location_text(op)}: {what} of function {func.name} is not bound to blocks or threads, and a GPU runs "
            f"nothing else; fix: {fix}"
        )


def _statement(op: ir.Operation) -> str:
    store = next(inner for inner in walk.ops(op) if may_write(inner.name))
    if store.name in MEMREF_OPERAND:
        return f'the write to buffer "{Buffer(accessed_memref(store)).name}"'
    return store.name


def _erase_unused(func: Func) -> None:
    """Erase the views and numbers that only kernels used, which have copies of them."""
    for op in reversed(func.body_ops()):
        unused = not any(True for result in op.results for _ in result.uses)
        if unused and not is_size(op) and (isa(op, ViewLikeOp) or is_pure(op)):
            op.erase()


def _kernel_module(module: ir.Module, func: Func, bits: int) -> ir.Block:
    """An empty `gpu.module` for the kernels of a function."""
    facts = {"sym_name": ir.StringAttr.get(f"{func.name}_kernels"), INDEX_BITS: attrs.to_attr(bits)}
    with ir.InsertionPoint(module.body), func.op.location:
        op = ir.Operation.create("gpu.module", attributes=facts, regions=1)
    return op.regions[0].blocks.append()


def _name_in_c(name: str) -> str:
    """A name as C and PTX can have it: LLVM ends the process where PTX cannot. Different names remain different."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return plain if plain == name else f"{plain}_{sha256(name.encode()).hexdigest()[:8]}"


@dataclass
class _OutlinedKernel:
    """A nest that becomes a kernel."""

    func: Func
    nest: ir.Operation
    number: int
    limits: KernelLimits

    def __post_init__(self) -> None:
        self.name = f"{_name_in_c(self.func.name)}_kernel" + (f"_{self.number}" if self.number else "")
        self.axes = {loop.kind: loop for loop in axes_of(self.nest)}
        self.innermost = [*axes_of(self.nest)][-1]
        self.extents = {kind: self.axes[kind].extent if kind in self.axes else Index.constant(1) for kind in AXES}
        self.block = [self.extents[f"threadIdx.{axis}"].as_constant() or 0 for axis in "xyz"]
        self.allocs = [op for op in walk.ops(self.nest) if isa(op, AllocLikeOp)]
        self.has_barriers = any(isa(op, BarrierOp) for op in walk.ops(self.nest))
        self.exchanged: list[str] | None = attrs.get(self.innermost.op, EXCHANGED)
        self._check()

    def _check(self) -> None:
        where = f"{location_text(self.nest)}: kernel {self.name}"
        loops = ", ".join(f'loop "{loop.name}" is {loop.kind}' for loop in self.axes.values())
        check_block(where, self.block, loops, self.limits)
        check_grid(where, [self.extents[f"blockIdx.{axis}"].as_constant() for axis in "xyz"], loops, self.limits)
        kernel_memory.check_scopes(where, self.allocs)
        for op in walk.ops(self.innermost.op):
            if isa(op, CallOp, LLVMCallOp):
                name = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
                raise LoweringError(
                    f"{location_text(op)}: {self.func.name} calls {name}, which has no code for a GPU; "
                    "fix: write what it computes in the program"
                )
        self.shared = [op for op in self.allocs if is_shared(Buffer(op.results[0]))]
        self.offsets, self.shared_bytes = kernel_memory.offsets_of(where, self.shared, self.limits)
        self.is_dynamic = self.shared_bytes > self.limits.shared_static
        overlaps = any(kernel_memory.APART in op.attributes for op in self.shared)
        self.is_joined = overlaps and not self.is_dynamic

    def outline(self, holder: ir.Block) -> None:
        captured, inner = _find_captures(self.nest, self.func)
        with ir.InsertionPoint(self.nest), self.nest.location:
            self._launch([pointer_of(value) for value in captured])
        body = self._create(holder, captured)
        start = ir.InsertionPoint(list(body.operations)[-1])
        values: dict[ir.Value, ir.Value] = dict(zip(captured, body.arguments, strict=False))
        with start, self.nest.location:
            ids = {kind: self._index(kind) for kind in self.axes}
            for value in captured:
                values[value] = buffer_at(value, values)
            for op in inner:  # views of arguments, constants
                copy = op.clone(start).operation
                for number, operand in enumerate(list(copy.operands)):
                    copy.operands[number] = values.get(operand, operand)
                values.update(zip(op.results, copy.results, strict=True))
        self._fill(body, start, ids, values)

    def _fill(
        self, body: ir.Block, start: ir.InsertionPoint, ids: dict[str, ir.Value], values: dict[ir.Value, ir.Value]
    ) -> None:
        """Move what one thread does into the body of the kernel."""
        kernel_memory.to_stack([op for op in self.allocs if op not in self.shared], start)
        if self.is_dynamic:
            kernel_memory.note_alignment(body.owner.operation, self.shared)
            kernel_memory.to_dynamic(self.shared, self.offsets, start)
        elif self.is_joined:
            kernel_memory.to_parts(self.shared, self.offsets, list(body.arguments)[-1], start)
        else:
            kernel_memory.to_arguments(self.shared, list(body.arguments)[len(body.arguments) - len(self.shared) :])
        end = list(body.operations)[-1].operation
        for op in [op for axis in self.axes.values() for op in axis.body_ops()]:
            if not is_axis(op):  # the work, and views of shared buffers outside of the threads
                op.move_before(end)
        for kind, loop in self.axes.items():
            loop.var.replace_all_uses_with(ids[kind])
        moved = [op for top in body.operations for op in walk.ops(top.operation)]
        for op in moved:
            for number, operand in enumerate(list(op.operands)):
                if operand in values:
                    op.operands[number] = values[operand]
        retype(moved, kernel_memory.device_type)
        self.nest.erase()

    def _index(self, kind: str) -> ir.Value:
        """The index of this block or thread on an axis."""
        if self.extents[kind].as_constant() == 1:
            return apply(0)
        name, axis = kind.split("Idx.")
        facts = {"dimension": ir.Attribute.parse(f"#gpu<dim {axis}>")}
        return ir.Operation.create(f"gpu.{name}_id", [ir.IndexType.get()], [], facts).results[0]

    def _launch(self, captured: Sequence[ir.Value]) -> None:
        """Launch the kernel, where the nest is."""
        sizes = [apply(self.extents[f"{kind}.{axis}"]) for kind in ("blockIdx", "threadIdx") for axis in "xyz"]
        dynamic = []
        if self.is_dynamic:
            i32 = ir.IntegerType.get_signless(32)
            value = ir.IntegerAttr.get(i32, self.shared_bytes)
            dynamic = list(ir.Operation.create("arith.constant", [i32], [], {"value": value}).results)
        segments = [0, *[1] * 6, 0, 0, 0, len(dynamic), len(captured), 0]
        kernel = ir.SymbolRefAttr.get([f"{self.func.name}_kernels", self.name])
        facts = {"kernel": kernel, "operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments)}
        ir.Operation.create("gpu.launch_func", [], [*sizes, *dynamic, *captured], facts)

    def _create(self, holder: ir.Block, captured: Sequence[ir.Value]) -> ir.Block:
        """The kernel with an empty body, which ends with a return."""
        device = kernel_memory.device_type
        types = [device(pointer_type(v.type)) if isinstance(v.type, ir.MemRefType) else v.type for v in captured]
        i64 = ir.IntegerType.get_signless(64)
        shared = self._attributions()
        notes = [
            ir.DictAttr.get({"llvm.align": ir.IntegerAttr.get(i64, alignment), attrs.NAME: ir.StringAttr.get(name)})
            for name, _, alignment in shared
        ]
        facts = {
            "sym_name": ir.StringAttr.get(self.name),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [])),
            "arg_attrs": ir.ArrayAttr.get([self._facts(v) for v in captured]),
            "gpu.kernel": ir.UnitAttr.get(),
            "known_block_size": ir.DenseI32ArrayAttr.get(self.block),
            "workgroup_attributions": ir.IntegerAttr.get(i64, len(shared)),
            "workgroup_attrib_attrs": ir.ArrayAttr.get(notes),
        }
        if kernel_memory.ONE_BLOCK in self.innermost.op.attributes:
            facts["nvvm.minctasm"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1)
        with ir.InsertionPoint(holder), self.nest.location:
            kernel = ir.Operation.create("gpu.func", attributes=facts, regions=1)
            kernel_memory.note_names(kernel, [name for name, _, _ in shared])
            kernel_memory.note_tensor_maps(kernel, captured)
        types += [type_ for _, type_, _ in shared]
        body = kernel.regions[0].blocks.append(*types, arg_locs=[self.nest.location] * len(types))
        with ir.InsertionPoint(body), self.nest.location:
            ir.Operation.create("gpu.return")
        return body

    def _attributions(self) -> list[tuple[str, ir.Type, int]]:
        """The name, type and alignment of each piece of shared memory that the kernel declares."""
        if self.is_dynamic:
            return []
        each = [(Buffer(op.results[0]), kernel_memory.alignment_of(op)) for op in self.shared]
        if self.is_joined:
            name = "_".join(buffer.name for buffer, _ in each)
            return [(name, kernel_memory.byte_type(self.shared_bytes), max(unit for _, unit in each))]
        return [(buffer.name, kernel_memory.device_type(buffer.type), unit) for buffer, unit in each]

    def _facts(self, value: ir.Value) -> ir.Attribute:
        """The attributes of an argument."""
        if not isinstance(value.type, ir.MemRefType):
            return ir.DictAttr.get({})
        facts: dict[str, ir.Attribute] = {attrs.NAME: ir.StringAttr.get(Buffer(value).name)}
        is_distinct = has_distinct_buffers(self.func.op) or Buffer(value).is_alloc
        if is_distinct and not self._is_exchanged(value):
            facts["llvm.noalias"] = ir.UnitAttr.get()  # LLVM moves accesses to such memory over barriers
        facts["llvm.align"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), alignment_of(value))
        return ir.DictAttr.get(facts)

    def _is_exchanged(self, value: ir.Value) -> bool:
        """Whether threads may exchange values through an argument; without the list, any with barriers around."""
        if self.exchanged is not None:
            return Buffer(value).name in self.exchanged
        return self.has_barriers and _may_be_written(value, self.nest)


def _may_be_written(buffer: ir.Value, nest: ir.Operation) -> bool:
    """Whether a nest may write a buffer, by its own name or through views."""
    inner_ops = set(walk.ops(nest))
    queue = [buffer]
    while queue:
        for use in queue.pop().uses:
            op = use.owner.operation
            if isa(op, ViewLikeOp):
                queue += op.results
            elif op in inner_ops and not isa(op, ReadOp, BufferOp, AllocLikeOp):
                return True
    return False


def _find_captures(nest: ir.Operation, func: Func) -> tuple[list[ir.Value], list[ir.Operation]]:
    """What a nest uses of the function: the arguments that its kernel gets, buffers first, and the ops to copy into it
    in order, views and constants."""
    copied: list[ir.Operation] = []
    captured: dict[ir.Value, None] = {}

    def visit(value: ir.Value) -> None:
        owner = value.owner
        if not isinstance(owner, ir.Block) and isa(owner, ViewLikeOp, ConstantOp):
            op = owner.operation
            if op not in copied:
                for operand in op.operands:
                    visit(operand)
                copied.append(op)
        else:
            captured[value] = None

    inner_ops = set(walk.ops(nest))
    for op in walk.ops(nest):
        for value in op.operands:
            owner = value.owner
            body = owner if isinstance(owner, ir.Block) else owner.operation.block
            if body == func.body and not (not isinstance(owner, ir.Block) and owner.operation in inner_ops):
                visit(value)
    for value in [v for v in captured if not has_constant_size(v.type)]:
        for size in Buffer(value).dims:
            for symbol in size.values:
                visit(symbol)
    values = list(captured)
    buffers = [v for v in values if isinstance(v.type, ir.MemRefType)]
    order = {arg: n for n, arg in enumerate(func.args)}
    buffers.sort(key=lambda v: order.get(v, len(order)))
    return [*buffers, *(v for v in values if v not in buffers)], copied


DYNAMIC = ir.ShapedType.get_dynamic_size()
DYNAMIC_STRIDE = ir.ShapedType.get_dynamic_stride_or_offset()


def has_constant_size(type_: ir.Type) -> bool:
    """Whether a type is not a memref, or one whose shape and strides are constants."""
    if not isinstance(type_, ir.MemRefType):
        return True
    strides, offset = type_.get_strides_and_offset()
    return type_.has_static_shape and DYNAMIC_STRIDE not in (*strides, offset)


def pointer_type(type_: ir.Type) -> ir.Type:
    """The type of the argument for a memref: its own, or that of its first element if the size is not constant."""
    if has_constant_size(type_):
        return type_
    memref = ir.MemRefType(type_)
    return ir.MemRefType.get([], memref.element_type, memory_space=memref.memory_space)


def pointer_of(value: ir.Value) -> ir.Value:
    """What a launch passes for a buffer, or for a size."""
    if has_constant_size(value.type):
        return value
    return _reinterpret_cast(value, pointer_type(value.type), [], [])


def buffer_at(value: ir.Value, arguments: Mapping[ir.Value, ir.Value]) -> ir.Value:
    """In a kernel, the buffer behind its argument. `arguments`: those for the values of the function. Raises
    LoweringError for strides that only the call knows."""
    if has_constant_size(value.type):
        return arguments[value]
    buffer = Buffer(value)
    fixed = buffer.type.get_strides_and_offset()[0]
    if not is_row_major(buffer.type) and DYNAMIC_STRIDE in fixed:
        raise LoweringError(
            f'buffer "{buffer.name}" has strides that only a call knows ({buffer.type}); fix: declare it row-major, '
            "or with constant strides"
        )
    sizes = [apply(size.substitute({v: Index.from_value(arguments[v]) for v in size.values})) for size in buffer.dims]
    strides = [arith.constant(ir.IndexType.get(), 1)]
    for size in sizes[:0:-1]:
        strides.insert(0, arith.muli(strides[0], size))
    return _reinterpret_cast(arguments[value], kernel_memory.device_type(value.type), sizes, strides)


def _reinterpret_cast(
    source: ir.Value, type_: ir.Type, sizes: Sequence[ir.Value], strides: Sequence[ir.Value]
) -> ir.Value:
    """The memory behind a buffer as one of another shape."""
    memref = ir.MemRefType(type_)
    static_strides, _ = memref.get_strides_and_offset()
    dynamic_sizes = [v for n, v in enumerate(sizes) if memref.is_dynamic_dim(n)]
    dynamic_strides = [v for v, stride in zip(strides, static_strides, strict=True) if stride == DYNAMIC_STRIDE]
    facts = {
        "static_offsets": ir.DenseI64ArrayAttr.get([0]),
        "static_sizes": ir.DenseI64ArrayAttr.get(memref.shape),
        "static_strides": ir.DenseI64ArrayAttr.get(static_strides),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, len(dynamic_sizes), len(dynamic_strides)]),
    }
    operands = [source, *dynamic_sizes, *dynamic_strides]
    return ir.Operation.create("memref.reinterpret_cast", [memref], operands, facts).results[0]
