"""Why a block fits an intrinsic or not, for each way of laying one beside the other. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tir_mlir.dialect.computation import Form, NotRaisable, TensorIntrin, Way, raise_form, ways
from tir_mlir.dialect.diagnostics import IntrinError, ScheduleError, short_repr
from tir_mlir.dialect.ir import Block, only_reads
from tir_mlir.passes.schedule.blocks.intrinsic_body import check_inlinable
from tir_mlir.passes.schedule.blocks.tensorize import bound_to, region_checks


@dataclass(frozen=True)
class Fit:
    """An intrinsic beside a block: each way with what differs, the best first; `obstacle` where there is no way at all.

    True when it fits.
    """

    name: str
    ways: tuple[Way, ...] = ()
    obstacle: str = ""

    def __bool__(self) -> bool:
        return any(not way.differences for way in self.ways)

    def __str__(self) -> str:
        if self.obstacle:
            return f"{self.name}: does not fit: {self.obstacle}"
        lines = [f"{self.name}: fits ({way})" for way in self.ways if not way.differences]
        lines += [] if self else [f"{self.name}: does not fit"]
        for way in self.ways:
            if way.differences:
                lines += [f"  not with {way}:"] if way.operands else []
                lines += [f"  - {d}" for d in way.differences]
        return "\n".join(lines)


@dataclass(frozen=True)
class Fits(Mapping[str, Fit]):
    """Intrinsics beside one block, by name. True when one of them fits."""

    by_name: dict[str, Fit]

    def __getitem__(self, name: str) -> Fit:
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    def __bool__(self) -> bool:
        return any(self.by_name.values())

    def __str__(self) -> str:
        return "\n".join(map(str, self.by_name.values())) or "no tensor intrinsic is registered"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "<pre>" + str(self).replace("&", "&amp;").replace("<", "&lt;") + "</pre>"


def explain_tensorize(block: Block, tensor_intrin: str | Sequence[str] | None = None) -> Fits:
    """For each intrinsic (all known ones when none is named): what its parameters would be bound to, or what differs.

    Call inside `context.entered()`; the module stays as it is. Errors: IntrinError for an unknown intrinsic.
    """
    if tensor_intrin is not None and not isinstance(tensor_intrin, (str, list, tuple)):
        raise IntrinError(f"an intrinsic goes by its name, several by a list of names, not {short_repr(tensor_intrin)}")
    names = [tensor_intrin] if isinstance(tensor_intrin, str) else list(tensor_intrin or TensorIntrin.list())
    intrinsics = [i for n in names if (i := TensorIntrin.get(n)) is not None]
    try:
        form = raise_form(block)
    except NotRaisable as error:
        return Fits({n: Fit(n, obstacle=f"{block} is no pure tensor computation: {error}") for n in names})
    return Fits({i.name: _fit(block, form, i) for i in intrinsics})


@only_reads
def _fit(block: Block, form: Form, intrinsic: TensorIntrin) -> Fit:
    if not form.canonical().axes and intrinsic.form().canonical().axes:
        way = "tensorize takes the loop around the tile, or a blockized block"
        return Fit(intrinsic.name, obstacle=f"{block} is a single point; {way}")
    return Fit(intrinsic.name, tuple(_checked(block, way, intrinsic) for way in ways(form, intrinsic.form())))


def _checked(block: Block, way: Way, intrinsic: TensorIntrin) -> Way:
    """A way that fits, with what the implementation misses in the regions."""
    if way.match is None:
        return way
    impl = intrinsic.impl_func()
    found = []
    for asked in region_checks(block, bound_to(way.match, impl.func), impl.func, intrinsic.name):
        try:
            asked()
        except ScheduleError as error:
            found.append(error.reason)
    try:
        check_inlinable(impl.func, intrinsic.name)
    except ScheduleError as error:
        found.append(error.reason)
    return Way(way.operands, way.axes, tuple(found), way.match)
