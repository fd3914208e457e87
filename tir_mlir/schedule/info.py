"""The results of `Schedule.get`: properties of blocks and loops, with the attribute names of TVM as aliases."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from mlir import ir

from tir_mlir.dialect.analysis import Region
from tir_mlir.dialect.analysis.regions import regions
from tir_mlir.dialect.ir import Block, Buffer, Func, Index, Loop, only_reads, used_dims
from tir_mlir.dialect.ir.index import compose
from tir_mlir.dialect.ir.memo import ENTRIES
from tir_mlir.dialect.presburger import linear_terms

_KINDS = {"serial": 0, "parallel": 1, "vectorized": 2, "unrolled": 3}  # the numbers of TVM's ForKind
_THREAD = 4
_ITER_TYPES = {"S": 0, "R": 2, "O": 4}  # the numbers of TVM's IterVar types


class LoopKind(str):
    """The kind of a loop (`serial`, `threadIdx.x`, ...). Also compares equal to the number of TVM's ForKind."""

    def __int__(self) -> int:
        return _KINDS.get(str(self), _THREAD)

    def __eq__(self, rhs: object) -> bool:
        return int(self) == rhs if isinstance(rhs, int) else str.__eq__(self, rhs)

    def __ne__(self, rhs: object) -> bool:
        return not self == rhs

    __hash__ = str.__hash__


class Extent(int):
    """An integer with a `.value`, as TVM's IntImm."""

    @property
    def value(self) -> int:
        return int(self)


class Name(str):
    """A name with a `.name`, as TVM's Var."""

    @property
    def name(self) -> str:
        return str(self)


@dataclass(frozen=True)
class RangeInfo:
    """[min, min + extent). If not constant, `min` is text and `extent` is None."""

    min: int | str
    extent: int | None


@dataclass(frozen=True)
class BufferInfo:
    """A buffer: name, shape (None for symbolic extents), element type and storage scope. adjacent: whether elements of
    the last dimension are adjacent in memory."""

    name: str
    shape: tuple[int | None, ...]
    dtype: str
    storage_scope: str
    adjacent: bool = True

    def scope(self) -> str:
        return self.storage_scope


class RegionInfo(str):
    """A region that a block reads or writes: the name of the buffer, with `.buffer` and `.region`.

    `.axes`: for each dimension, the names of the iters in its index.
    """

    buffer: BufferInfo
    region: tuple[RangeInfo, ...]
    axes: tuple[tuple[str, ...], ...]
    _mins: tuple[tuple[ir.AffineExpr, int], ...]  # with the number of values; without these: it outlives the program
    _names: tuple[tuple[str, ...], ...]  # of the iters that are the values of `_mins`; "" for others

    @staticmethod
    def from_region(region: Region, block: Block) -> RegionInfo:
        info = RegionInfo(region.buffer.name)
        info._mins = tuple((low.expr, len(low.values)) for low in region.mins)
        names = {it.var: it.name for it in block.iters}
        info._names = tuple(tuple(names.get(value, "") for value in low.values) for low in region.mins)
        info.buffer = _buffer(region.buffer)
        info.axes = tuple(tuple(i.name for i in block.iters if i.var in low.values) for low in region.mins)
        info.region = tuple(_range(low, size) for low, size in zip(region.mins, region.extents, strict=True))
        return info

    def index_at(self, dimension: int, value: int) -> int | None:
        """The first index in a dimension where its only iter has this value; None if it does not have just one."""
        low, count = self._mins[dimension]
        if count != 1:
            return None
        with low.context:
            return compose(low, [Index.constant(value)]).as_constant()

    def steps(self, name: str, extent: int) -> list[int] | None:
        """How far apart in memory what an iter reads and what its next value reads are, for each value but the last.
        None for symbolic shapes, if it depends on other iters, and for indices below 0, which a condition excludes."""
        places, stride = np.zeros(extent, np.int64), 1
        for (low, _), names, size in list(zip(self._mins, self._names, self.buffer.shape, strict=True))[::-1]:
            values = np.zeros(extent, np.int64)
            terms, constant = linear_terms(low)
            for term, factor in terms.items():
                used = {names[position] for position in used_dims(term)}
                if used == {name}:
                    values += factor * _evaluate(term, np.arange(extent))
                elif name in used:
                    return None
            places += stride * values
            if size is None or constant < 0:
                return None
            stride *= size
        return np.diff(places).tolist()


