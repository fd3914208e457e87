"""The code of a program by function: the units that its host functions call, and the host functions themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from mlir import ir

from tir_mlir.code_units import unit_code
from tir_mlir.code_units.divide import divide
from tir_mlir.code_units.lowering import LoweringOptions, code_target, lower_program
from tir_mlir.dialect.ir import clone_module
from tir_mlir.passes.lower.registry import warn
from tir_mlir.runtime.drivers import jit
from tir_mlir.runtime.workers import Task, run


def compile_by_function(
    original: ir.Module,
    names: Sequence[str],
    libs: Sequence[str],
    options: LoweringOptions,
    *,
    cache: bool,
    reached: Callable[[], object] = lambda: None,
) -> jit.Compiled:
    """The code of a program: of each function that a host function calls from the cache or by workers, and of the host
    functions, `names`. reached: called before LLVM compiles in this process. Errors: BuildError, LoweringError."""
    timing = options.timing
    with timing.clock("key"):
        host = clone_module(original)
        units = divide(host)
        tasks = [unit_code.task(unit, libs, options.wanted) for unit in units]
    with timing.clock("functions"):
        codes = _codes(tasks, cache)
    program = lower_program(host, str(host), options)
    with timing.clock("link"):
        needed = jit.needed_libraries(program.module, libs, program.kernels, [unit.symbol for unit in units])
    reached()
    code = None if options.wanted is None else code_target(options.wanted)
    compiled = jit.compile_program(program, names, needed, timing.clock, code, support=False)
    with timing.clock("functions"):
        is_needed = any(part.support for part in (compiled, *codes))
        support = run([unit_code.support_task()], cache=cache) if is_needed else []
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
