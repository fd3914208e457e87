"""tensorize: replace a block by the implementation of a matching tensor intrinsic.

explain_tensorize: report whether a block matches an intrinsic, and the differences of each alignment.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import prod

from mlir import ir

from tir_mlir.dialect.analysis import Region, accessed_regions, declare
from tir_mlir.dialect.computation import (
    Alignment,
    Form,
    IntrinMatch,
    Mismatch,
    NotRaisable,
    ParamBinding,
    TensorIntrin,
    alignments,
    match,
    raise_form,
)
from tir_mlir.dialect.computation.fragment_maps import NotComposed, check_composition
from tir_mlir.dialect.computation.matrix_functions import (
    COLUMNS,
    ROWS,
    calls_on,
    described_layouts,
    fragment_view,
    layout_of,
    root_of_view,
)
from tir_mlir.dialect.diagnostics import IntrinError, NotProvable, ScheduleError, emit_remark, short_repr
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Index,
    Loop,
    MatrixCallOp,
    attrs,
    create,
    edit,
    freeze_modules,
    has_strides,
    is_block,
    matrix_function,
    module_of,
    only_reads,
    owner_op,
    walk,
)
from tir_mlir.dialect.ir.op_views import AlignedPointerOp, isa
from tir_mlir.dialect.presburger import only_where, sets
from tir_mlir.dialect.verify import names_of
from tir_mlir.passes.schedule.blocks.intrinsic_body import (
    check_inlinable,
    inline,
    missing_externs,
    region_view,
    region_view_type,
    stride_names,
)
from tir_mlir.passes.schedule.blocks.partial_writes import mark_partial_writes, written_elements
from tir_mlir.passes.schedule.blocks.scalar_arguments import clip, emit_scalars, open_parameters, size_arguments
from tir_mlir.passes.schedule.edits import DYNAMIC
from tir_mlir.passes.schedule.registry import primitive, refuse

_STRIDES = "transform_layout changes the strides of the buffer, or of a copy (cache_read, cache_write)"


@primitive("tensorize", moves="in place")
def tensorize(block_or_loop: Block | Loop, tensor_intrin: str, preserve_unit_iters: bool = True) -> None:
    """Replace the computation of a block by the implementation of a tensor intrinsic.

        with T.block("b_o"):                              with T.block("b_o"):
            vi_o, vk_o = ...                                  vi_o, vk_o = ...
            for i, k in T.grid(16, 16):            ->         A_1 = T.match_buffer(A[vi_o * 16:vi_o * 16 + 16, ...])
                with T.block("b"): C[...] += A[...] ...       T.call_extern("int32", "instruction", pointers, strides)

    A loop is blockized first. The block keeps its handle, iters, annotations and regions.

    Requires: the block's canonical form equals that of the description, up to order and names of iterators, unit
    iterators and dimensions, and the order of commutative operands; the regions have the strides and the alignment
    (`offset_factor`) that the implementation needs, except fragments (`wmma.matrix_a`) that only matrix functions
    access; a fragment is loaded in the layout (`row_major`) in which the description of its product takes it. Errors:
    IntrinError for an unknown intrinsic.
    """
    intrinsic = TensorIntrin.get(tensor_intrin)
    assert intrinsic is not None
    block = block_or_loop
    if isinstance(block, Loop):
        from tir_mlir.passes.schedule.blocks.blockize import blockize

        block = blockize(block, preserve_unit_iters)
    matched = _match(block, intrinsic)
    impl = intrinsic.impl_func()
    bindings = parameter_bindings(matched, impl.func)
    with freeze_modules():
        for region_check in region_checks(block, bindings, impl.func, tensor_intrin):
            region_check()
        layouts = check_layouts(block, bindings, impl.func, intrinsic)
        _check_composition(block, impl.func, intrinsic)
        check_inlinable(impl.func, tensor_intrin)
        sizes = size_arguments(block, matched, intrinsic)
        guarded = intrinsic.form().takes_conditions  # else all of each window is accessed
        open_windows = open_parameters(block, bindings, impl.func, tensor_intrin) if guarded else frozenset[int]()
        _note(block, tensor_intrin, bindings)
        written = written_elements(block) if guarded else None
        reads, writes = accessed_regions(block)
        clipped = (
            [clip(block, r) if open_windows else r for r in reads],
            [clip(block, r) if open_windows else r for r in writes],
        )
    _replace_body(block, impl.func, bindings, open_windows, partial(emit_scalars, matched, sizes))
    for op in walk.ops(block.op):
        if matrix_function(op) == "tvm_mma_sync":
            attrs.put(op, attrs.FRAGMENT_LAYOUTS, layouts)
    closed = [b.buffer for b in bindings if ir.BlockArgument(b.param.value).arg_number not in open_windows]
    _restore_regions(block, clipped, closed)
    if written is not None:
        mark_partial_writes(block, written)


def _replace_body(
    block: Block,
    impl: Func,
    bindings: Sequence[ParamBinding],
    open_windows: Collection[int],
    scalars: Callable[[], Mapping[int, ir.Value]],
) -> None:
    """Replace the body of a block by that of an implementation, and add its declarations to the module."""
    module = module_of(block.op)
    for op in missing_externs(module, impl):
        edit.clone(op, ir.InsertionPoint(module.regions[0].blocks[0]))
    old = block.body_ops()
    with create.at_end(block.body), block.op.location:
        numbers = scalars()
        by_argument = {ir.BlockArgument(b.param.value).arg_number: b for b in bindings}
        closed = {n: region_view(b, b.param) for n, b in by_argument.items() if n not in open_windows}
        inline(block, impl, {**closed, **numbers}, {n: by_argument[n] for n in open_windows})
    for op in reversed(old):
        edit.drop(op)


def _note(block: Block, name: str, bindings: Sequence[ParamBinding]) -> None:
    roles = ", ".join(f"{b.param.name} is a window of `{b.buffer.name}`" for b in bindings)
    emit_remark(
        f"block `{block.name}` computes what `{name}` describes, up to names and the order of iterators: {roles}"
    )
    emit_remark(f"the windows have the shapes, strides and alignment that the implementation of `{name}` takes")


def parameter_bindings(matched: IntrinMatch, impl: Func) -> list[ParamBinding]:
    """The regions bound to the parameters of an implementation."""
    return [replace(b, param=p) for b, p in zip(matched.bindings, impl.params, strict=True)]


def region_checks(
    block: Block, bindings: Sequence[ParamBinding], impl: Func, name: str
) -> Iterator[Callable[[], None]]:
    """The implementation's requirements on the regions, as checks that raise ScheduleError.

    A fragment has no strides, whatever a parameter declares: its registers have the layout of the hardware.
    """
    in_memory = [b for b in bindings if has_strides(b.param)]
    for binding in bindings:
        yield partial(_check_shape, block, binding, name)
    for binding in in_memory:
        yield partial(_check_strides, block, binding, name)
        yield partial(_check_offset, block, binding, name)
    yield partial(_check_shared_strides, block, in_memory, name)


@only_reads
def _match(block: Block, intrinsic: TensorIntrin) -> IntrinMatch:
    """The match of the block with the intrinsic's description. Refuses with the differences if there is none."""
    form = _form(block, intrinsic)
    matched = match(form, intrinsic.form())
    if isinstance(matched, IntrinMatch):
        return matched
    refuse(
        block,
        f'{block} does not compute what "{intrinsic.name}" describes:\n{_mismatch_text(matched)}',
        fix=_hint(form, matched),
    )


