"""The schedule of one function, as `schedules.auto` or `schedules.plain` picks it, or none where its code is written
directly."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tir_mlir.dialect.computation.float_operations import float_operations
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import attrs, enter_context, walk
from tir_mlir.graph.units.unit_queries import (
    UnitQuery,
    canonical_text,
    decode_query,
    encode_result,
    parse_canonical,
    run_unit,
)
from tir_mlir.passes.lower.direct.code import is_direct
from tir_mlir.passes.lower.direct.nests import VectorRegisters
from tir_mlir.runtime.scheduled_programs import AS_GIVEN
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.gpu.threads import by_elements
from tir_mlir.schedules.programs.auto import auto
from tir_mlir.schedules.programs.plain import plain
from tir_mlir.script.module import PrimFunc
from tir_mlir.target import GPU, chosen, resolved
from tir_mlir.targets.kernels import lower_to_kernels
from tir_mlir.targets.stages import FAST, BuildOptions

BY_ELEMENTS = "one thread an element"
"""Instead of a schedule, where that of `auto` does not lower for a GPU."""
DIRECTLY = "written directly"
"""Instead of a schedule, where a function has none."""


@dataclass(frozen=True)
class ScheduledFunction:
    """A scheduled function: where its schedule is from, in words; its float operations, None if not known; what
    scheduling it warned of."""

    function: PrimFunc
    origin: str
    flops: int | None
    warnings: list[str]


def schedules(functions: Sequence[PrimFunc], options: BuildOptions) -> list[ScheduledFunction]:
    """The schedules of functions."""
    is_fast = options.optimize == FAST and resolved(options.target).is_cpu
    return _run_schedule_unit("write_or_schedule" if is_fast else "schedule", functions, options)


def plain_schedules(functions: Sequence[PrimFunc], options: BuildOptions) -> list[ScheduledFunction]:
    """The schedules by `plain`, also of functions whose code could be written directly."""
    return _run_schedule_unit("schedule_plainly", functions, options)


def _run_schedule_unit(unit: str, functions: Sequence[PrimFunc], options: BuildOptions) -> list[ScheduledFunction]:
    answers = run_unit(f"{__name__}:{unit}", [UnitQuery(function) for function in functions], options)
    return [ScheduledFunction(parse_canonical(text), *facts) for text, *facts in answers]


def schedule(payload: bytes) -> bytes:
    """The answer to one question of `schedules`."""
    text, _, target, _ = decode_query(payload)
    if (gpu := resolved(target).as_gpu()) is None:
        return _schedule_with(payload, auto)
    function = parse_canonical(text)
    with enter_context():
        operations = float_operations(function.func)
    sch, origin, messages = schedule_for_gpu(function, gpu)
    return encode_result([canonical_text(sch.mod[function.name]), origin, operations, messages])


def schedule_for_gpu(function: PrimFunc, gpu: GPU) -> tuple[Schedule, str, list[str]]:
    """The schedule of a function whose kernels the GPU takes, where it is from, and warnings: that of `auto`, or where
    it does not lower, one thread for each element."""
    sch = Schedule(function.module)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        origin = f"schedules.auto ({_words(auto(sch, gpu))})"
    messages = [str(warning.message) for warning in caught]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of lowering come when the kernels are compiled
            lower_to_kernels(sch.mod.mlir, gpu)
    except LoweringError as error:
        messages.append(f"its schedule, {origin}, does not lower: {str(error).splitlines()[0]}")
        sch = Schedule(function.module)
        origin = f"{BY_ELEMENTS} ({_words(by_elements(sch))})"
    return sch, origin, messages


def _words(picked: Mapping[str, str | None]) -> str:
    return ", ".join(f"{block}: {how or AS_GIVEN}" for block, how in picked.items())


def schedule_plainly(payload: bytes) -> bytes:
    """The answer to one question of `plain_schedules`; the code is made with few passes."""
    return _schedule_with(payload, plain)


def write_or_schedule(payload: bytes) -> bytes:
    """The answer where the program is to be ready soon: the function as it is, if its code can be written directly."""
    text, _, target, threads = decode_query(payload)
    cpu = chosen(None if target == "llvm" else target)
    function = parse_canonical(text)
    with enter_context():
        func = function.func
        if not cpu.runs_here or not is_direct(
            func, VectorRegisters.from_vector_registers(cpu.vector_bits, cpu.registers)
        ):
            return _schedule_with(payload, plain)
        operations = float_operations(func)
        attrs.put(func.op, attrs.DIRECT, (threads or cpu.cores) if cpu.has_threads else 1)
        blocks = ", ".join(block.name for block in walk.all_blocks(func.op))
    return encode_result([canonical_text(function), f"{DIRECTLY} ({blocks})", operations, []])


def _schedule_with(payload: bytes, pick: Callable[..., dict[str, str | None]]) -> bytes:
    text, _, target, threads = decode_query(payload)
    function = parse_canonical(text)
    with enter_context():
        operations = float_operations(function.func)
    sch = Schedule(function.module)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        picked = pick(sch, None if target == "llvm" else target, threads)
    messages = [str(warning.message) for warning in caught]
    result = sch.mod[function.name]
    if pick is plain:
        with enter_context():
            attrs.put(result.func.op, attrs.LIGHT, True)
    return encode_result(
        [canonical_text(result), f"schedules.{pick.__name__} ({_words(picked)})", operations, messages]
    )
