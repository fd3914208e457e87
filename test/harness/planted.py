"""Failing kinds of items, for tests of the runner and the shrinker."""

import os
import time
from dataclasses import replace

from mlir import ir

from fuzzing.kinds import Fault, Kind


def _word(random):
    return "".join(random.choice("ab(") for _ in range(random.randrange(30)))


def fine(random):
    return "accepted" if "(" in _word(random) else "refused"


def raises(random):
    word = _word(random)
    if "(" in word:
        raise Fault(f"a bracket is left open\n{word!r}")
    return "accepted"


def crashes(random):
    return str(1 // ("(" not in _word(random)))


def aborts(random):
    if "(" in _word(random):
        os.abort()
    return "accepted"


def hangs(random):
    if "(" in _word(random):
        time.sleep(1000)
    return "accepted"


def guards_lost(random):
    """A pair in which `split` drops its guards."""
    from fuzzing.pairs.pair import case
    from tir_mlir.dialect.ir import walk
    from tir_mlir.passes.schedule import PRIMITIVES

    known = PRIMITIVES["split"]

    def split(loop, *args, **kwargs):
        root = walk.parents(loop.op)[-1]
        made = known.run(loop, *args, **kwargs)
        for op in walk.ops(root):
            if op.name == "affine.if" and "tir.where" in op.attributes:
                holds = ir.IntegerSet.get(len(op.operands), 0, [ir.AffineConstantExpr.get(0)], [False])
                op.attributes["condition"] = ir.IntegerSetAttr.get(holds)
        return made

    PRIMITIVES["split"] = replace(known, run=split)
    try:
        return case(random)
    finally:
        PRIMITIVES["split"] = known


KINDS = {f.__name__: Kind(f) for f in (fine, raises, crashes, aborts, hangs)}
