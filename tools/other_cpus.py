"""Print the predefined CPUs as which tests run on this machine too, one a line, for TIR_HOST.

Before a merge: AVX2 where the machine has AVX-512. With --all, nightly: every predefined CPU of this architecture whose
instruction sets are some of this machine's, AMX off included.
"""

from __future__ import annotations

import sys

from tir_mlir.target import NAMES, host
from tir_mlir.target.host import machine_features

BEFORE_A_MERGE = {"avx2": "avx512f", "neon": "dotprod"}
"""A CPU, and an instruction set that it lacks: it differs from machines that have this."""


def names(every: bool) -> list[str]:
    """The CPUs, by name: of those that this machine runs, the ones that lack some of its vector instruction sets."""
    known = {words for cpu in NAMES.values() for words in cpu.features}
    here = machine_features() & known
    runnable = [name for name, cpu in NAMES.items() if cpu.hindrance is None and cpu.arch == host().arch]
    if every:
        distinct = {NAMES[name].record_key(1): name for name in reversed(runnable) if NAMES[name].features < here}
        return list(distinct.values())[::-1]
    return [name for name in runnable if BEFORE_A_MERGE.get(name) in here]


if __name__ == "__main__":
    print(*names("--all" in sys.argv[1:]), sep="\n")
