"""What the tool tells of itself: passes, versions, times."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from tir_mlir.optdriver import options, pipeline, upstream
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.runtime import toolchain


def passes() -> str:
    """Our passes, one line each, then the upstream ones that run in process."""
    docs = pipeline.our_passes()
    steps = {pipeline.pass_name(p.name) for p in PRIMITIVES.values() if not p.pure}
    lines = ["schedule primitives:"]
    lines += [f"  {name + _options(name):68} {docs[name]}" for name in docs if name in steps]
    lines += ["", "passes on a whole module:"]
    lines += [f"  {name + _options(name):40} {text}" for name, text in docs.items() if name not in steps]
    lines += ["", "upstream passes that run in this process (any other runs in an mlir-opt of its own):"]
    lines += [f"  {name}" for name in sorted(upstream.IN_PROCESS) if not name.startswith("tir-")]
    return "\n".join(lines) + "\n"


def _options(name: str) -> str:
    """`{loop= factors= [preserve_unit_iters=]}`."""
    primitive = PRIMITIVES.get(pipeline.primitive_name(name))
    if primitive is not None and name not in pipeline.module_passes():
        return "{" + " ".join(options.summary(primitive)) + "}"
    if name not in pipeline.module_passes():
        return ""
    known = list(inspect.signature(pipeline.module_passes()[name].run).parameters)[1:]
    return "{" + " ".join(f"[{k}=]" for k in known) + "}" if known else ""


def versions() -> str:
    """Each part of the toolchain with its origin."""
    from tir_mlir import __version__

    found = {"tir-opt": __version__, **toolchain.versions()}
    width = max(map(len, found))
    return "".join(f"{name:{width}}  {text}\n" for name, text in found.items())


def timing(seconds: Sequence[tuple[str, float]]) -> str:
    """A table of seconds by pass, in the order of running."""
    total = sum(s for _, s in seconds)
    rows = [f"  {s:9.4f}  {100 * s / total if total else 0:5.1f}%  {name}" for name, s in seconds]
    return "\n".join(["  seconds   share   pass", *rows, f"  {total:9.4f}  100.0%  total"])