def _evaluate(expr: ir.AffineExpr, values: np.ndarray) -> np.ndarray:
    """An expression of one dimension, for many values of it."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineConstantExpr):
        return np.full_like(values, expr.value)
    if not isinstance(expr, ir.AffineBinaryExpr):
        return values
    lhs, rhs = _evaluate(expr.lhs, values), _evaluate(expr.rhs, values)
    if isinstance(expr, ir.AffineAddExpr):
        return lhs + rhs
    if isinstance(expr, ir.AffineMulExpr):
        return lhs * rhs
    if isinstance(expr, ir.AffineModExpr):
        return lhs % rhs
    return -(-lhs // rhs) if isinstance(expr, ir.AffineCeilDivExpr) else lhs // rhs


@dataclass(frozen=True)
class IterInfo:
    """An iter of a block."""

    name: str
    kind: str
    dom: RangeInfo

    @property
    def var(self) -> Name:
        return Name(self.name)

    @property
    def iter_type(self) -> int:
        return _ITER_TYPES[self.kind]


@dataclass(frozen=True)
class ThreadInfo:
    """The thread axis that a loop is bound to."""

    thread_tag: str


@dataclass(frozen=True)
class LoopInfo:
    """A snapshot of a loop. `extent` is None if symbolic."""

    name: str
    extent: int | None
    kind: LoopKind
    annotations: dict[str, object]
    min: int | str = 0

    @property
    def loop_var(self) -> Name:
        return Name(self.name)

    @property
    def thread_binding(self) -> ThreadInfo | None:
        return ThreadInfo(str(self.kind)) if int(self.kind) == _THREAD else None


@dataclass(frozen=True)
class BlockInfo:
    """A snapshot of a block. `iters`: (name, kind) of each iter."""

    name: str
    iters: list[tuple[str, str]]
    reads: list[RegionInfo]
    writes: list[RegionInfo]
    annotations: dict[str, object]
    iter_vars: list[IterInfo] = field(default_factory=list)

    @property
    def name_hint(self) -> str:
        return self.name


Info = LoopInfo | BlockInfo


def own_copy(info: Info) -> Info:
    """A snapshot that its user may modify."""
    annotations = deepcopy(info.annotations)
    if isinstance(info, LoopInfo):
        return replace(info, annotations=annotations)
    lists = list(info.iters), list(info.reads), list(info.writes)
    return BlockInfo(info.name, *lists, annotations, list(info.iter_vars))


@only_reads
def info_of(view: Loop | Block | Func) -> Info:
    """The LoopInfo or BlockInfo of a view."""
    if isinstance(view, Loop):
        extent = view.const_extent
        static_extent = None if extent is None else Extent(extent)
        return LoopInfo(view.name, static_extent, LoopKind(view.kind), view.annotations, _number(view.lower.expr))
    if isinstance(view, Func):
        return BlockInfo("root", [], [], [], view.annotations)
    reads, writes = regions(view)
    iters = [IterInfo(i.name, i.kind, _range(i.min, i.extent)) for i in view.iters]
    return BlockInfo(
        view.name,
        [(i.name, i.kind) for i in iters],
        [RegionInfo.from_region(r, view) for r in reads],
        [RegionInfo.from_region(w, view) for w in writes],
        view.annotations,
        iters,
    )


def _buffer(buffer: Buffer) -> BufferInfo:
    strides, _ = ir.MemRefType(buffer.value.type).get_strides_and_offset()
    return BufferInfo(buffer.name, tuple(buffer.shape), buffer.dtype, buffer.scope, strides[-1:] in ([], [1]))


def _range(low: Index, size: Index) -> RangeInfo:
    return _range_of(low.expr, size.expr)


@lru_cache(maxsize=ENTRIES)
def _range_of(low: ir.AffineExpr, size: ir.AffineExpr) -> RangeInfo:
    number = Index(size).as_constant()
    return RangeInfo(_number(low), None if number is None else Extent(number))


@lru_cache(maxsize=ENTRIES)
def _number(expr: ir.AffineExpr) -> int | str:
    number = Index(expr).as_constant()
    return str(expr) if number is None else Extent(number)
