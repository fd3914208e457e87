"""Random and mutated inputs for everything that parses text or takes values, by kind."""

from __future__ import annotations

from fuzzing.inputs import (
    arrays,
    cached,
    descriptions,
    doors,
    kernels,
    linalg,
    maps,
    mlir,
    names,
    replays,
    script,
    simplify,
    steps,
    tensors,
    traces,
)
from fuzzing.kinds import Kind

KINDS: dict[str, Kind] = {
    "script": Kind(script.case, 6),
    "mlir": Kind(mlir.case, 5),
    "doors": Kind(doors.case, 3),
    "steps": Kind(steps.case, 4),
    "traces": Kind(traces.case, 4),
    "replays": Kind(replays.case, 2),
    "simplify": Kind(simplify.case, 1),
    "arrays": Kind(arrays.case, 3),
    "maps": Kind(maps.case, 2),
    "tensors": Kind(tensors.case, 2),
    "cached": Kind(cached.case, 2),
    "descriptions": Kind(descriptions.case, 1),
    "linalg": Kind(linalg.case, 1),
    "kernels": Kind(kernels.case, 1),
    "names": Kind(names.case, 2),
}