def _form(block: Block, intrinsic: TensorIntrin) -> Form:
    try:
        return raise_form(block, guarded=intrinsic.form().takes_conditions)
    except NotRaisable as error:
        what = f'{block} cannot be matched with "{intrinsic.name}": it is not a pure tensor computation'
        refuse(error.culprit or block, f"{what}: {error}")


def _mismatch_text(mismatches: Sequence[Mismatch]) -> str:
    texts = ["\n".join(f"  - {d}" for d in m.differences) for m in mismatches]
    return "\nor, with the next best alignment:\n".join(texts)


def _hint(form: Form, mismatches: Sequence[Mismatch]) -> str:
    if not form.canonical().axes:
        return "pass the loop around the tile to tensorize, or a blockized block"
    if any("scope" in d for d in mismatches[0].differences):
        return "cache_read, cache_write and set_scope change scopes"
    if any(d.startswith("init:") for d in mismatches[0].differences):
        return "apply decompose_reduction at the outermost loop of the reduction, then tensorize the update"
    if any(d.startswith("iterator") for d in mismatches[0].differences):
        return "split the loops by the extents of the intrinsic, and reorder the inner ones to the innermost positions"
    if any(d.startswith("payload:") for d in mismatches[0].differences):
        return (
            "compute what the intrinsic computes, including types and casts, or use an intrinsic for this computation"
        )
    return "explain_tensorize lists each possible match; transform_layout and reindex change how a buffer is indexed"


