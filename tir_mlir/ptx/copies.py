"""Asynchronous copies on their way: they land when somebody waits for them and nobody else can go on, as late as
allowed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx.clocks import Clocks

if TYPE_CHECKING:
    from tir_mlir.ptx.instructions.mbarriers import Mbarrier
    from tir_mlir.ptx.machine import Machine


@dataclass
class ThreadCopies:
    """`cp.async` of some lanes: `group` of each, and what lands the copies of a part of them."""

    lanes: np.ndarray
    group: np.ndarray
    land: Callable[[np.ndarray], None]


@dataclass
class BulkCopy:
    """A bulk copy that an mbarrier counts: `land` moves the bytes."""

    barrier: Mbarrier
    bytes: int
    land: Callable[[], None]
    text: str
    line: int


@dataclass
class ArriveOn:
    """`cp.async.mbarrier.arrive`: a lane arrives when its copies up to a group (not included) have landed."""

    lanes: np.ndarray
    groups: np.ndarray
    barrier: Mbarrier
    counted: bool


class Copies:
    """The copies on their way of all blocks. `open[lane]`: the number of the group that a lane's next `cp.async` joins;
    `bulk_open`: the same for bulk groups, whose copies out of shared memory land when they are waited for."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.threads: list[ThreadCopies] = []
        self.bulk: list[BulkCopy] = []
        self.arrivals: list[ArriveOn] = []
        self.open = np.zeros(machine.lanes, np.int64)
        self.bulk_groups: dict[int, list[list[Callable[[], None]]]] = {}
        self.bulk_done = np.zeros(machine.lanes, np.int64)

    @property
    def order(self) -> Clocks:
        order = self.machine.order
        assert isinstance(order, Clocks)
        return order

    # --- cp.async ---

    def land_groups(self, lanes: np.ndarray, limit: np.ndarray) -> None:
        """Land the copies of these lanes in groups before `limit`; the lanes know it."""
        end = np.zeros(self.machine.lanes, np.int64)
        end[lanes] = limit
        still = []
        for copies in self.threads:
            ready = copies.group < end[copies.lanes]
            if ready.any():
                copies.land(ready)
                copies.lanes, copies.group = copies.lanes[~ready], copies.group[~ready]
            if len(copies.lanes):
                still.append(copies)
        self.threads = still
        self.order.complete(lanes, self.order.copies + self.order.thread_of[lanes], np.maximum(limit, 0))

    # --- bulk copies ---

    def land_bulk(self) -> bool:
        """Land the oldest copy that somebody waits for; of no block somebody does, nothing lands."""
        for i, copy in enumerate(self.bulk):
            if copy.barrier.waiting:
                del self.bulk[i]
                copy.land()
                copy.barrier.landed += 1
                copy.barrier.bytes -= copy.bytes
                self.machine.mbarriers.flip(copy.barrier)
                return True
        for i, arrival in enumerate(self.arrivals):
            if arrival.barrier.waiting:
                del self.arrivals[i]
                self.land_groups(arrival.lanes, arrival.groups)
                self.machine.mbarriers.arrive(arrival.lanes, arrival.barrier, int(arrival.counted), 0, False)
                return True
        return False

    def commit_bulk(self, lane: int) -> None:
        self.bulk_groups.setdefault(lane, [[]]).append([])

    def issue_bulk(self, lane: int, land: Callable[[], None]) -> int:
        """A copy joins the open bulk group of a lane; returns the number of the group, from 1."""
        queue = self.bulk_groups.setdefault(lane, [[]])
        queue[-1].append(land)
        return int(self.bulk_done[lane]) + len(queue)

    def wait_bulk(self, lane: int, pending: int) -> None:
        """All but the last `pending` committed groups of the lane land."""
        queue = self.bulk_groups.setdefault(lane, [[]])
        while len(queue) - 1 > pending:
            for land in queue.pop(0):
                land()
            self.bulk_done[lane] += 1
        self.order.complete(
            np.array([lane]), self.order.groups + int(self.order.thread_of[lane]), int(self.bulk_done[lane])
        )

    def finish(self) -> None:
        """The launch has ended: bulk copies out of shared memory land; a copy into it that is still on its way is a
        fault."""
        if self.bulk:
            copy = self.bulk[0]
            block = self.machine.block_of(slice(None), copy.barrier.block * self.machine.width)
            from tir_mlir.errors import PtxError

            raise PtxError(
                f"the block ends while a copy into its shared memory may be on its way: nobody waits for `{copy.text}`",
                "deadlock", copy.line, None, self.machine.kernel.name, block,
            )  # fmt: skip
        for queue in self.bulk_groups.values():
            for group in queue:
                for land in group:
                    land()
