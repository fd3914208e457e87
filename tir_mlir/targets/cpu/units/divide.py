"""Divide a program into its host functions and the functions that they call, each in a module of its own."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.calls import CALL
from tir_mlir.dialect.calls.function_texts import callees_in, function_text, module_of
from tir_mlir.dialect.ir import attrs, create, direct_ops, walk
from tir_mlir.dialect.ir.op_views import FuncOp, isa
from tir_mlir.runtime.cache import store

PREFIX = "unit."
_HERE = "unit.of.this.text"


@dataclass(frozen=True)
class Unit:
    """A function in a module of its own.

    symbol: its name there, by its content.
    text: the module.
    name: what the program calls it.
    externals: the functions without a body that it calls.
    """

    symbol: str
    text: str
    name: str
    externals: tuple[str, ...] = ()


def divide(module: ir.Module) -> list[Unit]:
    """Move the private programs that host functions, which are public, call into modules of their own.

        func.func private @tir.dense(%x: memref<..>) {..}            func.func private @unit.5d41(memref<..>)
        func.func private @tir.dense_1(%x: memref<..>) {..}    ->    func.func @main(..) {
        func.func @main(..) {                                          call @unit.5d41(%x)
          call @tir.dense(%x); call @tir.dense_1(%y)                   call @unit.5d41(%y)
        }                                                            }

    Equal functions, but for names of their own and ids, are one unit. The module is modified. What else the units call,
    private functions and declarations, goes with them.
    """
    functions = {attrs.get(op, "sym_name"): op for op in direct_ops(module.operation) if isa(op, FuncOp)}
    hosts = [op for op in functions.values() if not _is_private(op)]
    calls = [op for host in hosts for op in walk.ops(host) if op.name == CALL]
    called = dict.fromkeys(name for call in calls if _is_program(functions.get(name := _callee(call))))
    units = {name: _unit(name, functions) for name in called}
    for call in calls:
        if (unit := units.get(_callee(call))) is not None:
            call.attributes["callee"] = ir.FlatSymbolRefAttr.get(unit.symbol)
    _declare(module, {unit.symbol: functions[name] for name, unit in units.items()})
    kept_names = {_callee(call) for call in calls}
    for name, op in functions.items():
        if _is_private(op) and name not in kept_names:
            op.erase()
    firsts: dict[str, Unit] = {}
    for unit in units.values():
        firsts.setdefault(unit.symbol, unit)
    return list(firsts.values())


def _is_private(op: ir.Operation) -> bool:
    return attrs.get(op, "sym_visibility", "public") == "private"


def _is_program(op: ir.Operation | None) -> bool:
    """Whether a function is private, and a program with a body."""
    return op is not None and _is_private(op) and attrs.ID in op.attributes and len(op.regions[0].blocks) > 0


def _callee(call: ir.Operation) -> str:
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value


def _unit(name: str, functions: dict[str, ir.Operation]) -> Unit:
    """The unit of a function, with all that it calls."""
    op = functions[name]
    _rename(op, _HERE)
    op.attributes[attrs.UNIT] = ir.UnitAttr.get()
    texts: dict[str, str] = {}
    for function in (order := [name]):
        texts[function] = function_text(functions[function])
        order += [c for c in callees_in(texts[function]) if c in functions and c not in order]
    content = module_of(texts.values())
    symbol = PREFIX + store.digest(content)
    externals = tuple(callee for callee in order if not len(functions[callee].regions[0].blocks))
    return Unit(symbol, content.replace(_HERE, symbol), name, externals)


def _rename(op: ir.Operation, symbol: str) -> None:
    op.attributes["sym_name"] = ir.StringAttr.get(symbol)
    facts = attrs.get(op, attrs.ATTRS, {})
    if "global_symbol" in facts:
        attrs.put(op, attrs.ATTRS, {**facts, "global_symbol": symbol})


def _declare(module: ir.Module, units: dict[str, ir.Operation]) -> None:
    """Declare units, of which these are functions."""
    with ir.InsertionPoint.at_block_begin(module.body):
        for symbol, op in units.items():
            types = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).inputs
            create.declare(symbol, types).attributes[attrs.UNIT] = ir.UnitAttr.get()