# --- requirements of the implementation on the regions ----------------------------------------------------------------


def _check_shape(block: Block, binding: ParamBinding, name: str) -> None:
    if binding.added:
        dims = ", ".join(map(str, binding.added))
        refuse(
            block,
            f'parameter {binding.param.name} of "{name}" has a unit dimension ({dims}) that '
            f"{binding.buffer.name} lacks, and a view cannot add one",
            fix=f"transform_layout adds one to {binding.buffer.name}: i -> (i // n, i % n), for instance",
        )


def _is_strided(param: Buffer) -> bool:
    return "strided" in str(param.type.layout)


def _check_strides(block: Block, binding: ParamBinding, name: str) -> None:
    """Check constant strides; a pointer to a parameter without strides needs a contiguous region."""
    param, view = binding.param, region_view_type(binding)
    have, _ = view.get_strides_and_offset()
    pointed = any(isa(u.owner.operation, AlignedPointerOp) for u in param.value.uses)
    if not _is_strided(param) and not pointed:
        return
    param_strides, _ = param.type.get_strides_and_offset()
    for number, (want, has, size) in enumerate(zip(param_strides, have, param.shape, strict=True)):
        if want in (DYNAMIC, has) or size == 1:
            continue
        actual = "a variable" if has == DYNAMIC else str(has)
        dense = f'; without strides its pointer means a contiguous region: declare {param.name} with strides=["s", 1]'
        way = "" if _is_strided(param) else dense
        refuse(
            block,
            f'parameter {param.name} of "{name}" needs stride {want} in dimension {number}, but the '
            f"region of {binding.buffer.name} has {actual}{way}",
            fix=_STRIDES,
        )


def _check_shared_strides(block: Block, bindings: Sequence[ParamBinding], name: str) -> None:
    """Check that parameters that share a stride variable have equal strides."""
    stride_of: dict[str, tuple[int, ParamBinding]] = {}
    for binding in bindings:
        have, _ = region_view_type(binding).get_strides_and_offset()
        for word, stride in zip(stride_names(binding.param), have, strict=True):
            if not word:
                continue
            shared_stride, first = stride_of.setdefault(word, (stride, binding))
            if first is not binding and (shared_stride != stride or stride == DYNAMIC):
                refuse(
                    block,
                    f'"{name}" uses one stride {word} for {first.param.name} and {binding.param.name}, but '
                    f"{first.buffer.name} and {binding.buffer.name} differ in it, or it is a variable",
                    fix=_STRIDES,
                )


