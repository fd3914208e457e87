"""Logic, selection."""

from __future__ import annotations

from typing import Any

from tir_mlir.graph.fronts.aten.aten_table import Translation, aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter


def _logic(operator: str) -> Translation:
    return lambda e, x, other: e.binary(operator, x, other, "bool")


for _name in ("and", "or", "xor"):
    aten(f"logical_{_name}")(_logic(f"logical_{_name}"))


def _bits(name: str) -> Translation:
    return lambda e, x, other: e.binary(f"{'logical' if e.dtype == 'bool' else 'bitwise'}_{name}", x, other, e.dtype)


for _name in ("and", "or", "xor"):
    aten(f"bitwise_{_name}", f"__{_name}__")(_bits(_name))


@aten("logical_not")
def logical_not(e: TorchEmitter, x: Any) -> Any:
    return e.op("logical_not", e.cast(x, "bool"))


@aten("bitwise_not")
def bitwise_not(e: TorchEmitter, x: Any) -> Any:
    return e.op("logical_not" if e.dtype == "bool" else "bitwise_not", x)


@aten("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def where(e: TorchEmitter, condition: Any, x: Any, other: Any) -> Any:
    return e.op("where", e.cast(condition, "bool"), e.cast(x, e.dtype), e.cast(other, e.dtype))


@aten("masked_fill")
def masked_fill(e: TorchEmitter, x: Any, mask: Any, value: Any) -> Any:
    return e.op("where", mask, e.cast(value, e.dtype), x)


@aten("clamp", "clip")
def clamp(e: TorchEmitter, x: Any, min: Any = None, max: Any = None) -> Any:
    x = e.cast(x, e.dtype)
    if min is not None:
        x = e.binary("maximum", x, min, e.dtype)
    return x if max is None else e.binary("minimum", x, max, e.dtype)


@aten("clamp_min")
def clamp_min(e: TorchEmitter, x: Any, min: Any) -> Any:
    return e.binary("maximum", x, min, e.dtype)


@aten("clamp_max")
def clamp_max(e: TorchEmitter, x: Any, max: Any) -> Any:
    return e.binary("minimum", x, max, e.dtype)
