"""Before the conversion: bufferize, generalize named ops, expand those that it does not take, results to parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mlir import ir
from mlir.dialects import arith, linalg, math, memref
from mlir.passmanager import PassManager

from tir_mlir.dialect.diagnostics import LinalgError
from tir_mlir.dialect.ir import Func, attrs, funcs, walk
from tir_mlir.dialect.ir.lowering_op_views import EmptyOp, FillOp, LinalgGenericOp, SoftmaxOp
from tir_mlir.dialect.ir.op_views import AllocOp, ConstantOp, FPowIOp, MemrefCastOp, defining_op, isa
from tir_mlir.passes.linalg import reshapes
from tir_mlir.passes.linalg.constant_buffers import constants_to_params, erase_globals
from tir_mlir.passes.linalg.emit_linalg import generic_op
from tir_mlir.passes.linalg.tensor_reshapes import rewrite_tensor_reshapes

ALLOCATED_PARAMETER = "tir.claim"  # on an allocation that became a parameter: its position, until its sizes are known
BUFFERIZE = "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map}"
GENERALIZE = "linalg-generalize-named-ops"
UPSTREAM = (BUFFERIZE, GENERALIZE)
_COMMAND = BUFFERIZE.replace("{", '="').replace("}", '"')
_HINT = (
    f"; tensors are converted to memrefs by `mlir-opt --{_COMMAND}`, which stops here: remove "
    "this op from the program first"
)


def prepare(module: ir.Module) -> dict[str, dict[int, np.ndarray]]:
    """In place: make every tensor a memref and every linalg op a `linalg.generic`, and remove function results.

    The name of a named op is kept in the location of its generic, for the name of the block. Returns the constants that
    became parameters, by function and number.
    """
    for op in walk.ops(module.operation):
        if op.name.startswith("linalg.") and not isa(op, LinalgGenericOp) and len(op.regions):
            op.location = ir.Location.name(op.name.partition(".")[2], op.location)
    if any(_has_tensor(op) for op in walk.ops(module.operation)):
        rewrite_tensor_reshapes(module)
        own_destinations(module)
        run_upstream(module, [BUFFERIZE], _HINT)
    expand_integer_powers(module)
    decompose_softmax(module)
    constants = {func.name: constants_to_params(module, func) for func in funcs(module)}
    for func in funcs(module):
        results_to_params(func)
    erase_globals(module)
    run_upstream(module, [GENERALIZE])
    return constants


def _has_tensor(op: ir.Operation) -> bool:
    values = [*op.results, *(a for region in op.regions for block in region.blocks for a in block.arguments)]
    return any(isinstance(v.type, (ir.RankedTensorType, ir.UnrankedTensorType)) for v in values)


def results_to_params(func: Func) -> None:
    """`return %alloc` -> an additional parameter instead of the allocation; a returned parameter is dropped, and a
    returned view, such as a reshaped buffer, is copied to a parameter of its shape.
    """
    if len(func.op.regions[0].blocks) != 1:
        raise LinalgError(f"function {func.name} has several basic blocks; only one is supported", func.op.location)
    end = list(func.body.operations)[-1].operation
    facts = _argument_facts(func)
    returned = list(dict.fromkeys(_source(v, end) for v in end.operands))
    for value in returned:
        if reshapes.is_view(value):
            type_ = ir.MemRefType(value.type)
            arg = func.body.add_argument(ir.MemRefType.get(type_.shape, type_.element_type), value.owner.location)
            with ir.InsertionPoint(end), value.owner.location:
                memref.copy(value, arg)
            facts.append(ir.DictAttr.get({}))
        elif not isinstance(value.owner, ir.Block):
            arg = func.body.add_argument(value.type, value.owner.location)
            value.replace_all_uses_with(arg)
            value.owner.operation.attributes[ALLOCATED_PARAMETER] = attrs.to_attr(len(facts))
            facts.append(ir.DictAttr.get({}))
    if len(end.operands):
        with ir.InsertionPoint(end), end.location:
            ir.Operation.create("func.return")
        end.erase()
    if "res_attrs" in func.op.attributes:
        del func.op.attributes["res_attrs"]
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get(facts)
    update_type(func)


def _source(value: ir.Value, end: ir.Operation) -> ir.Value:
    """The parameter, the allocation (also through casts) or the view that is returned."""
    while cast := defining_op(value, MemrefCastOp):
        value = cast.source
    owner = value.owner
    if isinstance(owner, ir.Block) or isa(owner, AllocOp) or reshapes.is_view(value):
        if isinstance(value.type, ir.MemRefType):
            return value
    what = "a parameter" if isinstance(owner, ir.Block) else owner.name
    raise LinalgError(
        f"the function returns a {value.type} made by {what}; it may return whole buffers that it "
        "allocates, or write its results to parameters",
        end.location,
    )


def _argument_facts(func: Func) -> list[ir.Attribute]:
    """The attributes of the arguments, none of those that were added."""
    existing = list(ir.ArrayAttr(func.op.attributes["arg_attrs"])) if "arg_attrs" in func.op.attributes else []
    return [*existing, *(ir.DictAttr.get({}) for _ in func.args[len(existing) :])]


def update_type(func: Func) -> None:
    """Set the type of the function to that of its block arguments, without results."""
    func.op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([a.type for a in func.args], []))


def run_upstream(module: ir.Module, passes: Sequence[str], hint: str = "") -> None:
    """Run passes in order, in place. Errors: LinalgError with the first diagnostic, followed by `hint`."""
    errors: list[Any] = []

    def take(diagnostic: Any) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            errors.append((diagnostic.message, diagnostic.location))
        return True

    context: Any = module.context
    handler = context.attach_diagnostic_handler(take)
    # otherwise the bindings abort when a pass emits an error but succeeds
    context.emit_error_diagnostics = True
    try:
        PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        errors = errors or [(str(error).splitlines()[0], None)]
    finally:
        context.emit_error_diagnostics = False
        handler.detach()
    if errors:
        message, location = errors[0]
        raise LinalgError(message + hint, location)


# --- `math.fpowi` with a known exponent as products ------------------------------------------------------------------


MOST = 64
"""The largest exponent that becomes products."""


def expand_integer_powers(module: ir.Module) -> None:
    """Replace each power of a float by a known integer, in place: by squares, and products of them.

        math.fpowi %x, 3   -->   %x2 = %x * %x; %x2 * %x
        math.fpowi %x, -2  -->   1 / (%x * %x)

    Errors: LinalgError for an exponent that is not a constant, or beyond 64.
    """
    for power in walk.views_in(module.operation, FPowIOp):
        with ir.InsertionPoint(power.op), power.op.location:
            power.result.replace_all_uses_with(_power(power.lhs, _exponent(power)))
        power.op.erase()


def _exponent(power: FPowIOp) -> int:
    owner = power.rhs.owner
    if isinstance(owner, ir.Block) or not isa(owner, ConstantOp):
        raise LinalgError(
            "the exponent of math.fpowi is not a constant; fix: math.powf, with it as a float", power.op.location
        )
    number = ir.IntegerAttr(owner.attributes["value"]).value
    if abs(number) > MOST:
        raise LinalgError(
            f"math.fpowi with the exponent {number}; fix: math.powf, with it as a float", power.op.location
        )
    return number


def _power(base: ir.Value, exponent: int) -> ir.Value:
    product, square, bits = None, base, abs(exponent)
    while bits:
        if bits & 1:
            product = square if product is None else arith.mulf(product, square)
        bits >>= 1
        square = arith.mulf(square, square) if bits else square
    if product is not None and exponent > 0:
        return product
    unit = arith.constant(base.type, ir.FloatAttr.get(base.type, 1.0))
    return unit if product is None else arith.divf(unit, product)


# --- a destination of its own for each linalg op, where the program shares one `tensor.empty` ------------------------


def own_destinations(module: ir.Module) -> None:
    """Repeat what makes a tensor of no values, or of one number, for each op that writes it, in place.

        %e = tensor.empty()                                 %e = tensor.empty()
        %p = linalg.fill ins(%zero) outs(%e)                %p = linalg.fill ins(%zero) outs(%e)
        %q = linalg.matmul ins(%a, %b) outs(%p)     ->      %q = linalg.matmul ins(%a, %b) outs(%p)
        %r = linalg.add ins(%q, %c) outs(%e)                %e1 = tensor.empty()
                                                            %r = linalg.add ins(%q, %c) outs(%e1)

    Common subexpression elimination joins them. In one buffer the second op would overwrite what the first one made,
    and no step could move or fuse them.
    """
    for kind in (FillOp, EmptyOp):
        for op in [o for o in walk.ops(module.operation) if isa(o, kind) and len(o.results) == 1]:
            if kind is FillOp and not _is_empty(FillOp(op).target):
                continue
            for use in _destination_uses(op)[1:]:
                with ir.InsertionPoint(use.owner):
                    use.owner.operands[use.operand_number] = op.clone().results[0]


def _destination_uses(op: ir.Operation) -> list[ir.OpOperand]:
    """The uses of a result as a destination of linalg ops, in the order of the program."""
    uses = [use for use in op.results[0].uses if _is_destination(use)]
    return uses[::-1]  # MLIR lists the last one first


def _is_destination(use: ir.OpOperand) -> bool:
    owner = use.owner
    return owner.name.startswith("linalg.") and use.operand_number >= len(owner.operands) - len(owner.results)


def _is_empty(value: ir.Value) -> bool:
    return defining_op(value, EmptyOp) is not None


# --- `linalg.softmax` on buffers as reductions and pointwise ops -----------------------------------------------------


def decompose_softmax(module: ir.Module) -> None:
    """Replace each softmax on buffers, in place.

        linalg.softmax dimension(1) ins(%A) outs(%B)
    -->
        m[i] = max over j of A[i, j];  e[i, j] = exp(A[i, j] - m[i]);  s[i] = sum over j of e[i, j]
        B[i, j] = e[i, j] / s[i]

    Errors: LinalgError for elements that are no floats.
    """
    for softmax in walk.views_in(module.operation, SoftmaxOp):
        _Softmax(softmax).run()
        softmax.op.erase()


class _Softmax:
    def __init__(self, softmax: SoftmaxOp):
        self.source, self.target, op = softmax.source, softmax.target, softmax.op
        self.op, self.type = op, ir.MemRefType(self.source.type)
        if not isinstance(self.type.element_type, (ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type)):
            raise LinalgError(f"linalg.softmax of {self.type.element_type}: its elements are floats", op.location)
        self.axis = ir.IntegerAttr(op.attributes["dimension"]).value
        self.kept = [d for d in range(self.type.rank) if d != self.axis]
        self.all = ir.AffineMap.get_identity(self.type.rank)
        self.row = ir.AffineMap.get(self.type.rank, 0, [ir.AffineExpr.get_dim(d) for d in self.kept])

    def run(self) -> None:
        with ir.InsertionPoint(self.op), self.op.location:
            largest = self._buffer(self.kept, float("-inf"))
            self._generic("max", [self.source], largest, [self.all, self.row], lambda x, m: arith.maximumf(x, m))
            powers = self._buffer(range(self.type.rank))
            self._generic("exp", [self.source, largest], powers, [self.all, self.row, self.all],
                          lambda x, m, _: math.exp(arith.subf(x, m)))  # fmt: skip
            total = self._buffer(self.kept, 0.0)
            self._generic("sum", [powers], total, [self.all, self.row], lambda x, s: arith.addf(s, x))
            self._generic("div", [powers, total], self.target, [self.all, self.row, self.all],
                          lambda x, s, _: arith.divf(x, s))  # fmt: skip

    def _buffer(self, axes: Sequence[int], start: float | None = None) -> ir.Value:
        """A buffer over some axes of the operand, filled with a number."""
        shape = [self.type.shape[a] for a in axes]
        sizes = [
            memref.dim(self.source, arith.constant(ir.IndexType.get(), a)) for a in axes if self.type.is_dynamic_dim(a)
        ]
        buffer = memref.alloc(ir.MemRefType.get(shape, self.type.element_type), sizes, [])
        if start is not None:
            with ir.Location.name("fill", self.op.location):
                value = arith.constant(self.type.element_type, ir.FloatAttr.get(self.type.element_type, start))
                linalg.fill(value, outs=[buffer])
        return buffer

    def _generic(
        self, word: str, inputs: Sequence[ir.Value], output: ir.Value, maps: Sequence[ir.AffineMap],
        value: Callable[..., ir.Value],
    ) -> None:  # fmt: skip
        """A generic over all axes: a reduction along that of the softmax if its output does not have it."""
        folds = maps[-1] == self.row
        kinds = ["R" if d == self.axis and folds else "S" for d in range(self.type.rank)]
        with ir.Location.name(f"softmax_{word}", self.op.location):
            generic = generic_op(inputs, [output], maps, kinds)
            with ir.InsertionPoint(generic.regions[0].blocks[0]):
                ir.Operation.create("linalg.yield", operands=[value(*generic.regions[0].blocks[0].arguments)])
