"""Blocks: iters with domain checks, and breakpoints."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.diagnostics import OutOfBoundsError
from tir_mlir.dialect.ir import Block, Func, attrs, constraints
from tir_mlir.dialect.ir.op_views import FuncOp, IndexSwitchOp, ScfIfOp, isa
from tir_mlir.interpreter.codegen import FunctionWriter, writes
from tir_mlir.interpreter.counters import RUNS

BREAKPOINT = "breakpoint"
"""The annotation of blocks and functions with a breakpoint before their body."""


def realize(w: FunctionWriter, block: Block) -> None:
    """Emit a block: bind and check the iters (`vi = i`), then the body."""
    leaves = w.keep(raise_outside_domain, "leave")
    with w.names.scope():
        for it in block.iters:
            variable, low = w.define(it.var, it.name), w.index(it.min)
            w.put(f"{variable} = {w.index(it.binding)}")
            first, size = it.min.as_constant(), it.extent.as_constant()
            high = w.index(it.min + it.extent) if first is None or size is None else str(first + size)
            w.put(f"if not {low} <= {variable} < {high}: {leaves}({it.name!r}, {variable}, {low}, {high})")
        for value in list(block.body.arguments)[len(block.iters) :]:
            w.variables[value] = "0"
        w.count(RUNS, block.name)
        _emit_breakpoint(
            w, block.op, block.name, [it.name for it in block.iters], [w.value(it.var) for it in block.iters]
        )
        w.body(block.body)


@writes("func.func")
def start(w: FunctionWriter, op: ir.Operation) -> None:
    """Emit the start of a function, which is its root block."""
    _emit_breakpoint(w, op, "root", [], [])


def _emit_breakpoint(w: FunctionWriter, op: ir.Operation, name: str, iters: list[str], values: list[str]) -> None:
    condition = w.options.breakpoints.get(name)
    if name == "root" and condition is None:
        condition = w.options.breakpoints.get(Func(op).name) if isa(op, FuncOp) else None
    if condition is None and attrs.get(op, attrs.ANNOTATIONS, {}).get(BREAKPOINT):
        condition = True
    if callable(condition):
        args = ", ".join(f"{n}={v}" for n, v in zip(iters, values, strict=True))
        w.put(f"if {w.keep(condition, f'stop_{len(w.shared.scope)}')}({args}): breakpoint()")
    elif condition:
        w.put("breakpoint()")


def raise_outside_domain(name: str, value: int, low: int, high: int) -> None:
    """Raise OutOfBoundsError for an iter outside its domain."""
    raise OutOfBoundsError(f"{name} = {value} is outside its domain [{low}, {high})", name, (value,), (high,))


# --- branches ---------------------------------------------------------------------------------------------------------


@writes("affine.if")
def affine_if(w: FunctionWriter, op: ir.Operation) -> None:
    tests = [f"{w.index(c.index)} {'==' if c.is_eq else '>='} 0" for c in constraints(op)]
    _branch(w, op, " and ".join(tests))


@writes("scf.if")
def scf_if(w: FunctionWriter, op: ir.Operation) -> None:
    _branch(w, op, w.value(ScfIfOp(op).condition))


def _branch(w: FunctionWriter, op: ir.Operation, test: str) -> None:
    results = [w.define(r) for r in op.results]
    header = w.text.op
    for word, region in zip((f"if {test}:", "else:"), op.regions, strict=False):
        for body in region.blocks:
            w.text.op = header
            w.put(word)
            with w.text.deeper(), w.names.scope():
                _emit_body(w, body, results)
    for result in op.results:
        w.unpack(result)


@writes("scf.execute_region", "memref.alloca_scope", "omp.parallel")
def region(w: FunctionWriter, op: ir.Operation) -> None:
    """A body that runs once: one thread does all the work of a parallel region."""
    results = [w.define(r) for r in op.results]
    w.put("if True:")
    with w.text.deeper(), w.names.scope():
        _emit_body(w, op.regions[0].blocks[0], results)
    for result in op.results:
        w.unpack(result)


@writes("scf.index_switch")
def switch(w: FunctionWriter, op: ir.Operation) -> None:
    results = [w.define(r) for r in op.results]
    header, value = w.text.op, w.value(IndexSwitchOp(op).selector)
    cases = [int(n) for n in attrs.integers(op, "cases")]
    default, *others = op.regions
    for number, (case, part) in enumerate([*zip(cases, others, strict=True), (None, default)]):
        w.text.op = header
        w.put("else:" if case is None and number else f"{'elif' if number else 'if'} {f'{value} == {case}' if number or case is not None else 'True'}:")  # fmt: skip  # noqa: E501
        with w.text.deeper(), w.names.scope():
            _emit_body(w, part.blocks[0], results)


def _emit_body(w: FunctionWriter, body: ir.Block, results: list[str]) -> None:
    with w.count_region():
        yielded = w.body(body)
        if results:
            w.put(f"{', '.join(results)} = {', '.join(yielded)}")
