"""What an instruction of a warp occupies: slots of schedulers, pipes of a multiprocessor; when its result is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tir_mlir.ptx import fragments
from tir_mlir.ptx.parser import PtxInstruction
from tir_mlir.ptx.prediction.cards import Card
from tir_mlir.ptx.prediction.slices import ACCESSES
from tir_mlir.ptx.registers import vector
from tir_mlir.ptx.types import DTYPES, size_of

WARP = 32
OF_SCHEDULERS = ("issue", "fma", "alu", "fp64", "sfu", "tensor")
"""Pipes that each scheduler has a part of; the others belong to the multiprocessor."""
ARITHMETIC_LATENCY, SFU_LATENCY, SHUFFLE_LATENCY, TENSOR_LATENCY, BARRIER_LATENCY = 4, 20, 24, 33, 25
"""Cycles to the use of a result: Jia et al. 2018 (arXiv:1804.06826), Luo et al. 2024 (arXiv:2402.13499)."""
L1_LATENCY = 34
"""Cycles to the use of what the L1 cache has, local memory too."""
_FREE = frozenset("mov cvta ld.param pmevent nanosleep createpolicy setmaxnreg griddepcontrol fence membar".split())
_SFU = frozenset("ex2 lg2 sin cos tanh rcp rsqrt sqrt".split())
_LOGIC = frozenset("and or xor not shl shr add sub setp min max".split())
_OF_HALVES = {"tf32": 0.5, "f32": 0.5, "s8": 2, "u8": 2, "e4m3": 2, "e5m2": 2}
"""The rates of tensor cores by the type of the inputs, of that of float16."""
_DIVISION = {"u32": 20, "s32": 24, "b32": 20, "u16": 16, "s16": 16, "u64": 70, "s64": 76}
"""Instructions of an integer division (as ptxas makes them, CUDA 12)."""


@dataclass(frozen=True)
class Cost:
    """Of one warp. pipes: cycles of the whole multiprocessor by pipe; latency: cycles from its issue to the use of its
    result, memory's apart."""

    pipes: Mapping[str, float] = field(default_factory=dict)
    latency: float = ARITHMETIC_LATENCY


def cost_of(ins: PtxInstruction, card: Card) -> Cost:
    """The cost of an instruction; that of the memory it accesses is counted by request."""
    name, types = ins.parts[0], [p for p in ins.parts[1:] if p in DTYPES]
    type_ = types[-1] if types else "b32"
    if name in _FREE or (name == "ld" and {"param", "param::entry"} & set(ins.parts)):
        return Cost({}, 0)
    if name in ("mma", "wmma", "wgmma") and any(p.startswith("m") and "n" in p and p[1].isdigit() for p in ins.parts):
        if name != "wmma" or ins.parts[1] == "mma":
            return _product(ins, card)
    if name in ("ld", "st") and "local" in ins.parts:
        words = size_of(type_) * len(vector(ins.operands[name == "st"])) / 4
        return _use(card, (("issue", 1), ("memory", words)), L1_LATENCY)
    if name in ACCESSES or name in ("mbarrier", "bar", "barrier"):
        return _use(card, (("issue", 1),), 0)
    if name in ("shfl", "movmatrix"):
        return _use(card, (("issue", 1), ("memory", 1)), SHUFFLE_LATENCY)
    if name == "redux":
        return _use(card, (("issue", 1), ("sfu", 1)), SHUFFLE_LATENCY)
    if name in _SFU or (name == "div" and type_ in ("f16", "f32", "f64", "bf16")):
        return _function(ins, card, type_)
    if name in ("div", "rem"):
        return _use(card, (("alu", _DIVISION.get(type_, 20)),), 10 * ARITHMETIC_LATENCY)
    if name == "cvt":
        return _conversion(card, types)
    return _arithmetic(ins, card, type_)


def _use(card: Card, uses: Iterable[tuple[str, float]], latency: float = ARITHMETIC_LATENCY) -> Cost:
    """uses: (pipe, instructions of the warp there), each of which takes a slot of its scheduler, too."""
    rates = {"fma": card.f32, "alu": card.alu, "fp64": card.f64, "sfu": card.sfu, "memory": WARP}
    pipes: dict[str, float] = {}
    for pipe, count in uses:
        if pipe != "issue":
            pipes[pipe] = pipes.get(pipe, 0) + count * WARP / rates[pipe]
        if pipe != "memory":
            pipes["issue"] = pipes.get("issue", 0) + count / 4
    return Cost(pipes, latency)


def _product(ins: PtxInstruction, card: Card) -> Cost:
    """A product of matrices; the part of a warp of one by a warpgroup."""
    m, n, k = fragments.shape_of(ins.parts)
    of_group = ins.parts[0] == "wgmma"
    types = [p for p in ins.parts if p in DTYPES]
    inputs = types[1] if len(types) > 2 else "f16"
    rate = float(card.wgmma) if of_group else card.tensor
    rate *= card.f64 * 4 / card.tensor if inputs == "f64" else _OF_HALVES.get(inputs, 1)
    if not rate:
        return Cost({"issue": 1 / 4}, TENSOR_LATENCY)
    cycles = 2 * m * n * k / rate / (4 if of_group else 1)
    return Cost({"issue": 1 / 4, "tensor": cycles}, TENSOR_LATENCY)


def _function(ins: PtxInstruction, card: Card, type_: str) -> Cost:
    """Functions of one number: approximations by the special function unit, rounded ones with corrections."""
    name = ins.parts[0]
    if type_ == "f64":
        return _use(card, (("sfu", 1), ("fp64", 8)), 60)
    if "approx" in ins.parts:
        scaling = 0 if "ftz" in ins.parts or type_ != "f32" else 2  # of numbers below the normal ones
        extra = 1 if name in ("div", "sqrt") else 0
        return _use(card, (("sfu", 1), ("fma", scaling + extra)), SFU_LATENCY + 4 * (scaling + extra))
    if "full" in ins.parts:
        return _use(card, (("sfu", 1), ("fma", 4)), SFU_LATENCY + 16)
    return _use(card, (("sfu", 1), ("fma", 7), ("alu", 1)), SFU_LATENCY + 28)


def _conversion(card: Card, types: list[str]) -> Cost:
    kinds = ["f" if t.lstrip("bte").startswith("f") or t[:2] in ("e4", "e5") else "i" for t in types]
    if kinds == ["i", "i"]:
        return (
            Cost({}, 0) if size_of(types[0]) > size_of(types[1]) and types[1][0] == "u" else _use(card, (("alu", 1),))
        )
    if "f64" in types or "f" not in kinds or "i" in kinds:
        return _use(card, (("sfu", 1),), SFU_LATENCY - 6)
    return _use(card, (("alu", 1),))


def _arithmetic(ins: PtxInstruction, card: Card, type_: str) -> Cost:
    name = ins.parts[0]
    wide = 2 if size_of(type_) == 8 and type_ not in ("f64", "f32x2") else 1
    if type_ == "f64" and name in ("add", "sub", "mul", "fma", "min", "max", "setp"):
        return _use(card, (("fp64", 1),), 8 if card.f64 >= 32 else 40)
    if type_ in ("f32", "f16", "f16x2", "bf16", "bf16x2") and name in ("add", "sub", "mul", "fma"):
        return _use(card, (("fma", 1),))
    if name in ("mul", "mad"):  # of integers: half of the lanes that multiply floats
        return _use(card, (("fma", (3 if wide > 1 else 1) * card.f32 / card.alu),)) if wide else Cost()
    return _use(card, (("alu", wide if name in _LOGIC else 1),))
