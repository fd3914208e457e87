"""The profile of a model: its calls, timed one by one in the order of a run."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from mlir import ir

from tir_mlir.build import build, build_by_function
from tir_mlir.dialect.calls.function_texts import quote, symbol
from tir_mlir.dialect.ir import Func, attrs, enter_context, funcs
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan, PlannedCall
from tir_mlir.graph.memory.frames import ArrayFrame
from tir_mlir.graph.packed_functions import packed_function
from tir_mlir.graph.transforms.schedule_functions import FLOPS
from tir_mlir.runtime.aligned_arrays import empty
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.script.module import IRModule
from tir_mlir.target import host
from tir_mlir.targets.stages import BuildOptions
from tir_mlir.visual.rooflines import Point, roofline
from tir_mlir.visual.svg import Picture

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class CallTime:
    """A call: its function, the name of its result, seconds, float operations (None: not known), bytes of its tensors,
    and the fraction of what the roofs of the machine allow."""

    function: str
    name: str
    seconds: float
    flops: int | None
    moved: int
    fraction: float | None


class Profile(list[CallTime]):
    """The calls of a run in order; prints as a table by function, most time first. `roofline()` draws it."""

    @property
    def total(self) -> float:
        """Seconds of all calls."""
        return sum(call.seconds for call in self)

    def by_function(self) -> list[tuple[str, list[CallTime]]]:
        """The calls of each function, most time first."""
        calls: dict[str, list[CallTime]] = {}
        for call in self:
            calls.setdefault(call.function, []).append(call)
        return sorted(calls.items(), key=lambda entry: -sum(c.seconds for c in entry[1]))

    def rows(self) -> list[tuple[str, ...]]:
        """The table: function, calls, microseconds, share, GFLOP/s, GB/s, fraction of the roof."""
        table = []
        for name, calls in self.by_function():
            took = sum(c.seconds for c in calls)
            flops = [c.flops for c in calls if c.flops]
            rate = f"{sum(flops) / took / 1e9:.1f}" if flops else "-"
            bytes_ = f"{sum(c.moved for c in calls) / took / 1e9:.1f}"
            least = [c.fraction * c.seconds for c in calls if c.fraction is not None]
            roof = f"{sum(least) / took:.0%}" if least else "-"
            share = f"{took / self.total:.1%}"
            table.append((name, str(len(calls)), f"{1e6 * took:.1f}", share, rate, bytes_, roof))
        return table

    def roofline(self) -> Picture:
        """The functions under the roofs of the machine, of one thread."""
        points = []
        for name, calls in self.by_function():
            flops, moved = sum(c.flops or 0 for c in calls), sum(c.moved for c in calls)
            if flops and moved:
                points.append(Point(name, flops, moved, sum(c.seconds for c in calls)))
        rates = bandwidths()
        limits = {"cache": rates[0][1], "memory": rates[-1][1]}
        return roofline(points, {"multiply-adds": peak()}, limits, "Functions of the model")

    def __repr__(self) -> str:
        table = [_HEAD, *self.rows()]
        widths = [max(len(row[n]) for row in table) for n in range(len(_HEAD))]
        lines = [f"{1e6 * self.total:.1f} us in {len(self)} calls"]
        for row in table:
            numbers = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            lines.append("  ".join([row[0].ljust(widths[0]), *numbers]))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in _HEAD)
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in self.rows())
        return f"<table><tr>{head}</tr>{body}</table>"


_HEAD = ("function", "calls", "us", "share", "GFLOP/s", "GB/s", "of roof")


def profile(graph: Graph, plan: ExecutionPlan, frame: ArrayFrame, options: BuildOptions, rounds: int) -> Profile:
    """Time each call of a run, in order; the median of `rounds` runs, after one that is not timed.

    The roofs are those of one thread and of float32.
    """
    functions = _functions(graph, plan, options)
    steps = [(functions[c.callee], _arrays(c, frame)) for c in plan.every_call]
    samples: list[list[float]] = [[] for _ in steps]
    idle = _overhead()
    for run in range(rounds + 1):
        for call, (function, arrays), seconds in zip(plan.every_call, steps, samples, strict=True):
            start = time.perf_counter()
            function(*arrays)
            if run:
                seconds.append(max(time.perf_counter() - start - idle, 1e-9))
            for source, result in call.in_place:
                arrays[source][...] = arrays[result]
    with enter_context():
        flops = {name: attrs.get(f.func.op, FLOPS) for name, f in graph.module.prim_funcs.items()}
    call_times = [
        _call_time(c, median(s), flops.get(c.callee), arrays)
        for c, s, (_, arrays) in zip(plan.every_call, samples, steps, strict=True)
    ]
    return Profile(call_times)


def _arrays(call: PlannedCall, frame: ArrayFrame) -> list[np.ndarray]:
    """The arguments of a call. Functions are timed alone, not in place: a result has an array of its own."""
    arrays = [frame.array(p) for p in (*call.inputs, *call.outputs)]
    for _, result in call.in_place:
        arrays[result] = np.empty_like(arrays[result])
    return arrays


def _call_time(call: PlannedCall, seconds: float, flops: int | None, arrays: Sequence[np.ndarray]) -> CallTime:
    moved = sum(array.nbytes for array in arrays)
    fraction = least_seconds(flops or 0, moved) / seconds if moved else None
    return CallTime(call.callee, call.name, seconds, flops, moved, fraction)


def _functions(graph: Graph, plan: ExecutionPlan, options: BuildOptions) -> dict[str, Callable[..., object]]:
    """Each function that is called, alone."""
    functions: dict[str, Callable[..., object]] = {}
    names = {call.callee for call in plan.every_call if not call.packed}
    for name in {call.callee for call in plan.every_call if call.packed}:
        python = packed_function(name)
        functions[name] = python if python is not None else _no_time
    if names:
        with built_as_given():
            module = IRModule({f"tir_{name}": graph.module[name] for name in sorted(names)})  # not exp, as in C
            with enter_context():
                called = [_add_host(module.mlir, f) for f in funcs(module.mlir) if attrs.DIRECT in f.op.attributes]
            asked = BuildOptions(target=options.target, libs=options.libs)
            library = build_by_function(module.mlir, asked) if called else build(module, asked.target, libs=asked.libs)
        functions |= {name: library[f"tir_{name}"] for name in names}
    return functions


def _add_host(module: ir.Module, func: Func) -> ir.Operation:
    """A function that calls one whose code is written directly, under its name: only called ones are. The host."""
    name, inner = func.name, f"{func.name}.called"
    types = [str(value.type) for value in func.args]
    params = ", ".join(f"%a{n}: {type_} {{tir.name = {quote(func.arg_name(n))}}}" for n, type_ in enumerate(types))
    passed = ", ".join(f"%a{n}" for n in range(len(types)))
    declared = f"func.func private {symbol(inner)}({', '.join(types)})"
    host = (
        f"func.func {symbol(name)}({params}) {{ call {symbol(inner)}({passed}) : ({', '.join(types)}) -> () return }}"
    )
    func.op.attributes["sym_name"] = ir.StringAttr.get(inner)
    func.op.attributes["sym_visibility"] = ir.StringAttr.get("private")
    parsed = ir.Module.parse(f"{declared}\n{host}")
    return list(parsed.body.operations)[-1].operation.clone(ir.InsertionPoint(module.body))


def _no_time(*arrays: np.ndarray) -> None:
    """A function of a C library, which is not timed."""


def _overhead() -> float:
    """Seconds that a call from Python takes beside the function."""
    samples = []
    for _ in range(50):
        start = time.perf_counter()
        _no_time()
        samples.append(time.perf_counter() - start)
    return median(samples)


CHAINS, TURNS, ROUNDS = 12, 20_000, 12
SIZES = tuple(1 << bits for bits in (15, 18, 21, 24, 26))
"""Bytes that are read."""


@functools.cache
def peak() -> float:
    """Float32 operations a second of one thread: independent chains of multiply-adds in registers."""
    lanes = host().lanes(32)
    with built_as_given():
        run = build(IRModule.from_mlir(_program(lanes)))["fmas"]
    out = empty((lanes,), "float32")
    return 2.0 * lanes * CHAINS * TURNS / _best(lambda: run(out))


@functools.cache
def bandwidths() -> tuple[tuple[int, float], ...]:
    """(bytes, bytes a second) of one thread that reads these sizes again and again."""
    with built_as_given():
        run = build(IRModule.from_mlir(_reader(host().lanes(32))))["reads"]
    out, rates = empty((host().lanes(32),), "float32"), []
    for size in SIZES:
        source, times = empty((size // 4,), "float32"), max(1, (1 << 21) // size)
        source[:] = 1
        took = _best(lambda s=source, n=times: [run(s, out) for _ in range(n)])
        rates.append((size, size * times / took))
    return tuple(rates)


def bandwidth(size: float) -> float:
    """Bytes a second for a working set: of the largest size measured that is not larger, so that it is a bound."""
    return next((rate for most, rate in reversed(bandwidths()) if most <= size), bandwidths()[0][1])


def least_seconds(flops: float, moved: float) -> float:
    """The time that the roofs allow for work on one thread."""
    return max(flops / peak(), moved / bandwidth(moved))


def _best(call: Callable[[], object]) -> float:
    """The shortest of several rounds: other load on the machine only lengthens one."""
    call()
    shortest = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def _program(lanes: int) -> str:
    vector = f"vector<{lanes}xf32>"
    names = [f"%a{n}" for n in range(CHAINS)]
    iter_args = ", ".join(f"{name} = %zero" for name in names)
    types = ", ".join([vector] * CHAINS)
    steps = "\n".join(f"      %b{n} = vector.fma %a{n}, %x, %x : {vector}" for n in range(CHAINS))
    sums, last = [], "%r#0"
    for n in range(1, CHAINS):
        sums.append(f"    %s{n} = arith.addf {last}, %r#{n} : {vector}")
        last = f"%s{n}"
    return f"""
