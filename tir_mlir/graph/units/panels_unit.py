"""The panels of the weights of one function, as `schedules.prepack` or `schedules.plain_panels` chooses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from mlir import ir

from tir_mlir.dialect.ir import Func, enter_context
from tir_mlir.graph.units.unit_queries import (
    UnitQuery,
    canonical_text,
    decode_query,
    encode_result,
    parse_canonical,
    run_unit,
)
from tir_mlir.passes.lower.direct.program import dimensions_along, read_in_panels
from tir_mlir.passes.lower.direct.text import NotDirect
from tir_mlir.schedule import Schedule
from tir_mlir.schedules import WeightPanels, plain_panels, prepack
from tir_mlir.schedules.programs.plain import panel_width
from tir_mlir.script.module import PrimFunc
from tir_mlir.target import chosen
from tir_mlir.targets.stages import FAST, BuildOptions


@dataclass(frozen=True)
class FunctionWithPanels:
    """A function that reads panels, and these by the number of the parameter."""

    function: PrimFunc
    panels: dict[int, WeightPanels]


def packed_functions(weights: Mapping[PrimFunc, list[int]], options: BuildOptions) -> list[FunctionWithPanels | None]:
    """The functions with panels, None of one where panels are of no use. weights: the numbers of the parameters of each
    function that are weights."""
    questions = [UnitQuery(function, numbers) for function, numbers in weights.items()]
    unit = "pack_plainly" if options.optimize == FAST else "pack"
    return [_read(answer) for answer in run_unit(f"{__name__}:{unit}", questions, options)]


def pack(payload: bytes) -> bytes:
    """The answer to one question of `packed_functions`."""
    return _choose_panels(payload, prepack)


def pack_plainly(payload: bytes) -> bytes:
    """The same where the program is to be ready soon: without the steps of a schedule, if its code can be written
    directly."""
    text, numbers, target, _ = decode_query(payload)
    function = parse_canonical(text)
    with enter_context():
        func = function.func
        try:
            dimensions = dimensions_along(func, numbers)
        except NotDirect:
            return _choose_panels(payload, plain_panels)
        vector = chosen(None if target == "llvm" else target).lanes(32)
        panels = {number: _panels_along(func, number, along, vector) for number, along in dimensions.items()}
        for number, layout in panels.items():
            read_in_panels(func, number, layout.along, layout.inner, layout.shape)
    if not panels:
        return encode_result(None)
    return encode_result([canonical_text(function), [(number, asdict(layout)) for number, layout in panels.items()]])


def _panels_along(func: Func, number: int, along: int, vector: int) -> WeightPanels:
    shape = tuple(ir.MemRefType(func.args[number].type).shape)
    inner = tuple(n for n in range(len(shape)) if n != along)
    return WeightPanels("", shape, "float32", along, inner, panel_width(shape[along], vector))


def _choose_panels(payload: bytes, choose: Callable[..., dict[str, WeightPanels]]) -> bytes:
    text, numbers, target, threads = decode_query(payload)
    function = parse_canonical(text)
    with enter_context():
        names = {function.func.arg_name(number): number for number in numbers}
    sch = Schedule(function.module)
    panels = choose(sch, function.name, list(names), None if target == "llvm" else target, threads)
    if not panels:
        return encode_result(None)
    layouts = [(names[name], asdict(replace(layout, name=""))) for name, layout in panels.items()]
    return encode_result([canonical_text(sch.mod[function.name]), layouts])


def _read(answer: tuple[str, list[tuple[int, dict[str, Any]]]] | None) -> FunctionWithPanels | None:
    if answer is None:
        return None
    text, panels = answer
    return FunctionWithPanels(parse_canonical(text), {number: _layout(facts) for number, facts in panels})


def _layout(facts: Mapping[str, Any]) -> WeightPanels:
    """The panels that JSON, which has no tuples, describes."""
    plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()}
    return WeightPanels(**plain)
