"""Memory: allocations, views, sizes, pointers, loads and stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from mlir import ir

from tir_mlir.dialect.analysis import kept_dims, update_store
from tir_mlir.dialect.diagnostics import NotInterpreted, OutOfBoundsError
from tir_mlir.dialect.ir import Block, Buffer, access_indices, attrs, enclosing_block, is_block, ops, parents
from tir_mlir.dialect.ir.lowering_op_views import LLVMLoadOp, LLVMStoreOp
from tir_mlir.dialect.ir.op_traits import (
    accessed_memref,
    index_operands,
)
from tir_mlir.dialect.ir.op_views import (
    AffineElementAccessOp,
    AffineStoreOp,
    CollapseShapeOp,
    DeallocOp,
    DimOp,
    ElementLoadOp,
    ElementStoreOp,
    PointerOp,
    StoreOp,
    SubviewOp,
    ViewLikeOp,
    dyn_cast,
    isa,
)
from tir_mlir.interpreter.arena_memory import typed_view
from tir_mlir.interpreter.buffer_names import root
from tir_mlir.interpreter.codegen import DYNAMIC, FunctionWriter, Ref, writes
from tir_mlir.interpreter.counters import LOADS, STORES
from tir_mlir.interpreter.kinds import kind_of, size
from tir_mlir.interpreter.memory import Pointer, View, alloc, raise_out_of_bounds
from tir_mlir.interpreter.poison import POISON

if TYPE_CHECKING:
    from tir_mlir.interpreter.diagnose import Watch
    from tir_mlir.interpreter.poison import Number


def tuple_of(texts: Sequence[str]) -> str:
    return f"({''.join(f'{t}, ' for t in texts)})"


@writes("memref.alloc", "memref.alloca")
def allocate(w: FunctionWriter, op: ir.Operation) -> None:
    value = op.results[0]
    type_ = ir.MemRefType(value.type)
    sizes = iter(w.values(list(op.operands)[: attrs.integers(op, "operandSegmentSizes")[0]]))
    shape = [next(sizes) if n is None else str(n) for n in Buffer(value).shape]
    strides, offset = type_.get_strides_and_offset()
    if not isinstance(type_.layout, ir.AffineMapAttr) and (DYNAMIC in strides or offset):
        raise NotInterpreted(f"{op.name} of {type_}: the interpreter supports constant strides only")
    strides_text = "" if isinstance(type_.layout, ir.AffineMapAttr) else f", {tuple_of([str(s) for s in strides])}"
    name = w.roots.name(value)
    w.count(STORES, name, 0)
    kind = kind_of(type_)
    kind = f"u{kind[1:]}" if kind[0] == "i" and Buffer(value).dtype == f"uint{kind[1:]}" else kind
    w.set(value, f"{w.keep(alloc, 'alloc')}({name!r}, {kind!r}, {tuple_of(shape)}{strides_text})", name)


@writes("memref.dealloc")
def free(w: FunctionWriter, op: ir.Operation) -> None:
    w.put(f"{w.keep(release, 'release')}({w.ref(DeallocOp(op).source).view})")


def release(view: View) -> None:
    """memref.dealloc: mark the memory as freed."""
    if view.memory.freed:
        raise OutOfBoundsError(f"{view.name} is deallocated twice", view.name)
    view.memory.freed = True
    view.memory.data.clear()


@writes("memref.dim")
def dim(w: FunctionWriter, op: ir.Operation) -> None:
    source = w.ref(DimOp(op).source)
    sizes, number = source.sizes, w.value(DimOp(op).axis)
    text = sizes[int(number)] if number.isdigit() and int(number) < len(sizes) else f"{source.view}.shape[{number}]"
    w.set(op.results[0], text, attrs.get(op, attrs.NAME, ""))


@writes("memref.subview")
def subview(w: FunctionWriter, op: ir.Operation) -> None:
    values = iter(w.values(list(op.operands)[1:]))
    offsets, sizes, strides = (
        [next(values) if n == DYNAMIC else str(n) for n in attrs.integers(op, f"static_{word}")]
        for word in ("offsets", "sizes", "strides")
    )
    static = [None if n == DYNAMIC else n for n in attrs.integers(op, "static_sizes")]
    dims = kept_dims(Buffer(op.results[0]).shape, static)
    texts = [tuple_of(t) for t in (offsets, sizes, strides)]
    source = SubviewOp(op).source
    name = attrs.get(op, attrs.NAME, "") or w.roots.name(source)
    part_args = [repr(name), w.ref(source).view, *texts, tuple_of([str(d) for d in dims or []])]
    part_args += [str(attrs.OPEN in op.attributes)]
    w.set(op.results[0], f"{w.keep(take_subview, 'part')}({', '.join(part_args)})", name)


def take_subview(
    name: str,
    view: View,
    offsets: tuple[int, ...],
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    dims: tuple[int, ...],
    is_open: bool,
) -> View:
    """A view of a region. Raises OutOfBoundsError if the region is not inside the source, unless it is open."""
    for offset, count, step, extent in zip(offsets, sizes, strides, view.shape, strict=True):
        if count and not is_open and not (0 <= offset and offset + (count - 1) * step < extent):
            raise_out_of_bounds(view, offsets, f" with {sizes} elements")
    start = view.offset + sum(o * s for o, s in zip(offsets, view.strides, strict=True))
    steps = [s * t for s, t in zip(view.strides, strides, strict=True)]
    return View(name, view.memory, start, [sizes[d] for d in dims], [steps[d] for d in dims])


@writes("memref.view")
def arena_view(w: FunctionWriter, op: ir.Operation) -> None:
    source, offset, *sizes = op.operands
    dynamic_sizes = iter(w.values(sizes))
    shape = [next(dynamic_sizes) if n is None else str(n) for n in Buffer(op.results[0]).shape]
    name, kind = attrs.get(op, attrs.NAME, "") or w.roots.name(source), kind_of(op.results[0].type)
    kind = f"u{kind[1:]}" if Buffer(op.results[0]).dtype == f"uint{kind[1:]}" else kind
    parts = [repr(name), w.ref(source).view, repr(kind), w.value(offset), tuple_of(shape), repr(w.options.exact)]
    w.set(op.results[0], f"{w.keep(typed_view, 'typed_view')}({', '.join(parts)})", name)


@writes("memref.cast", "memref.memory_space_cast")
def cast(w: FunctionWriter, op: ir.Operation) -> None:
    if not isinstance(op.results[0].type, ir.MemRefType):
        raise NotInterpreted(f"{op.name} to {op.results[0].type}: the interpreter does not support unranked memrefs")
    view = w.ref(ViewLikeOp(op).source).view
    w.set(op.results[0], view, view)


@writes("memref.assume_alignment")
def assume_alignment(w: FunctionWriter, op: ir.Operation) -> None:
    if len(op.results):
        cast(w, op)


@writes("memref.reinterpret_cast")
def reinterpret(w: FunctionWriter, op: ir.Operation) -> None:
    source, *dynamic = op.operands
    values = iter(w.values(dynamic))
    offset, sizes, strides = (
        [next(values) if n == DYNAMIC else str(n) for n in attrs.integers(op, f"static_{word}")]
        for word in ("offsets", "sizes", "strides")
    )
    view = w.variables[source]
    text = f"{w.keep(View, 'View')}({view}.name, {view}.memory, {offset[0]}, {tuple_of(sizes)}, {tuple_of(strides)})"
    w.set(op.results[0], text, view)


@writes("memref.collapse_shape", "memref.expand_shape")
def reshape(w: FunctionWriter, op: ir.Operation) -> None:
    groups = [[int(n.value) for n in group] for group in op.attributes["reassociation"]]  # type: ignore[attr-defined]
    view = w.ref(ViewLikeOp(op).source).view
    if isa(op, CollapseShapeOp):
        text = f"{w.keep(collapse_shape, 'collapsed')}({view}, {groups})"
    else:
        values = iter(w.values(list(op.operands)[1:]))
        shape = [next(values) if n == DYNAMIC else str(n) for n in attrs.integers(op, "static_output_shape")]
        text = f"{w.keep(expand_shape, 'expanded')}({view}, {groups}, {tuple_of(shape)})"
    w.set(op.results[0], text, view)


def collapse_shape(view: View, groups: list[list[int]]) -> View:
    """memref.collapse_shape of contiguous dimensions."""
    shape, strides = [], []
    for group in groups:
        size = 1
        for d in group:
            size *= view.shape[d]
        inner = [d for d in group if view.shape[d] != 1] or group[-1:]
        shape.append(size)
        strides.append(view.strides[inner[-1]] if inner else 1)
    return View(view.name, view.memory, view.offset, shape, strides)


def expand_shape(view: View, groups: list[list[int]], shape: tuple[int, ...]) -> View:
    strides = [0] * len(shape)
    for group, stride in zip(groups, view.strides, strict=False):
        for d in reversed(group):
            strides[d] = stride
            stride *= shape[d]
    return View(view.name, view.memory, view.offset, shape, strides)


@writes("memref.transpose")
def transpose(w: FunctionWriter, op: ir.Operation) -> None:
    order = [ir.AffineDimExpr(e).position for e in attrs.map_of(op.attributes["permutation"]).results]
    w.set(
        op.results[0],
        f"{w.keep(permute_dims, 'turned')}({w.ref(ViewLikeOp(op).source).view}, {order})",
        w.roots.name(ViewLikeOp(op).source),
    )


def permute_dims(view: View, order: list[int]) -> View:
    return View(view.name, view.memory, view.offset, [view.shape[d] for d in order], [view.strides[d] for d in order])


@writes("memref.copy")
def copy(w: FunctionWriter, op: ir.Operation) -> None:
    source, target = op.operands
    views = f"{w.ref(source).view}, {w.ref(target).view}"
    w.put(f"{w.keep(copy_elements, 'copy')}({views}, {'_watch' if w.watched else 'None'})")
    shape = Buffer(source).shape if None not in Buffer(source).shape else Buffer(target).shape
    if None in shape:
        for what, value in ((LOADS, source), (STORES, target)):
            w.put(f"_more[{what!r}, {w.roots.name(value)!r}] += {w.keep(elements, 'elements')}({w.ref(value).view})")
        return
    number = 1
    for n in shape:
        number *= n or 0
    w.count_accesses(LOADS, source, number)
    w.count_accesses(STORES, target, number)


def elements(view: View) -> int:
    number = 1
    for n in view.shape:
        number *= n
    return number


def copy_elements(source: View, target: View, watch: Watch | None) -> None:
    """memref.copy, element by element. Raises OutOfBoundsError if the shapes differ."""
    if source.shape != target.shape:
        raise OutOfBoundsError(
            f"a copy from {source.name}{list(source.shape)} to {target.name}{list(target.shape)}", target.name
        )

    pairs = [(source.offset_of(i), target.offset_of(i)) for i in np.ndindex(source.shape)]
    values = [source.data[a] for a, _ in pairs]
    for (a, b), value in zip(pairs, values, strict=True):
        if watch is not None:
            watch.touch(source.memory, a, False, 0)
            watch.touch(target.memory, b, True, 0)
        target.data[b] = value


# --- metadata and pointers --------------------------------------------------------------------------------------------


@writes("memref.extract_strided_metadata")
def metadata(w: FunctionWriter, op: ir.Operation) -> None:
    base, offset, *dims = op.results
    ref = w.ref(PointerOp(op).source)
    w.set(base, f"{w.keep(View, 'View')}({ref.view}.name, {ref.view}.memory, 0, (), ())", ref.view)
    for value, text in zip([offset, *dims], [ref.offset, *ref.sizes, *ref.strides], strict=True):
        w.variables[value] = text


@writes("memref.extract_aligned_pointer_as_index")
def pointer(w: FunctionWriter, op: ir.Operation) -> None:
    w.put(f"{w.define(op.results[0])} = {w.keep(Pointer, 'Pointer')}({w.variables[PointerOp(op).source]}.memory)")
    w.pointers.add(op.results[0])


@writes("llvm.inttoptr", "llvm.ptrtoint")
def same_pointer(w: FunctionWriter, op: ir.Operation) -> None:
    (pointer,) = op.operands
    w.variables[op.results[0]] = w.value(pointer)
    w.pointers.add(op.results[0])


@writes("llvm.getelementptr")
def element_pointer(w: FunctionWriter, op: ir.Operation) -> None:
    fixed = attrs.integers(op, "rawConstantIndices")
    if len(fixed) != 1:
        raise NotInterpreted(f"{op}: the interpreter supports element pointers with one index only")
    base, *indices = w.values(list(op.operands))
    index = indices[0] if indices else str(fixed[0])
    width = size(kind_of(ir.TypeAttr(op.attributes["elem_type"]).value))
    w.put(f"{w.define(op.results[0])} = {base} + ({index}) * {width}")
    w.pointers.add(op.results[0])


@writes("llvm.load", "llvm.store")
def access_through_pointer(w: FunctionWriter, op: ir.Operation) -> None:
    store = dyn_cast(op, LLVMStoreOp)
    type_ = op.results[0].type if store is None else store.value.type
    if isinstance(type_, ir.VectorType):
        raise NotInterpreted(f"{op.name} of {type_}: the interpreter supports only scalars through pointers")
    address = w.value(LLVMLoadOp(op).memref if store is None else store.memref)
    width = size(kind_of(type_))
    watch = "_watch" if w.watched else "None"
    if store is None:
        w.set(op.results[0], f"{w.keep(load_through_pointer, 'fetched')}({address}, {width}, {watch}, _unwritten)")
    else:
        w.put(f"{w.keep(store_through_pointer, 'put')}({address}, {width}, {w.value(store.value)}, {watch})")


def _pointed_offset(address: Pointer, width: int) -> int:
    offset = address.element(width)
    if offset >= len(address.memory.data):
        raise OutOfBoundsError(f"{address!r} is outside {address.memory.name}", address.memory.name)
    return offset


def load_through_pointer(
    address: Pointer, width: int, watch: Watch | None, unwritten: Callable[[View, Sequence[int]], Number]
) -> Number:
    offset = _pointed_offset(address, width)
    if watch is not None:
        watch.touch(address.memory, offset, False, 0)
    value = address.memory.data[offset]
    memory_view = View(address.memory.name, address.memory, 0, (len(address.memory.data),), (1,))
    return unwritten(memory_view, (offset,)) if value is POISON else value


def store_through_pointer(address: Pointer, width: int, value: Number, watch: Watch | None) -> None:
    offset = _pointed_offset(address, width)
    if watch is not None:
        watch.touch(address.memory, offset, True, 0)
    address.memory.data[offset] = value


@writes(*ElementLoadOp.names)
def load(w: FunctionWriter, op: ir.Operation) -> None:
    memref = accessed_memref(op)
    ref, subscripts = w.ref(memref), indices(w, op)
    index = f"({', '.join(subscripts)}{',' * (len(subscripts) == 1)})"
    offset = emit_bounds_check(w, ref, subscripts, index)
    if w.watches(memref):
        offset = w.atom(offset, "_p")
        w.put(f"_watch.touch({ref.view}.memory, {offset}, False, {reduction(op, memref)})")
    variable = w.define(op.results[0])
    w.put(f"{variable} = {ref.data}[{offset}]")
    if w.options.origins:
        w.put(f"if {variable} is _POISON: {variable} = _unwritten({ref.view}, {index})")
    w.count_accesses(LOADS, memref)


@writes(*ElementStoreOp.names)
def store(w: FunctionWriter, op: ir.Operation) -> None:
    memref = accessed_memref(op)
    ref, subscripts = w.ref(memref), indices(w, op)
    offset = emit_bounds_check(w, ref, subscripts, f"({', '.join(subscripts)}{',' * (len(subscripts) == 1)})")
    if w.watched:
        offset = w.atom(offset, "_p")
        w.put(f"_watch.touch({ref.view}.memory, {offset}, True, {reduction(op, memref)})")
    w.put(f"{ref.data}[{offset}] = {w.value(StoreOp(op).value)}")
    w.count_accesses(STORES, memref)


def indices(w: FunctionWriter, op: ir.Operation) -> list[str]:
    """The indices of an access, as names or numbers."""
    if op.name.startswith("affine."):
        texts = [w.index(i) for i in access_indices(op)]
    else:
        texts = w.values(index_operands(op))
    return [w.atom(text, f"_i{n}") for n, text in enumerate(texts)]


def emit_bounds_check(w: FunctionWriter, ref: Ref, subscripts: Sequence[str], index: str) -> str:
    """Emit the bounds check of an access. Returns the text of its offset."""
    tests = [f"0 <= {i} < {n}" for i, n in zip(subscripts, ref.sizes, strict=True)]
    if tests:
        w.put(f"if not ({' and '.join(tests)}): {w.keep(raise_out_of_bounds, 'outside')}({ref.view}, {index})")
    return address(ref, subscripts)


def address(ref: Ref, subscripts: Sequence[str]) -> str:
    terms = [
        i if s == "1" else f"{i} * {s}" for i, s in zip(subscripts, ref.strides, strict=True) if s != "0" and i != "0"
    ]
    return " + ".join([*terms, *([ref.offset] if ref.offset != "0" else [])]) or "0"


def reduction(op: ir.Operation, memref: ir.Value) -> int:
    """A number for the reduction that an access initializes or updates, negative without an init; 0: no reduction."""
    block = enclosing_block(op)
    if not isinstance(block, Block):
        return 0
    if not _sums(block):  # a nested block may do the update of a reduction block
        store = update_store(op)
        outer = next((b for p in parents(op) if is_block(p) and _sums(b := Block(p))), None)
        return -outer.id - 1 if store is not None and outer is not None else 0
    buffer = root(memref)
    if block.init is not None:
        starts = any(isa(o, AffineStoreOp) and root(accessed_memref(o)) == buffer for o in ops(block.init))
        return block.id + 1 if starts else 0
    both = AffineElementAccessOp.names
    uses = {o.name for o in ops(block.op) if o.name in both and root(accessed_memref(o)) == buffer}
    return -block.id - 1 if len(uses) == 2 else 0


def _sums(block: Block) -> bool:
    return any(it.kind == "R" for it in block.iters)