def _check_offset(block: Block, binding: ParamBinding, name: str) -> None:
    """Check that the region starts at a multiple of `offset_factor` elements in every instance of the block."""
    factor = binding.param.attributes.get(attrs.OFFSET_FACTOR, 1)
    if factor <= 1:
        return
    strides, start = binding.buffer.type.get_strides_and_offset()
    own_factor = binding.buffer.attributes.get(attrs.OFFSET_FACTOR, 1)
    what = f'parameter {binding.param.name} of "{name}" must start at a multiple of {factor} elements (offset_factor)'
    if start == DYNAMIC and own_factor % factor:
        way = f"the alignment of {binding.buffer.name} itself is not known; give it an offset_factor of {factor}"
        refuse(block, f"{what}, but {way}", provable=False)
    total = Index.constant(0 if start == DYNAMIC else start)
    parts = []
    for dimension, (index, stride) in enumerate(zip(binding.base, strides, strict=True)):
        if stride == DYNAMIC:
            parts.append(index * _stride_factor(binding.buffer, dimension))  # one for any multiple of this stride
        else:
            total = total + index * stride
    for part in [total, *parts]:
        misaligned = _misaligned_at(block, part.simplify(), factor)
        if misaligned is not None:
            provable = part is total
            how = misaligned if provable else ", as its strides are not known"
            refuse(block, f"{what}; the region of {binding.buffer.name} does not{how}", provable=provable, fix=_STRIDES)


def _stride_factor(buffer: Buffer, dimension: int) -> int:
    """What divides a stride that is a variable: the constant extents behind it, where rows follow each other."""
    is_packed = buffer.type.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(buffer.type.rank))
    return prod(n for n in buffer.shape[dimension + 1 :] if n is not None) if is_packed else 1


def _misaligned_at(block: Block, index: Index, factor: int) -> str | None:
    """Where `index` is not a multiple of `factor`; None if it always is."""
    number = index.as_constant()
    if number is not None:
        return None if number % factor == 0 else f": it starts at {number}"
    first = block.body.operations[0].operation
    dom = sets.domain(first, block.op, [index])
    with sets.question("offset_factor"):
        remainder = dom.aff(index % factor)
        bad = dom.set.subtract(sets.zeros(remainder))
        if bad.is_empty():
            return None
        point = (sets.smallest_point(bad) or [])[-len(dom.dims) :]
    iteration = ", ".join(f"{n} = {v}" for n, v in zip(names_of(dom, first), point, strict=False))
    return (f" at {iteration}" if iteration else "") + only_where(bad, first)


def _restore_regions(block: Block, old_regions: tuple[list[Region], list[Region]], windows: Collection[Buffer]) -> None:
    """Keep the regions of the block: the implementation accesses what its description declares.

    They are declared explicitly where the computed ones differ: a pointer to an output may also be read, or the
    parameters have another order. windows: buffers of which the implementation has a window of its own size, which is
    larger than the region where a limit that is a number leaves out a part.
    """
    if attrs.READS in block.op.attributes or attrs.WRITES in block.op.attributes:
        return
    new_regions = accessed_regions(block)
    for number, (key, old) in enumerate(zip((attrs.READS, attrs.WRITES), old_regions, strict=True)):
        new = new_regions[number]
        wider = {r.buffer: r for r in new if r.buffer in windows}
        old = [_at_least(block, region, wider.get(region.buffer)) for region in old]
        if len(old) == len(new) and all(a.is_equal_to(b) for a, b in zip(old, new, strict=True)):
            continue
        declare(block, key, old)
        if {r.buffer for r in accessed_regions(block)[number]} != {r.buffer for r in old}:
            attrs.put(block.op, key, None)  # it accesses others as well, for instance its own result


def _at_least(block: Block, region: Region, window: Region | None) -> Region:
    """A region, or a window that begins where it does and is larger."""
    if window is None:
        return region
    sizes = [(a.as_constant(), b.as_constant()) for a, b in zip(region.extents, window.extents, strict=True)]
    is_larger = any(a is not None and b is not None and a < b for a, b in sizes)
    starts = zip(region.mins, window.mins, strict=True)
    return window if is_larger and all(_is_same(block, a, b) for a, b in starts) else region


