"""Compare two modules by running their functions on the same data; races, which no serial run shows, by isl.

Results that are unspecified where data is equal (which of several greatest elements an argmax returns) may differ.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
from mlir import ir

from tir_mlir.dialect.analysis import dependences
from tir_mlir.dialect.calls import calls_in
from tir_mlir.dialect.diagnostics import Counterexample, NotChecked, NotProvable
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Index,
    Loop,
    all_blocks,
    clone_module,
    enter_context,
    freeze_modules,
    funcs,
    held_module,
    is_loop,
    is_warp_loop,
    substitute,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import (
    CompareOp,
    ElementLoadOp,
    ElementStoreOp,
    ScfIfOp,
    SelectOp,
    StoreOp,
    defining_op,
    isa,
)
from tir_mlir.equivalence import compile, inputs
from tir_mlir.equivalence.field.field_functions import P, scale_of
from tir_mlir.equivalence.result import Difference, Result, written_by
from tir_mlir.equivalence.typed_arenas import ARENA_NOTE, uses_arenas
from tir_mlir.equivalence.work import work_of
from tir_mlir.runtime.call.signature import BufferParam, CallSignature, signatures

Pair = tuple[Func, Func, CallSignature, CallSignature]

ROTATIONS = (P // 2, P - 1 - (1 << 40), 1 << 40)
"""Start points of the total order: 0 in the middle, near the top, near the bottom."""
QUICK_WORK = 1 << 24
"""Up to this many iterations unoptimized code is faster in total."""
THIN_WORK = 1 << 27
"""Above it, a program without comparisons runs on one data set: the others only add ties."""

_program_cache: OrderedDict[tuple[str, str, bool], compile.CheckedProgram] = OrderedDict()
_CACHE_SIZE = 16


class Comparison:
    """A function of the original and its scheduled counterpart; findings are added to `result`."""

    def __init__(
        self,
        pair: Pair,
        original: ir.Module,
        scheduled: ir.Module,
        seed: int,
        result: Result,
        moves: Mapping[tuple[str, str], IndexMap],
    ):
        self.funcs, self.signatures = pair[:2], pair[2:]
        self.modules = original, scheduled
        self.texts = str(original), str(scheduled)
        self.seed = seed
        self.result = result
        self.name = self.signatures[0].name
        names = [p.name for p in self.signatures[0].params]
        self.undecided: list[Loop] = []
        self.scale = 1
        self.moves = {names.index(p): m for (f, p), m in moves.items() if f == self.signatures[1].name}

    def run(self) -> Difference | None:
        if (words := _signature_mismatch(*self.signatures, self.moves)) is not None:
            return Difference(self.name, {}, f"{self.name}: {words}")
        if (race := self._race()) is not None:
            return race
        return self._values() or self._race_of_values()

    def _values(self) -> Difference | None:
        """The first difference of what the programs compute, one iteration after the other."""
        limits = inputs.index_limits(self.funcs[0])
        if uses_arenas(self.funcs[0]):
            self.result.notes.append(ARENA_NOTE.format(self.name))
        choices = inputs.size_choices(self.signatures[0])
        works = [max(work_of(f.op, sizes) for f in self.funcs) for sizes in choices]
        quick = max(works) <= QUICK_WORK
        sides = [self._program(n, compile.EXACT, quick) for n in (0, 1)]
        self.scale = scale_of(c for s in sides for c in s.constants)
        for sizes, work in zip(choices, works, strict=True):
            recipe = inputs.ArgumentGenerator(self.signatures[0], sizes, limits)
            self.result.sizes.append(self._sizes(sizes))
            if (difference := self._exact(sides, recipe, work)) is not None:
                return difference
            if (difference := self._compare_overlapping(sides, recipe)) is not None:
                return difference
        if sides[1].allocates:
            for sizes, work in zip(choices, works, strict=True):
                if work <= THIN_WORK:
                    recipe = inputs.ArgumentGenerator(self.signatures[0], sizes, limits)
                    if (difference := self._find_nan_difference(recipe, quick)) is not None:
                        return difference
                else:
                    self.result.notes.append("no run with NaN-filled memory: too slow at these sizes")
        return None

    def _race(self) -> Difference | None:
        """A race that the original does not have; undecided ones and those of the original become notes."""
        scheduled = races(self.funcs[1])
        if not scheduled.found and not scheduled.open:
            return None
        original = races(self.funcs[0])
        self.result.notes += [f"{_undecided_note(lp)}{why}" for lp, why in scheduled.open]
        if not original.found and not original.open:
            self.undecided = [loop for loop, _ in scheduled.open]
        for loop, clash in scheduled.found:
            text = f"the iterations of the {loop.kind} loop {loop.name} race: {clash}"
            if not original.found:
                return Difference(self.name, dict(clash.sizes), f"{self.name}: {text}", _buffer(clash))
            self.result.notes.append(f"{text}; so do iterations of the original")
        return None

    def _race_of_values(self) -> Difference | None:
        """A race that isl does not decide, such as that of a scatter, shown by data: in reverse order, the iterations
        compute something else."""
        for loop in self.undecided:
            module = reverse_iterations(self.modules[1], loop, self.funcs[1])
            if module is None:
                continue
            func = next(f for f in funcs(module) if f.name == self.funcs[1].name)
            pair = self.funcs[0], func, *self.signatures
            comparison = Comparison(pair, self.modules[0], module, self.seed, Result(), {})
            comparison.moves = self.moves
            if (difference := comparison._values()) is not None:
                element = (
                    f"{difference.buffer}[{', '.join(map(str, difference.index))}]"
                    if difference.index
                    else difference.buffer
                )
                text = (
                    f"{self.name}: the iterations of the {loop.kind} loop {loop.name} race: several touch {element},"
                    " and in reverse order its value is another"
                )
                self.result.notes = [n for n in self.result.notes if not n.startswith(_undecided_note(loop))]
                return Difference(self.name, difference.sizes, text, difference.buffer, difference.index)
        return None

    def _program(self, side: int, domain: str, quick: bool) -> compile.CheckedProgram:
        key = (self.texts[side], domain, quick)
        if key in _program_cache:
            _program_cache.move_to_end(key)
            return _program_cache[key]
        program = compile.compile_checked(self.modules[side], domain, quick)
        _program_cache[key] = program
        while len(_program_cache) > _CACHE_SIZE:
            _program_cache.popitem(last=False)
        return program

    def _sizes(self, sizes: Mapping[str, int]) -> str:
        if sizes:
            return ", ".join(f"{n} = {v}" for n, v in sizes.items())
        return (
            f"{self.name}({', '.join(_shape_text(p) for p in self.signatures[0].params if isinstance(p, BufferParam))})"
        )

    # -- over the field --------------------------------------------------------------------------------------------

    def _exact(
        self, sides: Sequence[compile.CheckedProgram], recipe: inputs.ArgumentGenerator, work: int
    ) -> Difference | None:
        ordered = any(s.ordered for s in sides)
        compares = any(s.compares for s in sides)
        rotations = ROTATIONS if ordered else ROTATIONS[:1]
        kinds = (inputs.UNIFORM, inputs.SMALL) if compares or work <= QUICK_WORK else (inputs.UNIFORM,)
        self.result.orders = max(self.result.orders, len(rotations))
        self.result.data_sets = max(self.result.data_sets, len(kinds))
        for kind in kinds:
            for number, rotation in enumerate(rotations):
                self.result.runs += 1
                seed = self.seed + 2 * number + (kind == inputs.SMALL)
                difference = self._run(sides, recipe, kind, rotation, seed)
                if difference is not None:
                    return difference
        return None

    def _compare_overlapping(
        self, sides: Sequence[compile.CheckedProgram], recipe: inputs.ArgumentGenerator
    ) -> Difference | None:
        """A difference with arguments that overlap, where the function allows them; not in other layouts."""
        if self.moves or not inputs.may_overlap(self.signatures[0]):
            return None
        for shift in inputs.SHIFTS:
            overlaid = inputs.OverlappingArguments(recipe.signature, recipe.known, recipe.limits, shift)
            self.result.runs += 1
            if (difference := self._run(sides, overlaid, inputs.UNIFORM, ROTATIONS[0], self.seed)) is not None:
                return difference
        self.result.overlapping = True
        return None

    def _run(
        self,
        sides: Sequence[compile.CheckedProgram],
        recipe: inputs.ArgumentGenerator,
        kind: str,
        rotation: int,
        seed: int,
    ) -> Difference | None:
        arrays = [recipe.arrays(seed, kind, exact=True) for _ in sides]
        arrays[1] = self._convert_layouts(arrays[1], recipe)
        outside = self._run_both(sides, arrays, rotation, seed)
        arrays[1] = self._restore_layouts(arrays[1], arrays[0], recipe)
        if outside[0] is not None:
            raise NotChecked(
                f"the original program accesses {outside[0].site.buffer} out of bounds, at index {outside[0].index}"
                f" ({outside[0].site})"
            )
        if kind == inputs.SMALL:
            arrays = self._ignore_ties(arrays)
        diff = _first_difference(*arrays)
        if diff is not None and outside[1] is None:
            repoisoned = self._rerun_with_poison(sides[0], recipe, kind, rotation, seed)
            diff = _first_difference(arrays[0], arrays[1], repoisoned)
            if diff is None:
                self._refuse_undefined(arrays, kind)
            if isinstance(recipe, inputs.OverlappingArguments):
                diff = self._find_written_difference(arrays) or diff
            return self._different(diff, recipe, (kind, rotation, seed))
        if outside[1] is not None:
            site = outside[1].site
            text = f"{self.name}: {site} at index {outside[1].index}, out of bounds"
            return Difference(self.name, recipe.known, text, site.buffer)
        return None

    def _ignore_ties(self, arrays: list[list[inputs.Argument]]) -> list[list[inputs.Argument | None]]:
        """The results but those that data with equal elements leaves unspecified; a difference of these is a note."""
        free = tie_dependent_parameters(self.funcs[0])
        if free and (diff := _first_difference(*([a if n in free else None for n, a in enumerate(s)] for s in arrays))):
            note = (
                f"{self.signatures[0].params[diff[0]].name} differs where elements are equal: which one an argmax or"
                " argmin returns is not specified; compared on distinct data"
            )
            self.result.notes += [note] * (note not in self.result.notes)
        return [[None if n in free else a for n, a in enumerate(s)] for s in arrays]

    def _rerun_with_poison(
        self, original: compile.CheckedProgram, recipe: inputs.ArgumentGenerator, kind: str, rotation: int, seed: int
    ) -> list[inputs.Argument]:
        """The results of the original with other contents of its allocations at the start."""
        arrays = recipe.arrays(seed, kind, exact=True)
        original.run(self.signatures[0].name, arrays, rotation, _poison(2, seed), scale=self.scale)
        return arrays

    def _find_written_difference(
        self, arrays: Sequence[Sequence[inputs.Argument | None]]
    ) -> tuple[int, tuple[int, ...]] | None:
        """A difference in a buffer that the program names where it writes, if that memory has several names."""
        params = self.signatures[0].params
        sides = [[a if getattr(p, "written", False) else None for a, p in zip(s, params, strict=True)] for s in arrays]
        return _first_difference(*sides)

    def _refuse_undefined(self, arrays: Sequence[Sequence[inputs.Argument | None]], kind: str) -> NoReturn:
        number, index = _first_difference(*arrays) or (0, ())
        where = f"{self.signatures[0].params[number].name}[{', '.join(map(str, index))}]"
        raise NotChecked(
            f"{self.name}: {where} of the original program depends on memory that nothing wrote ({kind} data): what it"
            " computes is not defined, so no step can be said to change it; write the buffer before it is read"
        )

    def _convert_layouts(
        self, arrays: Sequence[inputs.Argument], recipe: inputs.ArgumentGenerator
    ) -> list[inputs.Argument]:
        """The arguments in the layouts of the scheduled program."""
        moved = list(arrays)
        for number, map_ in self.moves.items():
            param = self.signatures[1].params[number]
            assert isinstance(param, BufferParam)
            moved[number] = map_.map_ndarray(
                np.asarray(arrays[number]), shape=inputs.shape_of(param, recipe.known), sizes=recipe.known
            )
        return moved

    def _restore_layouts(
        self, arrays: Sequence[inputs.Argument], like: Sequence[inputs.Argument], recipe: inputs.ArgumentGenerator
    ) -> list[inputs.Argument]:
        restored = list(arrays)
        for number, map_ in self.moves.items():
            shape = np.shape(like[number])
            targets = map_.map_indices(list(np.indices(shape)), recipe.known)
            restored[number] = np.asarray(arrays[number])[tuple(np.broadcast_to(p, shape) for p in targets)]
        return restored

    def _run_both(
        self,
        sides: Sequence[compile.CheckedProgram],
        arrays: Sequence[Sequence[inputs.Argument | None]],
        rotation: int,
        seed: int,
    ) -> list[compile.OutOfBounds | None]:
        """Run both programs, concurrently if they are different code."""

        def one(n: int) -> compile.OutOfBounds | None:
            return sides[n].run(self.signatures[n].name, arrays[n], rotation, _poison(n, seed), scale=self.scale)

        if sides[0] is sides[1]:
            return [one(0), one(1)]
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(one, (0, 1)))

    def _different(
        self,
        diff: tuple[int, tuple[int, ...]],
        recipe: inputs.ArgumentGenerator,
        how: tuple[str, int, int],
    ) -> Difference:
        number, index = diff
        param = self.signatures[0].params[number]
        writers = []
        for side, module in enumerate(self.modules):
            kind, rotation, seed = how
            seen = compile.compile_instrumented(module, self.signatures[side].name, number)
            arrays = recipe.arrays(seed, kind, exact=True)
            position = index
            if side:
                arrays = self._convert_layouts(arrays, recipe)
                moved = self.moves.get(number)
                position = tuple(moved.map_indices(list(index), recipe.known)) if moved else index
            flat = int(np.ravel_multi_index(position, np.shape(arrays[number]))) if position else 0
            seen.program.run(self.signatures[side].name, arrays, rotation, _poison(side, seed), flat, self.scale)
            writers.append(seen.program.writer(seen.writers))
        words = [
            written_by(w, writer, bool(calls_in(func)))
            for w, writer, func in zip(("the original", "the scheduled one"), writers, self.funcs, strict=True)
        ]
        where = f"{param.name}[{', '.join(map(str, index))}]"
        sizes = "" if not recipe.known else " at " + self._sizes(recipe.known)
        if isinstance(recipe, inputs.OverlappingArguments):
            sizes += f" {recipe}"
        text = f"{self.name}{sizes}: {where} differs ({'; '.join(words)})"
        return Difference(self.name, recipe.known, text, param.name, index, writers)

    # -- in floats, NaN-filled memory -----------------------------------------------------------------------------

    def _find_nan_difference(self, recipe: inputs.ArgumentGenerator, quick: bool) -> Difference | None:
        self.result.nan_runs += 1
        reference = recipe.arrays(self.seed, inputs.UNIFORM, exact=False)
        arrays = self._convert_layouts(recipe.arrays(self.seed, inputs.UNIFORM, exact=False), recipe)
        self._program(1, compile.NAN, quick).run(self.signatures[1].name, arrays, 0, _poison(1, self.seed))
        arrays = self._restore_layouts(arrays, reference, recipe)
        floats = [n for n, b in enumerate(arrays) if isinstance(b, np.ndarray) and b.dtype == np.float64]
        nans = {number: mask for number in floats if (mask := np.isnan(arrays[number])).any()}
        if nans:  # only now the original matters: its own are no fault of a step
            self._program(0, compile.NAN, quick).run(self.name, reference, 0, _poison(0, self.seed))
        for number, mask in nans.items():
            bad = mask & ~np.isnan(reference[number])
            if bad.any():
                index = tuple(int(i) for i in np.argwhere(bad)[0])
                name = self.signatures[0].params[number].name
                where = f"{name}[{', '.join(map(str, index))}]"
                text = f"{self.name}: {where} is NaN in floats: uninitialized memory is read"
                return Difference(self.name, recipe.known, text, name, index)
        return None


def _undecided_note(loop: Loop) -> str:
    return f"not decided: races of the {loop.kind} loop {loop.name}: "


def _buffer(clash: Counterexample) -> str:
    return clash.element.buffer if clash.element is not None else ""


def _poison(side: int, seed: int) -> int:
    """The seed of the poison of a program in a run; never the same for both programs."""
    return 7919 * (side + 1) + 104729 * seed


def _signature_mismatch(a: CallSignature, b: CallSignature, moved: Mapping[int, IndexMap]) -> str | None:
    if len(a.params) != len(b.params):
        return f"it takes {len(a.params)} arguments, the scheduled one {len(b.params)}"
    for number, (param_a, param_b) in enumerate(zip(a.params, b.params, strict=True)):
        if number in moved:
            continue
        if isinstance(param_a, BufferParam) != isinstance(param_b, BufferParam) or str(param_a) != str(param_b):
            return f"it takes {param_a}, the scheduled one {param_b}"
    return None


def _shape_text(param: BufferParam) -> str:
    return f"{param.name} " + "x".join(d.text for d in param.dims)


def _first_difference(
    lhs: Sequence[object], rhs: Sequence[object], repeat: Sequence[object] | None = None
) -> tuple[int, tuple[int, ...]] | None:
    """The first argument and index at which two sets of arguments differ; only where `repeat` is as `lhs`, if given."""
    for number, (a, b) in enumerate(zip(lhs, rhs, strict=True)):
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and not np.array_equal(a, b):
            differ = a != b if repeat is None else (a != b) & (a == repeat[number])
            if differ.any():
                return number, tuple(int(i) for i in np.argwhere(differ)[0])
    return None


_run_lock = threading.RLock()  # cached programs have one state


def equivalent(original: object, scheduled: object, *, seed: int = 0) -> Result:
    """Run two modules or functions on the same data and compare every element of every buffer, bit by bit.

    Floats are elements of the prime field p = 2^61 - 1 (sums are associative, division is exact); `exp` and rounding
    are fixed mixing functions; comparisons use a total order with three start points. Allocated memory is filled with
    random values; out-of-bounds accesses are clamped and reported. Functions are paired by name; if each module has
    one, they are compared. Raises NotChecked for an op without exact semantics.
    """
    with enter_context():
        return compare(_module(original), _module(scheduled), seed)


def compare(
    original: ir.Module,
    scheduled: ir.Module,
    seed: int = 0,
    moves: Mapping[tuple[str, str], IndexMap] | None = None,
    comparison: Callable[..., Comparison] = Comparison,
) -> Result:
    """`equivalent` of two MLIR modules (call inside `entered`). `moves`: parameters that the second takes in another
    layout, {(function, parameter): map}; `comparison`: how two functions are compared."""
    start = time.perf_counter()
    result = Result()
    with _run_lock:
        for pair in _pairs(original, scheduled, result):
            result.functions += 1
            try:
                result.difference = comparison(pair, original, scheduled, seed, result, moves or {}).run()
            except MemoryError as error:
                raise NotChecked(f"the arrays of {pair[0].name} do not fit the memory: {error}") from error
            if result.difference is not None:
                break
    result.seconds = time.perf_counter() - start
    return result


def _module(program: object) -> ir.Module:
    module = held_module(program)
    if module is None:
        raise TypeError(f"equivalent takes modules, functions or schedules, not {type(program).__name__}")
    return module


def _pairs(original: ir.Module, scheduled: ir.Module, result: Result) -> Iterator[Pair]:
    lhs, rhs = signatures(original), signatures(scheduled)
    both = [{f.name: f for f in funcs(m)} for m in (original, scheduled)]
    names = [(n, n) for n in lhs]
    if len(lhs) == len(rhs) == 1:
        names = [(next(iter(lhs)), next(iter(rhs)))]
    if missing := [b for _, b in names if b not in rhs]:
        result.difference = Difference(missing[0], {}, f"the scheduled module has no function {missing[0]}")
        return
    for a, b in names:
        yield both[0][a], both[1][b], lhs[a], rhs[b]


# --- race detection for parallel loops, by isl: a serial run cannot show races ----------------------------------------


@dataclass
class Races:
    """The parallel loops of a function with a data race between iterations, and the undecided ones with the
    reason."""

    found: list[tuple[Loop, Counterexample]] = field(default_factory=list)
    open: list[tuple[Loop, str]] = field(default_factory=list)


def races(func: Func) -> Races:
    """The races of a function (call inside `entered`)."""
    result = Races()
    with freeze_modules():
        for loop in [Loop(op) for op in walk.ops(func.op) if is_loop(op)]:
            if loop.kind in ("serial", "unrolled") or is_warp_loop(loop):
                continue
            try:
                clash = dependences.loop_carried_conflict(loop)
            except NotProvable as error:
                result.open.append((loop, str(error).splitlines()[0]))
                continue
            if clash is not None:
                result.found.append((loop, clash))
    return result


# --- the iterations of a loop in reverse: if results differ, they depend on each other --------------------------------


def reverse_iterations(module: ir.Module, loop: Loop, func: Func) -> ir.Module | None:
    """`for i in range(a, b): f(i)` -> `for i in range(a, b): f(a + b - 1 - i)`, in a copy of the module.

    None if the loop has several lower or upper bounds.
    """
    if len(loop.lowers) != 1 or len(loop.uppers) != 1:
        return None
    number = _loops(func).index(loop.op)
    copy = clone_module(module)
    same = next(f for f in funcs(copy) if f.name == func.name)
    copied_loop = Loop(_loops(same)[number])
    substitute(
        {copied_loop.var: copied_loop.lower + copied_loop.upper - 1 - Index.from_value(copied_loop.var)}, copied_loop.op
    )
    return copy


def _loops(func: Func) -> list[ir.Operation]:
    return [op for op in walk.ops(func.op) if is_loop(op)]


# --- results that are unspecified where data is equal -----------------------------------------------------------------


def tie_dependent_parameters(func: Func) -> frozenset[int]:
    """The numbers of the parameters that depend on which one of equal elements a reduction keeps.

        I[vi] = T.Select(V[vi] >= A[vi, vk], I[vi], vk)     # I, but not V

    Such a position in an allocated buffer may go anywhere: then it is every parameter that the function writes.
    """
    roots = [
        Buffer(b).root.value
        for block in all_blocks(func.op)
        if any(i.kind == "R" for i in block.iters)
        for b in _positions(block)
    ]
    if any(value not in func.args for value in roots):
        stored = [accessed_memref(op) for op in walk.ops(func.op) if isa(op, ElementStoreOp)]
        roots = [Buffer(b).root.value for b in stored]
    return frozenset(n for n, a in enumerate(func.args) if a in roots)


def _positions(block: Block) -> list[ir.Value]:
    """The buffers that a block stores what it chose to, where it compares elements of another one that it stores."""
    stores = [op for op in walk.ops(block.op) if isa(op, ElementStoreOp)]
    written = [accessed_memref(op) for op in stores]
    targets = []
    for store in stores:
        target, compared = accessed_memref(store), _compared_buffers(StoreOp(store).value)
        if compared and target not in compared and any(c in written for c in compared):
            targets.append(target)
    return targets


def _compared_buffers(value: ir.Value) -> list[ir.Value]:
    """The buffers of the elements that choose a stored value by a plain comparison, without a rule for ties."""
    choice = defining_op(value, SelectOp) or defining_op(value, ScfIfOp)
    test = None if choice is None else defining_op(choice.condition, CompareOp)
    loads = [] if test is None else [defining_op(v, ElementLoadOp) for v in (test.lhs, test.rhs)]
    return [load.memref for load in loads if load is not None]
