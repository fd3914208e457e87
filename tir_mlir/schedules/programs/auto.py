"""Pick a schedule for every block of a program."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from tir_mlir.dialect.diagnostics import InternalError, ScheduleError, ScheduleWarning
from tir_mlir.dialect.ir import enter_context, funcs
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.block_queries import block_info, kind_of_loop
from tir_mlir.schedules.producers import Member, with_producers
from tir_mlir.schedules.programs.attention import AttentionBlocks, attention_of
from tir_mlir.schedules.programs.block_kinds import Kind, kind_of
from tir_mlir.schedules.programs.cpu_rules import CpuRules
from tir_mlir.schedules.programs.gpu_rules import GpuRules
from tir_mlir.schedules.programs.rules import HEAVY, Rules
from tir_mlir.schedules.rows.elementwise import inline_producers
from tir_mlir.schedules.steps import check_schedule
from tir_mlir.target import AnyTarget, resolved


def auto(
    sch: Schedule,
    target: AnyTarget | str | None = None,
    threads: int | None = None,
    reciprocal: bool = True,
    free: bool = False,
    leave: Callable[[BlockHandle], bool] | None = None,
) -> dict[str, str | None]:
    """Schedule every block of a program by the function of `tir_mlir.schedules` that fits it.

        for i, j, k: H = X @ W              ->   gemm
        for i, j: G = relu(H + b)                with the product
        for i, k: top, power, total = ...        with the block that they end in: rowwise
        for i, j: Y = power / total              rowwise

    From the last block to the first: attention (`attention`), products (`gemm`, `gemv`), convolutions (`conv2d`),
    row-wise operators with their producers (`rowwise`), other reductions (`reduction`), elementwise operators and
    transposes with their producers (`elementwise`), and blocks that compute more than one element, of which the
    independent ones run in parallel (`independent`). A function that refuses a block leaves it to the next one that
    fits. Blocks that were scheduled before, or that none fits, remain as they are, the latter with a ScheduleWarning
    that names them.
    For a GPU: products and convolutions of any size with what computes their elements further (`product`), `rowwise`,
    `transpose`, `elementwise`, `reduction`; the rest with one thread for each value of the leading spatial iters
    (`per_element`), or with one thread in all (`one_thread`). Every block becomes a kernel, or a part of one; attention
    that is written in tiles becomes one kernel (`attention`).
    target: default this machine; threads: default its number of cores; reciprocal: see `rowwise`; free: sample
    the sizes and choices of all these schedules, as decisions for a search (see `gemm`); leave: tells of
    an elementwise block or a reduction, not a product or convolution, whether to leave it as it is, with no warning.
    Returns the name of the function for each block of the program, None for those left as they are.
    """
    check_schedule(sch, "auto")
    rules = rules_of(resolved(target), threads, reciprocal, free)
    picked: dict[str, str | None] = {}
    for name in scheduled_functions(sch):
        picked |= AutoSchedule(sch, name, rules, leave).run()
    return picked


def scheduled_functions(sch: Schedule) -> list[str]:
    """The functions to schedule: the one that the schedule works on, or all."""
    if sch.func_working_on:
        return [sch.func_working_on]
    with enter_context():
        return [f.name for f in funcs(sch.executor.module)]


def rules_of(target: AnyTarget, threads: int | None, reciprocal: bool, free: bool) -> Rules:
    """The functions that schedule blocks for a target. Raises ScheduleError for options that it does not have."""
    gpu = target.as_gpu()
    if gpu is None:
        return CpuRules(target.as_cpu(), threads, reciprocal, free)
    if threads is not None or free:
        option = "threads" if threads is not None else "free"
        raise ScheduleError(f"{option} is for CPUs, and {gpu.chip} is a GPU; fix: leave it out")
    return GpuRules(gpu)


class AutoSchedule:
    """The state of scheduling all blocks of one function."""

    def __init__(
        self,
        sch: Schedule,
        function: str,
        rules: Rules,
        leave: Callable[[BlockHandle], bool] | None = None,
    ):
        self.sch, self.function, self.rules, self.leave = sch, function, rules, leave or (lambda block: False)
        root = sch.get_block("root", function)
        self.blocks = {block_info(sch, b).name: b for b in sch.get_child_blocks(root)}
        self.kinds = {name: kind_of(sch, b) for name, b in self.blocks.items()}
        self._known_readers: tuple[object, dict[str, set[str]]] = (None, {})  # with the version of the program
        self.picked: dict[str, str | None] = {n: None for n, kind in self.kinds.items() if kind in rules.kept_kinds}

    def run(self) -> dict[str, str | None]:
        if not self.picked and (together := self.rules.schedule_function(self.sch, self.function)) is not None:
            return dict.fromkeys(self.blocks, together)
        for name in reversed(self.blocks):
            if name not in self.picked:
                self._schedule_with_anchor(name)
        return {name: self.picked[name] for name in self.blocks}

    def _schedule_with_anchor(self, name: str) -> None:
        """Schedule a block; if it ends an elementwise chain after a product or a convolution, together with that."""
        anchor = self._anchor(name) if self.rules.epilogues else None
        if anchor is None:
            self._schedule(name)
            return
        old_nests, block = set(self._nests()), self.blocks[name]
        inline_producers(self.sch, block, self.light(name))
        merged = old_nests - set(self._nests())
        self.picked |= dict.fromkeys(merged)
        self._schedule(anchor, block)
        if name not in self.picked:
            self._schedule(name)
        self.picked |= dict.fromkeys(merged, self.picked[name])

    def _anchor(self, name: str) -> str | None:
        """The product or convolution whose elements a block, with its elementwise producers, computes further; None if
        others read them as well, or if there is more than that but reductions before it, such as scales."""
        if self.kinds[name] is not Kind.ELEMENTWISE or self.leave(self.blocks[name]):
            return None
        block = self.blocks[name]
        group = {m.info.name for m in with_producers(self.sch, block, self.light(name))}
        read = {n for n in self.blocks if n not in self.picked and n not in group and self._readers(n) & group}
        anchors = [n for n in self.blocks if n in read and self.kinds[n] in HEAVY and self._readers(n) <= group]
        if self.attention(name):
            return anchors[0] if read == set(anchors) and len(anchors) == 1 and self.attention(anchors[0]) else None
        later_blocks = list(self.blocks)[list(self.blocks).index(anchors[-1]) :] if anchors else list(self.blocks)
        reduced = {m.info.name for m in self.reductions(name, self.unfusible_blocks(name, HEAVY))}
        return anchors[-1] if anchors and reduced.isdisjoint(later_blocks) else None

    def attention(self, name: str) -> AttentionBlocks | None:
        """The attention that ends in a block. One has two products."""
        if not self.rules.attention or list(self.kinds.values()).count(Kind.PRODUCT) < 2:
            return None
        return attention_of(self.sch, self.blocks[name], self.unfusible_blocks(name, frozenset()))

    def reductions(self, name: str, fixed: frozenset[str]) -> list[Member]:
        """The reductions along rows among a block and its producers up to those in `fixed`."""
        return [m for m in with_producers(self.sch, self.blocks[name], fixed) if m.reduces]

    def follows_attention(self, name: str) -> bool:
        """Whether a block, which ends no attention, reads the result of one: heads put in another order."""
        read = {block_info(self.sch, b).name for b in self.sch.get_producers(self.blocks[name])}
        return any(n in self.blocks and n not in self.picked and self.attention(n) for n in read)

    def light(self, name: str) -> frozenset[str]:
        """The blocks that are not inlined into this one: those that are not elementwise, or that others read too."""
        fixed = self.unfusible_blocks(name, HEAVY)
        return fixed | {n for n, kind in self.kinds.items() if kind is not Kind.ELEMENTWISE}

    def _schedule(self, name: str, epilogue: BlockHandle | None = None) -> None:
        """Schedule a block by the first function that takes it; what that changes of other blocks counts as theirs."""
        if self.kinds[name] in (Kind.ELEMENTWISE, Kind.REDUCTION) and self.leave(self.blocks[name]):
            self.picked[name] = None
            return
        old_nests, why = self._nests(), "no function of tir_mlir.schedules fits it"
        for function, attempt in self.rules.attempts(self, name, epilogue):
            try:
                self.sch.executor.all_or_nothing(attempt)
            except InternalError:
                raise
            except ScheduleError as error:
                why = str(error).splitlines()[0]
                continue
            new_nests = self._nests()
            changed = {n for n in old_nests if n not in self.picked and old_nests[n] != new_nests.get(n)}
            self.picked |= dict.fromkeys({name, *changed}, function)
            return
        self.picked[name] = None
        warnings.warn(f'schedules.auto leaves block "{name}" as it is: {why}', ScheduleWarning, stacklevel=4)

    def unfusible_blocks(self, name: str, heavy: frozenset[Kind]) -> frozenset[str]:
        """The blocks that are not fused into this one: those of heavy kinds, those scheduled already, and those that
        others read as well."""
        heavy |= {Kind.OPAQUE, Kind.SCHEDULED, Kind.NUMBER}
        fixed = {n for n, kind in self.kinds.items() if kind in heavy} | set(self.picked)
        readers = {n: self._readers(n) for n in self.blocks if n not in fixed and n != name}
        group = {n for n in readers if readers[n]}
        while outside := {n for n in group if not readers[n] <= group | {name}}:
            group -= outside
        return frozenset(set(self.blocks) - group - {name})

    def _readers(self, name: str) -> set[str]:
        version, readers = self._known_readers
        if version is not self.sch.executor.version:
            self._known_readers = version, readers = self.sch.executor.version, {}
        if name not in readers:
            readers[name] = {block_info(self.sch, b).name for b in self.sch.get_consumers(self.blocks[name])}
        return readers[name]

    def _nests(self) -> dict[str, tuple]:
        """The loops of each block that is still there."""
        alive = {}
        for name, block in self.blocks.items():
            if self.sch.executor.is_alive(block):  # not inlined
                alive[name] = tuple((loop.id, kind_of_loop(self.sch, loop)) for loop in self.sch.get_loops(block))
        return alive