def _is_same(block: Block, a: Index, b: Index) -> bool:
    """Whether indices are equal in every instance of the block: `v % 2 * 16` is `16 - (v + 1) % 2 * 16`."""
    units = {i.var: i.min for i in block.iters if i.extent.as_constant() == 1}
    difference = (a - b).substitute(units).simplify()
    if (number := difference.as_constant()) is not None:
        return number == 0
    with suppress(NotProvable), sets.question(f'the regions of block "{block.name}"'):
        dom = sets.domain(block.body.operations[0].operation, block.op, [difference])
        return dom.set.is_subset(sets.zeros(dom.aff(difference)))
    return False


# --- reports ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """The result for one intrinsic: the possible alignments with their differences, best first, or the `obstacle` that
    rules out all of them. True if it fits.
    """

    name: str
    ways: tuple[Alignment, ...] = ()
    obstacle: str = ""

    def __bool__(self) -> bool:
        return any(not way.differences for way in self.ways)

    def __str__(self) -> str:
        if self.obstacle:
            return f"{self.name}: does not fit: {self.obstacle}"
        lines = [f"{self.name}: fits ({way})" for way in self.ways if not way.differences]
        lines += [] if self else [f"{self.name}: does not fit"]
        for way in self.ways:
            if way.differences:
                lines += [f"  not with {way}:"] if way.operands else []
                lines += [f"  - {d}" for d in way.differences]
        return "\n".join(lines)


@dataclass(frozen=True)
class FitReport(Mapping[str, Fit]):
    """The results for one block, by name of the intrinsic. True if one of them fits."""

    by_name: dict[str, Fit]

    def __getitem__(self, name: str) -> Fit:
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    def __bool__(self) -> bool:
        return any(self.by_name.values())

    def __str__(self) -> str:
        return "\n".join(map(str, self.by_name.values())) or "no tensor intrinsic is registered"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "<pre>" + str(self).replace("&", "&amp;").replace("<", "&lt;") + "</pre>"


def explain_tensorize(block: Block, tensor_intrin: str | Sequence[str] | None = None) -> FitReport:
    """For each intrinsic (default: all registered ones), the buffers its parameters would be bound to, or the
    differences.

    Call inside `context.entered()`. Does not change the module. Errors: IntrinError for an unknown intrinsic.
    """
    if tensor_intrin is not None and not isinstance(tensor_intrin, (str, list, tuple)):
        raise IntrinError(f"tensor_intrin is a name or a list of names, not {short_repr(tensor_intrin)}")
    names = [tensor_intrin] if isinstance(tensor_intrin, str) else list(tensor_intrin or TensorIntrin.list())
    intrinsics = [i for n in names if (i := TensorIntrin.get(n)) is not None]
    return FitReport({i.name: _fit(block, i) for i in intrinsics})


@only_reads
def _fit(block: Block, intrinsic: TensorIntrin) -> Fit:
    try:
        form = raise_form(block, guarded=intrinsic.form().takes_conditions)
    except NotRaisable as error:
        return Fit(intrinsic.name, obstacle=f"{block} is not a pure tensor computation: {error}")
    if not form.canonical().axes and intrinsic.form().canonical().axes:
        way = "pass the loop around the tile to tensorize, or a blockized block"
        return Fit(intrinsic.name, obstacle=f"{block} is a single point; {way}")
    return Fit(
        intrinsic.name, tuple(_check_requirements(block, way, intrinsic) for way in alignments(form, intrinsic.form()))
    )


def _check_requirements(block: Block, way: Alignment, intrinsic: TensorIntrin) -> Alignment:
    """A matching alignment, with the implementation's unmet requirements on the regions."""
    if way.match is None:
        return way
    impl = intrinsic.impl_func()
    reasons = []
    for region_check in region_checks(block, parameter_bindings(way.match, impl.func), impl.func, intrinsic.name):
        try:
            region_check()
        except ScheduleError as error:
            reasons.append(error.reason)
    try:
        check_inlinable(impl.func, intrinsic.name)
        size_arguments(block, way.match, intrinsic)
    except ScheduleError as error:
        reasons.append(error.reason)
    return Alignment(way.operands, way.axes, tuple(reasons), way.match)


