"""Convert a TensorIR program to plain affine loops, without blocks, views and kernel calls.

Calls of kernels become the descriptions of their intrinsics, blocks their bodies with iters bound; views are folded.
Independent of `passes/lower` except for `trusted_passes.TRUSTED_PASSES`, so that the check does not repeat its bugs.
"""

from __future__ import annotations

from mlir import ir
from mlir.passmanager import PassManager

from tir_mlir.dialect.calls import callee_of
from tir_mlir.dialect.computation.split_lanes import split_lanes
from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.dialect.ir import Block, Func, attrs, funcs, is_block, symbols_by_name, walk
from tir_mlir.dialect.ir.op_traits import PREFETCHES
from tir_mlir.equivalence.arenas.plain_copies import expand_copies
from tir_mlir.equivalence.arenas.typed_arenas import split_arenas
from tir_mlir.equivalence.described_kernels import describe_calls
from tir_mlir.equivalence.edits import OpBuilder
from tir_mlir.equivalence.field import exact_rounding, field_functions, opaque_constants
from tir_mlir.equivalence.fold_views import fold_views
from tir_mlir.passes.lower.memory import bools
from tir_mlir.passes.lower.retype_module import retype

CLEAN = "builtin.module(canonicalize,cse)"

_KNOWN = {
    "builtin.module", "func.func", "func.return", "affine.for", "affine.if", "affine.load", "affine.store",
    "affine.apply", "affine.min", "affine.max", "affine.yield", "memref.alloc", "memref.alloca", "memref.load",
    "memref.store", "memref.dim", "memref.dealloc", "memref.cast", "scf.if", "scf.for", "scf.while", "scf.condition",
    "scf.yield", "func.call", "memref.view", "memref.subview", "memref.collapse_shape", "memref.expand_shape",
}  # fmt: skip


def make_plain(module: ir.Module, build: OpBuilder) -> None:
    """Rewrite a module in place. Raises NotChecked for ops without exact semantics."""
    everything = walk.ops(module.operation)
    retype(everything, _without_scope)
    describe_calls(module)
    split_lanes(module)
    for func in funcs(module):
        remove_blocks(func.op)
    bools.run(module)
    for op in walk.ops(module.operation):
        _drop(op)
    expand_copies(module, build)
    fold_views(walk.ops(module.operation), build)
    opaque_constants.hide(module.operation)
    PassManager.parse(CLEAN).run(module.operation)
    opaque_constants.show(module.operation)
    for func in funcs(module):
        _drop_assumption(func)
    for op in list(module.body.operations):
        if op.operation.name == "func.func" and not len(op.operation.regions[0].blocks):
            op.operation.erase()  # declarations of kernels; remaining calls are rejected by check_known
    split_arenas(module, build)
    exact_rounding.mark(module.operation)
    check_known(module)


def _drop_assumption(func: Func) -> None:
    """Drop what a function assumes of sizes of which one is gone: nothing in it used that size."""
    if attrs.ASSUME in func.op.attributes and set(attrs.get(func.op, attrs.SYMS, [])) - set(symbols_by_name(func.op)):
        del func.op.attributes[attrs.ASSUME]
        del func.op.attributes[attrs.SYMS]


def _without_scope(type_: ir.Type) -> ir.Type:
    memref = ir.MemRefType(type_)
    if memref.memory_space is None:
        return type_
    return ir.MemRefType.get(memref.shape, memref.element_type, memref.layout)


def remove_blocks(func: ir.Operation) -> None:
    """Inline each block: iters become `affine.apply` of their bindings. The location of inlined ops is the block's
    name."""
    for op in [o for o in walk.ops(func) if is_block(o)]:
        name = Block(op).name
        map_ = attrs.affine_map(op, "lowerBoundsMap")
        operands = list(op.operands)[: map_.n_inputs]
        with ir.InsertionPoint(op), op.location:
            for number, argument in enumerate(op.regions[0].blocks[0].arguments):
                own = ir.AffineMapAttr.get(map_.get_submap([number]))
                made = ir.Operation.create("affine.apply", [ir.IndexType.get()], operands, {"map": own})
                argument.replace_all_uses_with(made.results[0])
        for inner in list(op.regions[0].blocks[0].operations)[:-1]:
            if not is_block(inner.operation):
                _name(inner.operation, name)
            inner.operation.move_before(op)
        op.erase()


def _name(root: ir.Operation, name: str) -> None:
    for op in walk.ops(root, skip=is_block):
        if not is_block(op):
            op.location = ir.Location.name(name)


def _drop(op: ir.Operation) -> None:
    """Erase hints."""
    if op.name in PREFETCHES:
        op.erase()
    elif op.name == "memref.assume_alignment":
        for result in op.results:
            result.replace_all_uses_with(op.operands[0])
        op.erase()


def _is_ours(op: ir.Operation) -> bool:
    """Whether a call is one of the check's own functions."""
    return ir.FlatSymbolRefAttr(op.attributes["callee"]).value.startswith(field_functions.PREFIX)


def check_known(module: ir.Module) -> None:
    """Raise NotChecked for unsupported ops. Those of arith and math are checked by the conversion."""
    everything = walk.ops(module.operation)
    for op in sorted(everything, key=lambda o: o.name != "func.call"):  # report the call before the ops of its operands
        name = op.name
        if name == "func.call" and callee_of(op) is None and not _is_ours(op):
            callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
            raise NotChecked(
                f'the call of "{callee}" has no exact semantics: it is not the call of the implementation of a'
                " registered intrinsic (TensorIntrin.register gives a kernel a description)"
            )
        if name == "llvm.intr.assume":
            raise NotChecked("T.assume on data: the check runs on arbitrary data")
        if name not in _KNOWN and not name.startswith(("arith.", "math.")):
            raise NotChecked(f"{name} has no exact semantics")
        if name.startswith("arith.scaling_"):
            raise NotChecked(f"{name} depends on the bits of a float: it has no exact semantics")
        if any(isinstance(r.type, ir.VectorType) for r in op.results):
            raise NotChecked(f"{name} is a vector op: the check runs programs before vectorization")