module {{
  func.func @fmas(%out: memref<{lanes}xf32> {{tir.name = "out"}}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant {TURNS} : index
    %zero = arith.constant dense<0.0> : {vector}
    %x = vector.load %out[%c0] : memref<{lanes}xf32>, {vector}
    %r:{CHAINS} = scf.for %i = %c0 to %n step %c1 iter_args({iter_args}) -> ({types}) {{
{steps}
      scf.yield {", ".join(f"%b{n}" for n in range(CHAINS))} : {types}
    }}
{chr(10).join(sums)}
    vector.store {last}, %out[%c0] : memref<{lanes}xf32>, {vector}
    return
  }}
}}
"""


def _reader(lanes: int) -> str:
    """Sums of a buffer, in eight chains of vectors."""
    vector = f"vector<{lanes}xf32>"
    iter_args = ", ".join(f"%a{n} = %zero" for n in range(_READS))
    types = ", ".join([vector] * _READS)
    steps, sums, last = [], [], "%r#0"
    for n in range(_READS):
        steps.append(f"      %o{n} = arith.constant {n * lanes} : index")
        steps.append(f"      %i{n} = arith.addi %i, %o{n} : index")
        steps.append(f"      %v{n} = vector.load %in[%i{n}] : memref<?xf32>, {vector}")
        steps.append(f"      %b{n} = arith.addf %a{n}, %v{n} : {vector}")
        if n:
            sums.append(f"    %s{n} = arith.addf {last}, %r#{n} : {vector}")
            last = f"%s{n}"
    return f"""
module {{
  func.func @reads(%in: memref<?xf32> {{{_SYMBOLIC}}}, %out: memref<{lanes}xf32> {{tir.name = "out"}}) {{
    %c0 = arith.constant 0 : index
    %step = arith.constant {_READS * lanes} : index
    %n = memref.dim {{tir.name = "n"}} %in, %c0 : memref<?xf32>
    %zero = arith.constant dense<0.0> : {vector}
    %r:{_READS} = scf.for %i = %c0 to %n step %step iter_args({iter_args}) -> ({types}) {{
{chr(10).join(steps)}
      scf.yield {", ".join(f"%b{n}" for n in range(_READS))} : {types}
    }}
{chr(10).join(sums)}
    vector.store {last}, %out[%c0] : memref<{lanes}xf32>, {vector}
    return
  }}
}}
"""


_READS = 8
_SYMBOLIC = 'tir.name = "in", tir.shape = affine_map<()[s0] -> (s0)>, tir.syms = ["n"]'