def _check_composition(block: Block, impl: Func, intrinsic: TensorIntrin) -> None:
    """Refuse an implementation whose loads and products of fragments do not compose."""
    try:
        check_composition(intrinsic.name, impl, intrinsic.desc_func().func)
    except NotComposed as error:
        refuse(block, str(error), fix=error.fix)


# The layouts of fragments: that of a load has to be the one in which the product takes the fragment.


def check_layouts(
    block: Block, bindings: Sequence[ParamBinding], impl: Func, intrinsic: TensorIntrin
) -> list[str] | None:
    """Refuse an implementation that loads or multiplies a fragment in another layout than what the program has already
    on its buffer; returns the layouts in which a product takes A and B."""
    product = None
    for call in [op for op in walk.ops(impl.op) if matrix_function(op)]:
        taken = {}
        if matrix_function(call) == "tvm_mma_sync":
            product = described_layouts(call, impl, intrinsic.desc_func().func)
            taken = dict(zip((2, 4), product, strict=True))
        elif matrix_function(call) == "tvm_load_matrix_sync":
            taken = {0: layout_of(call, 0)}
        for number, layout in taken.items():
            view = fragment_view(call, number)
            binding = next((b for b in bindings if view is not None and b.param.value == root_of_view(view)), None)
            if binding is not None and layout:
                _compare(block, binding.buffer, layout, call, intrinsic.name)
    return product


def _compare(block: Block, buffer: Buffer, layout: str, call: ir.Operation, name: str) -> None:
    """Refuse if a call on the buffer has another layout than `layout`, that of a call of the implementation."""
    loads = matrix_function(call) == "tvm_load_matrix_sync"
    for other, number in calls_on(buffer.value):
        theirs = layout_of(other, number)
        if not theirs or theirs == layout:
            continue
        other_loads = matrix_function(other) == "tvm_load_matrix_sync"
        around = next(Block(op).name for op in walk.parents(other) if is_block(op))
        where = f"the {'load' if other_loads else 'product'} in block {around}"
        if loads and other_loads:
            refuse(block, f'"{name}" loads {buffer.name} in layout "{layout}", {where} in layout "{theirs}"',
                   fix="load all of a buffer in one layout")  # fmt: skip
        has, takes = (layout, theirs) if loads else (theirs, layout)
        text = f'loads {buffer.name} in layout "{has}", and {where} takes' if loads else (
            f'takes {buffer.name} in layout "{takes}", and {where} has "{has}"'
        )  # fmt: skip
        text += f' it in layout "{takes}"' if loads else ""
        memory = owner_op(MatrixCallOp(other).pointer) if other_loads else None
        refuse(
            block,
            f'"{name}" {text}: element 1 of lane 0 is {_element(buffer, has)}, which the product takes for '
            f"{_element(buffer, takes)}",
            fix=_matching_load(buffer, takes, name if loads else "", memory),
        )


def _element(buffer: Buffer, layout: str) -> str:
    """Where the second element of the first lane is in the buffer: in the hardware's A it is [0, 1], in B [1, 0]."""
    position = (0, 1) if buffer.scope == "wmma.matrix_a" else (1, 0)
    i, j = position if layout == ROWS else position[::-1]
    return f"{buffer.name}[{i}, {j}]"


def _matching_load(buffer: Buffer, layout: str, name: str, pointer: ir.Operation | None) -> str:
    """The load that has the layout, by name if it is one of the built-in ones."""
    from tir_mlir.dialect.analysis.pointers import pointee

    memory = None if pointer is None else pointee(pointer)
    scope = "" if memory is None else Buffer(memory).scope.replace(".", "_")
    plain = name.replace("_trans", "") if name else f"wmma_load_16x16x16_f16_{buffer.scope[-1]}_{scope}"
    head, _, tail = plain.partition(f"_{buffer.scope[-1]}_")
    wanted = f"{head}_{buffer.scope[-1]}_trans_{tail}" if layout == COLUMNS else plain
    known = TensorIntrin.get(wanted, allow_missing=True) is not None
    return f'tensorize the load with "{wanted}"' if known else f'tensorize the load with one of layout "{layout}"'
