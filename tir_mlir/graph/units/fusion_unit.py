"""What fusion has to know of one function: its kind, and what it reads element by element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from tir_mlir.dialect.ir import all_blocks, attrs, enter_context
from tir_mlir.graph.units.unit_queries import UnitQuery, decode_query, encode_result, parse_canonical, run_unit
from tir_mlir.schedule import Schedule
from tir_mlir.schedule.info import BlockInfo
from tir_mlir.schedules.block_queries import block_info, extents, iters
from tir_mlir.schedules.programs.attention import attention_of
from tir_mlir.schedules.programs.block_kinds import Kind, kind_of
from tir_mlir.schedules.steps import attempt
from tir_mlir.script.module import PrimFunc
from tir_mlir.targets.stages import BuildOptions

if TYPE_CHECKING:
    from tir_mlir.schedule import BlockHandle


class FunctionKind(Enum):
    """The kinds of functions with one result."""

    POINTWISE = "pointwise"  # each element from elements of the inputs
    PRODUCT = "product"  # a product or a convolution, also one with pointwise blocks around it
    ROWS = "rows"  # reductions, such as a softmax
    OPAQUE = "opaque"  # is not fused


@dataclass(frozen=True)
class FunctionFacts:
    """A kind, and the numbers of the inputs that are read at the position of the element that is computed, or, by a
    reduction, once for each element. copied: of the inputs that the schedule of an attention may compute from fewer
    bytes where it reads them: keys and values."""

    kind: FunctionKind
    aligned: frozenset[int] = frozenset()
    copied: frozenset[int] = frozenset()


def facts_of_each(functions: Sequence[PrimFunc], options: BuildOptions) -> list[FunctionFacts]:
    """The facts of functions."""
    answers = run_unit(f"{__name__}:facts", [UnitQuery(function) for function in functions], options)
    return [FunctionFacts(FunctionKind(kind), frozenset(a), frozenset(c)) for kind, a, c in answers]


def facts(payload: bytes) -> bytes:
    """The answer to one question of `facts_of_each`."""
    found = facts_of(parse_canonical(decode_query(payload)[0]))
    return encode_result([found.kind.value, sorted(found.aligned), sorted(found.copied)])


def facts_of(function: PrimFunc) -> FunctionFacts:
    """The facts of a TensorIR function."""
    with enter_context():
        func = function.func
        names = [func.arg_name(n) for n in range(len(func.args))]
        declared = any(attrs.READS in b.op.attributes or attrs.WRITES in b.op.attributes for b in all_blocks(func.op))
        if declared or len(func.params) != len(names):
            return FunctionFacts(FunctionKind.OPAQUE)
        shapes = [b.type.shape for b in func.params]
    sch = Schedule(function.isolated_module)
    blocks = sch.get_child_blocks(sch.get_block("root"))
    kinds = {kind_of(sch, b) for b in blocks}
    infos = [block_info(sch, b) for b in blocks]
    if (
        not kinds
        or kinds & {Kind.OPAQUE, Kind.SCHEDULED, Kind.NUMBER}
        or sum(str(w) == names[-1] for i in infos for w in i.writes) != 1
    ):
        return FunctionFacts(FunctionKind.OPAQUE)
    if kinds & {Kind.PRODUCT, Kind.CONVOLUTION}:
        return FunctionFacts(FunctionKind.PRODUCT, copied=_keys_and_values(sch, blocks, names[:-1]))
    aligned = {
        names.index(str(read))
        for info in infos
        for read in info.reads
        if str(read) in names[:-1]
        and [list(a) for a in read.axes] == [list(a) for a in info.writes[0].axes]
        and shapes[names.index(str(read))] == shapes[-1]
    }
    kind = FunctionKind.ROWS if Kind.REDUCTION in kinds else FunctionKind.POINTWISE
    return FunctionFacts(kind, frozenset(aligned | _read_once(infos, names[:-1])))


def _keys_and_values(sch: Schedule, blocks: Sequence[BlockHandle], names: Sequence[str]) -> frozenset[int]:
    """The inputs that the two products of an attention read as they are, on the right."""
    if sum(kind_of(sch, b) is Kind.PRODUCT for b in blocks) < 2:
        return frozenset()
    attention = next((what for b in reversed(blocks) if (what := attempt(sch, partial(attention_of, sch, b)))), None)
    read = [] if attention is None else [product.right.name for product in attention.products.values()]
    return frozenset(names.index(name) for name in read if name in names)


def _read_once(infos: Sequence[BlockInfo], names: Sequence[str]) -> set[int]:
    """The inputs of which one block, a reduction, reads each element once: `S[i] += X[i, k]`."""
    buffers_read = set()
    for number, name in enumerate(names):
        readers = [(info, r) for info in infos for r in info.reads if str(r) == name]
        info, read = readers[0] if len(readers) == 1 else (None, None)
        if info is None or read is None or not iters(info, "R"):
            continue
        sizes = extents(info)
        axes = [a[0] for a in read.axes if len(a) == 1]
        whole = [sizes.get(a) for a in axes] == list(read.buffer.shape)
        if whole and sorted(axes) == sorted(a for a in sizes if sizes[a] != 1 or a in axes):
            buffers_read.add(number)
    return buffers_read
