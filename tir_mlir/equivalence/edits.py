"""IR edits shared by the rewrites of the check: types, calls of the runtime functions, constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from mlir import ir

from tir_mlir.dialect.ir import emit_map, walk
from tir_mlir.dialect.ir.op_traits import index_operands
from tir_mlir.dialect.ir.op_views import FuncOp, isa
from tir_mlir.equivalence.field import field_functions

FLOATS = (ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type)


def is_float(type_: ir.Type) -> bool:
    return isinstance(type_, FLOATS)


def change_float_types(everything: Sequence[ir.Operation], change: Callable[[ir.Type], ir.Type]) -> None:
    """Change float types everywhere: values, memrefs, signatures."""

    def new(type_: ir.Type) -> ir.Type:
        if is_float(type_):
            return change(type_)
        if isinstance(type_, ir.MemRefType) and is_float(type_.element_type):
            return ir.MemRefType.get(type_.shape, change(type_.element_type), type_.layout, type_.memory_space)
        return type_

    for op in everything:
        for value in [*op.results, *(a for r in op.regions for b in r.blocks for a in b.arguments)]:
            if (changed := new(value.type)) != value.type:
                value.set_type(changed)
        if isa(op, FuncOp):
            signature = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
            inputs, results = [new(t) for t in signature.inputs], [new(t) for t in signature.results]
            op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))


class OpBuilder:
    """Creates ops at the insertion point, and records which runtime functions they call."""

    def __init__(self) -> None:
        self.called: set[str] = set()
        self.ordered = False
        """Whether the result depends on comparisons of data."""
        self.constants: set[Fraction] = set()
        """The numbers of the program."""

    def call(self, name: str, *operands: ir.Value, result: ir.Type | None = None) -> ir.Value:
        """Call one of `field_functions.FUNCTIONS`."""
        self.called.add(name)
        callee = ir.FlatSymbolRefAttr.get(field_functions.PREFIX + name)
        call_op = ir.Operation.create("func.call", [result or self.word()], list(operands), {"callee": callee})
        return call_op.results[0]

    def word(self) -> ir.Type:
        return ir.IntegerType.get_signless(64)

    def number(self, value: int) -> ir.Value:
        """An i64 constant."""
        return self.constant(ir.IntegerAttr.get(self.word(), value))

    def index(self, value: int) -> ir.Value:
        return self.constant(ir.IntegerAttr.get(ir.IndexType.get(), value))

    def bit(self, value: bool) -> ir.Value:
        return self.constant(ir.IntegerAttr.get(ir.IntegerType.get_signless(1), int(value)))

    def constant(self, value: ir.IntegerAttr | ir.FloatAttr) -> ir.Value:
        return ir.Operation.create("arith.constant", [value.type], [], {"value": value}).results[0]

    def binary(self, name: str, a: ir.Value, b: ir.Value) -> ir.Value:
        return ir.Operation.create(name, [a.type], [a, b]).results[0]

    def plus(self, a: ir.Value, b: ir.Value) -> ir.Value:
        return self.binary("arith.addi", a, b)

    def cmpi(self, word: str, a: ir.Value, b: ir.Value) -> ir.Value:
        number = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge").index(word)
        predicate = ir.IntegerAttr.get(self.word(), number)
        i1 = ir.IntegerType.get_signless(1)
        return ir.Operation.create("arith.cmpi", [i1], [a, b], {"predicate": predicate}).results[0]

    def select(self, c: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
        return ir.Operation.create("arith.select", [a.type], [c, a, b]).results[0]

    def widen(self, value: ir.Value, how: str) -> ir.Value:
        """An integer or index as 64 bits; `how` is the extension."""
        return self._cast(value, how, self.word())

    def narrow(self, value: ir.Value, type_: ir.Type) -> ir.Value:
        """An i64 as a narrower integer or an index."""
        return self._cast(value, "arith.trunci", type_)

    def _cast(self, value: ir.Value, how: str, type_: ir.Type) -> ir.Value:
        if value.type == type_:
            return value
        name = "arith.index_cast" if ir.IndexType.get() in (value.type, type_) else how
        return ir.Operation.create(name, [type_], [value]).results[0]

    def indices_of(self, op: ir.Operation) -> list[ir.Value]:
        """The indices of an access as values."""
        if not op.name.startswith("affine"):
            return index_operands(op)
        values = []
        for index in walk.access_indices(op):
            map_, operands = emit_map([index])
            attributes = {"map": ir.AffineMapAttr.get(map_)}
            values.append(
                ir.Operation.create("affine.apply", [ir.IndexType.get()], list(operands), attributes).results[0]
            )
        return values

    @staticmethod
    def origin_text(op: ir.Operation) -> str:
        """The name of the block that an op comes from, from its location (set by `plain_loops`)."""
        location = op.location
        return f'block "{location.name_str}"' if location.is_a_name() else "the program"
