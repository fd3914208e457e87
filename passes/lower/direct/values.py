"""What blocks compute, as LLVM IR: of one element, or of a vector of elements side by side."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir.passes.lower.direct.affine import Affine, flat
from tir_mlir.passes.lower.direct.program import (
    BranchExpr,
    ConstantExpr,
    Expression,
    LoadExpr,
    OperationExpr,
    PartialExpr,
)
from tir_mlir.passes.lower.direct.text import FunctionText, number

_BINARY = {"arith.addf": "fadd", "arith.subf": "fsub", "arith.mulf": "fmul", "arith.divf": "fdiv"}
_CALLS = {
    "arith.maximumf": "maximum",
    "arith.minimumf": "minimum",
    "arith.maxnumf": "maxnum",
    "arith.minnumf": "minnum",
    "math.absf": "fabs",
    "math.sqrt": "sqrt",
}
_PREDICATES = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()

Value = tuple[str, bool]
"""A value of LLVM IR, and whether it is a vector."""


class ExpressionWriter:
    """Writes expressions. width: elements of a vector, 1 for single elements. lane: the iter along which they are.
    iters: the values of iters, of the lane that of the first element. moved: what each iter is, of these. partial: what
    a reduction has so far. flags: of operations on floats."""

    def __init__(
        self,
        text: FunctionText,
        iters: Sequence[str],
        moved: Sequence[Affine],
        lane: int | None,
        width: int,
        partial: Value | None = None,
        flags: str = "",
    ):
        self._text, self._iters, self._moved = text, iters, moved
        self._lane, self._width, self._partial, self._flags = lane, width, partial, flags
        self._done: dict[int, Value] = {}

    @property
    def type(self) -> str:
        """The type of what is written."""
        return f"<{self._width} x float>" if self._width > 1 else "float"

    def widen(self, value: Value) -> str:
        """A value as a vector, if elements are written by vectors."""
        return self._splat(value, "float") if self._width > 1 else value[0]

    def write(self, value: Expression) -> Value:
        """The value of an expression."""
        if id(value) not in self._done:
            self._done[id(value)] = self._emit_value(value)
        return self._done[id(value)]

    def pointer(self, base: str, address: Affine) -> str:
        """The address of an element of a buffer."""
        return self._text.pointer(base, address.substitute(self._moved), self._iters)

    def _emit_value(self, value: Expression) -> Value:
        if isinstance(value, ConstantExpr):
            return number(value.value), False
        if isinstance(value, PartialExpr):
            assert self._partial is not None
            return self._partial
        if isinstance(value, LoadExpr):
            return self._emit_load(value)
        if isinstance(value, BranchExpr):
            return self._emit_branch(value)
        return self._emit_operation(value)

    def _emit_load(self, load: LoadExpr) -> Value:
        address = address_of(load)
        is_vector = self._width > 1 and self._lane is not None and bool(address.step(self._lane, self._width))
        type_ = self.type if is_vector else "float"
        pointer = self.pointer(load.memory.name, address)
        return self._text.emit_once(("load", type_, pointer), f"load {type_}, ptr {pointer}, align 4"), is_vector

    def _emit_branch(self, choice: BranchExpr) -> Value:
        """A branch: what is not chosen may read outside of buffers."""
        text, labels = self._text, [self._text.label() for _ in range(3)]
        holds = "true"
        for condition, is_zero in choice.conditions:
            what = text.index(condition.substitute(self._moved), self._iters)
            one = text.value(f"icmp {'eq' if is_zero else 'sge'} i64 {what}, 0")
            holds = one if holds == "true" else text.value(f"and i1 {holds}, {one}")
        text.do(f"br i1 {holds}, label %{labels[0]}, label %{labels[1]}")
        ends = []
        for label, side in zip(labels[:2], (choice.then, choice.otherwise), strict=True):
            text.start(label)
            outer_values, self._done = self._done, dict(self._done)
            with text.scope():
                result = self.widen(self.write(side))
            self._done = outer_values
            ends.append(f"[ {result}, %{text.block} ]")
            text.do(f"br label %{labels[2]}")
        text.start(labels[2])
        return text.value(f"phi {self.type} {', '.join(ends)}"), self._width > 1

    def _emit_operation(self, operation: OperationExpr) -> Value:
        operands = [self.write(part) for part in operation.operands]
        is_vector = any(vector for _, vector in operands)
        if operation.name == "arith.select":
            return self._emit_select(operands, is_vector)
        names = [self._splat(operand, "float") if is_vector else operand[0] for operand in operands]
        type_ = f"<{self._width} x float>" if is_vector else "float"
        if operation.name == "arith.cmpf":
            predicate = _PREDICATES[operation.predicate]
            return self._text.value(f"fcmp {predicate} {type_} {names[0]}, {names[1]}"), is_vector
        if operation.name == "arith.negf":
            return self._text.value(f"fneg {type_} {names[0]}"), is_vector
        if (name := _BINARY.get(operation.name)) is not None:
            return self._text.value(f"{name} {self._flags}{type_} {names[0]}, {names[1]}"), is_vector
        suffix = f"v{self._width}f32" if is_vector else "f32"
        arguments = ", ".join(f"{type_} {name}" for name in names)
        root = operation.name == "math.rsqrt"
        name = "sqrt" if root else _CALLS[operation.name]
        result = self._text.value(f"call {type_} @llvm.{name}.{suffix}({arguments})")
        if root:
            one = self._splat((number(1.0), False), "float") if is_vector else number(1.0)
            result = self._text.value(f"fdiv {type_} {one}, {result}")
        return result, is_vector

    def _emit_select(self, operands: Sequence[Value], is_vector: bool) -> Value:
        (condition, of_vectors), *sides = operands
        names = [self._splat(side, "float") if is_vector else side[0] for side in sides]
        type_ = f"<{self._width} x float>" if is_vector else "float"
        of_type = f"<{self._width} x i1>" if of_vectors else "i1"
        return self._text.value(f"select {of_type} {condition}, {type_} {names[0]}, {type_} {names[1]}"), is_vector

    def _splat(self, value: Value, element: str) -> str:
        name, is_vector = value
        if is_vector:
            return name
        width = self._width
        if not name.startswith("%"):
            return f"<{', '.join([f'{element} {name}'] * width)}>"
        first = self._text.emit_once(
            ("first", name, width), f"insertelement <{width} x {element}> poison, {element} {name}, i64 0"
        )
        vector = f"<{width} x {element}>"
        shuffled = f"shufflevector {vector} {first}, {vector} poison, <{width} x i32> zeroinitializer"
        return self._text.emit_once(("splat", name, width), shuffled)


def address_of(load: LoadExpr) -> Affine:
    """The number of the element that is loaded."""
    return load.indices[0] if len(load.indices) == 1 else flat(load.indices, load.memory.shape)


def fits(value: Expression, lane: int, width: int) -> bool:
    """Whether vectors along an iter, from multiples of their width on, can be computed: each load is of adjacent
    elements, or of one, and conditions are the same for all."""
    if isinstance(value, LoadExpr):
        return address_of(value).step(lane, width) in (0, 1)
    if isinstance(value, OperationExpr):
        return all(fits(part, lane, width) for part in value.operands)
    if isinstance(value, BranchExpr):
        alike = not any(condition.uses(lane) for condition, _ in value.conditions)
        return alike and fits(value.then, lane, width) and fits(value.otherwise, lane, width)
    return True
