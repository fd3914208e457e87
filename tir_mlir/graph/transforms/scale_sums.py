"""What scales and rounds sums of integers, an operator for each step, as one operator."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import enter_context, symbols_kept
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.rewrite import NodeCall, Rewriter, is_op, uses
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.topi.quantization import MORE_OF_SUMS


def scale_sums(graph: Graph) -> Graph:
    """Make one operator of those that scale and round sums of integers, each of which is to the bit what it was.

        lv = R.subtract(sums, offset)
        lv1 = R.astype(lv, "float32")
        lv2 = R.multiply(lv1, scale)
        lv3 = R.add(lv2, bias)                        gv = R.requantize(sums, scale, offset, bias,
        lv4 = R.nn.relu(lv3)                    ->                      given="offset bias", relu=True,
        gv = R.round_to(lv4, "uint8")                                   out_dtype="uint8")

    So a layer is built as its product and one operator. Integers that are added to the sums become part of the offset;
    a bound and a dequantized tensor that is added are operands, too. Sums of two dequantized tensors are such an
    operator as well. Steps whose results others read remain.
    """
    copy = graph.clone()
    with enter_context(), symbols_kept(copy.module.mlir):
        rewriter, taken = Rewriter(copy), set[ir.Operation]()
        for call in reversed([rewriter.call(node) for node in copy.func.nodes]):
            is_last = call.node.op not in taken and kind_of(call.op.short) is OperatorKind.ELEMENTWISE
            if is_last and (steps := _Steps(call)).read():
                taken.update(steps.ops)
                call.replace(steps.join())
    return clean(copy)


class _Steps:
    """The steps that end in a call, read from the last one to the first. value: what remains to be read."""

    def __init__(self, last: NodeCall):
        self.last, self.value, self.relu = last, last.node.results[0], False
        self.operands: dict[str, ir.Value] = {}
        self.offsets: list[tuple[str, ir.Value]] = []
        self.ops: list[ir.Operation] = []

    def read(self) -> bool:
        """Read all steps. Returns whether they are those of integers that are no weights."""
        if self.last.is_weight(self.value):
            return False
        if (rounding := self._call("round_to")) is not None:
            self.operands |= dict(zip(["zero_point"], rounding.args[1:], strict=False))
            self._go_on(rounding)
        if self.last.type_of(self.value).dtype != "float32":
            return False
        self._take("minimum", "top")
        if (bound := self._call("nn.relu")) is not None:
            self.relu = True
            self._go_on(bound)
        self._take_addend()
        self._take("add", "bias")
        return self._take_dequantize() if self._call("dequantize") else self._take_scale()

    def join(self) -> ir.Value:
        """The call of one operator for all of them."""
        for name, value in reversed(self.offsets):
            self._add_offset(name, value)
        given, made = [name for name in MORE_OF_SUMS if name in self.operands], self.last.struct_info
        operands = [self.value, self.operands["scale"], *(self.operands[name] for name in given)]
        attrs = {"given": " ".join(given), "relu": self.relu, "out_dtype": made.dtype}
        return self.last.emit("requantize", operands, attrs, made)

    def _add_offset(self, name: str, value: ir.Value) -> None:
        """x - a + b is x - (a - b)."""
        if (before := self.operands.get("offset")) is not None:
            value = self.last.emit("add" if name == "subtract" else "subtract", [before, value])
        elif name == "add":
            value = self.last.emit("negative", [value])
        self.operands["offset"] = value

    def _call(self, name: str) -> NodeCall | None:
        """The call of an operator that computes the value, which only the step after it reads; None if none does."""
        call = self.last.defining_call(self.value, is_op(name))
        return call if call is not None and (not self.ops or uses(self.value) == 1) else None

    def _go_on(self, call: NodeCall, operand: int = 0) -> None:
        """Take a call as a step. operand: the number of what is to be read before it."""
        self.ops.append(call.node.op)
        self.value = call.args[operand]

    def _step(self, name: str, orders: Sequence[int] = (0, 1)) -> ir.Value | None:
        """Take a call of an operator of two operands, if one is of all elements and the other one is a weight or
        smaller, and return that. orders: the numbers that the first of these may have."""
        if (call := self._call(name)) is None:
            return None
        for number in orders:
            other = call.args[1 - number]
            is_small = self.last.is_weight(other) or self.last.shape_of(other) != self.last.shape
            if is_small and self.last.shape_of(call.args[number]) == self.last.shape:
                self._go_on(call, number)
                return other
        return None

    def _take(self, name: str, operand: str) -> bool:
        """Take a step whose other operand is one of `requantize`. Returns whether there is one."""
        if (value := self._step(name)) is None:
            return False
        self.operands[operand] = value
        return True

    def _take_scale(self) -> bool:
        """Take the steps that make floats of sums. Returns whether there are any."""
        if not self._take("multiply", "scale") or (cast := self._call("astype")) is None:
            return False
        self._go_on(cast)
        while self._take_offset():
            pass
        return self.last.type_of(self.value).dtype == "int32"

    def _take_offset(self) -> bool:
        """Take a step of integers. Returns whether there is one."""
        for name, orders in (("subtract", (0,)), ("add", (0, 1))):
            if (value := self._step(name, orders)) is not None:
                self.offsets.append((name, value))
                return True
        return False

    def _take_dequantize(self) -> bool:
        """Take the step that makes floats of integers with one scale. Returns whether there is one."""
        call = self._call("dequantize")
        if call is None or not self._has_one_scale(call):
            return False
        self.operands |= dict(zip(("scale", "offset"), call.args[1:], strict=False))
        self._go_on(call)
        return True

    def _take_addend(self) -> None:
        """Take the addition of a dequantized tensor, if that is read by it only and has one scale."""
        if (call := self._call("add")) is None:
            return
        for number in (0, 1):
            value = call.args[1 - number]
            added = call.defining_call(value, is_op("dequantize"))
            if added is not None and uses(value) == 1 and self._has_one_scale(added):
                self.operands |= dict(zip(("addend", "addend_scale", "addend_zero"), added.args, strict=False))
                self.ops.append(added.node.op)
                self._go_on(call, number)
                return

    def _has_one_scale(self, call: NodeCall) -> bool:
        """Whether a call makes all elements floats by one scale."""
        single = all(size == 1 for value in call.args[1:] for size in call.shape_of(value))
        return single and call.shape == self.last.shape and call.struct_info.dtype == "float32"
