"""The code of a program by function: the units that its host functions call, and the host functions themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tir_mlir.dialect.ir import clone_module
from tir_mlir.passes.lower.registry import warn
from tir_mlir.runtime.cache import crash_notes, fingerprint
from tir_mlir.runtime.drivers import jit
from tir_mlir.runtime.drivers.lowered_program import LoweredProgram
from tir_mlir.runtime.workers import Task, run
from tir_mlir.targets.cpu.lowering import LOWERED, llvm_target, lowering_stages
from tir_mlir.targets.cpu.units import unit_code
from tir_mlir.targets.cpu.units.divide import divide
from tir_mlir.targets.stages import Compilation


def compile_by_function(compilation: Compilation) -> jit.Compiled:
    """The code of a program: of each function that a host function calls from the cache or by workers, and of the host
    functions. The work of a stage. Errors: BuildError, LoweringError."""
    timing, options, cpu = compilation.timing, compilation.options, compilation.options.target.as_cpu()
    caches = compilation.is_cached and not fingerprint.sources_changed()
    with timing.clock("key"):
        host = clone_module(compilation.program)
        units = divide(host)
        tasks = [unit_code.task(unit, options.libs, cpu) for unit in units]
    with timing.clock("functions"):
        codes = _codes(tasks, caches)
    own = dataclasses.replace(compilation, program=host, source=str(host), values={}, warned=[])
    own.run(lowering_stages())
    program: LoweredProgram = own.values[LOWERED]
    with timing.clock("link"):
        needed = jit.needed_libraries(program.module, options.libs, program.kernels, [unit.symbol for unit in units])
    compilation.reached(crash_notes.COMPILE)
    compiled = jit.compile_program(program, compilation.names, needed, timing.clock, llvm_target(cpu), support=False)
    with timing.clock("functions"):
        is_needed = any(part.support for part in (compiled, *codes))
        support = run([unit_code.support_task()], cache=caches) if is_needed else []
    warned = [text.replace(u.symbol, u.name) for u, code in zip(units, codes, strict=True) for text in code.warned]
    for text in warned:
        warn(text)
    return _merge_objects(compiled, codes, support, warned, {unit.symbol: unit.name for unit in units})


def _codes(tasks: Sequence[Task], cache: bool) -> list[jit.Compiled]:
    """The code of units; what the cache has that is none is compiled again."""
    codes = [jit.Compiled.from_bytes(code) for code in run(tasks, cache=cache)]
    unread = [number for number, code in enumerate(codes) if code is None]
    for number, code in zip(unread, run([tasks[n] for n in unread], cache=False) if unread else [], strict=True):
        codes[number] = jit.Compiled.from_bytes(code)
    return [code for code in codes if code is not None]


def _merge_objects(
    host: jit.Compiled,
    codes: Sequence[jit.Compiled],
    support: Sequence[bytes],
    warned: Sequence[str],
    names: dict[str, str],
) -> jit.Compiled:
    """The objects of all, and what any of them needs. warned: of units. names: of units, by their symbols."""
    parts = [host, *codes]
    return dataclasses.replace(
        host,
        data=b"".join([*(part.data for part in parts), *support]),
        sizes=[*(size for part in parts for size in part.sizes), *map(len, support)],
        libs=list(dict.fromkeys(lib for part in parts for lib in part.libs)),
        calls_out=any(part.calls_out for part in parts),
        warned=[*host.warned, *warned],
        scratch=max(part.scratch for part in parts),
        needs=[need for part in parts for need in part.needs],
        support=False,
        units=names,
    )
