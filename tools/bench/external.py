"""Call one external function on every thread; used to measure the machine itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tir_mlir import Schedule, build
from tir_mlir.script.parser import parse

_TEXT = """
@T.prim_func
def main({parameters}):
    for t in range({threads}):
        with T.block("call"):
            vt = T.axis.spatial({threads}, t)
            T.reads({regions})
            T.writes({regions})
            {matches}
            T.evaluate(T.call_extern("int32", "{name}", {pointers}, {numbers}))
"""


def on_all_threads(name: str, code: str, arrays: Sequence[np.ndarray], numbers: Sequence[int]) -> Callable[[], object]:
    """Return a call that runs the LLVM function `name(pointers..., numbers...)` in parallel, once per row of the
    arrays.

    Each array has one row per thread; each call gets one row of each array.
    """
    each = [(f"x{i}", array.shape[1], array.dtype.name) for i, array in enumerate(arrays)]
    threads = arrays[0].shape[0]
    text = _TEXT.format(
        name=name,
        threads=threads,
        parameters=", ".join(f'{x}: T.Buffer(({threads}, {size}), "{dtype}")' for x, size, dtype in each),
        regions=", ".join(f"{x}[vt, 0:{size}]" for x, size, _ in each),
        matches="\n            ".join(
            f'{x}_row = T.match_buffer({x}[vt, 0:{size}], ({size},), "{dtype}", strides=[1], offset_factor=1)'
            for x, size, dtype in each
        ),
        pointers=", ".join(f'{x}_row.access_ptr("rw")' for x, _, _ in each),
        numbers=", ".join(map(str, numbers)),
    )
    sch = Schedule(parse(text))
    (loop,) = sch.get_loops("call")
    sch.annotate(loop, "pragma_import_llvm", code)
    if threads > 1:
        sch.parallel(loop)
    main = build(sch)["main"]
    return lambda: main(*arrays)
