"""Write a model as files that need no Python."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import BuildError, short_repr
from tir_mlir.dialect.graph import encoding
from tir_mlir.dialect.ir import attrs, entered
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.lower_main import lower_main
from tir_mlir.graph.memory.places import Plan
from tir_mlir.graph.model_parts import python_calls
from tir_mlir.graph.shipping import weights_file
from tir_mlir.graph.shipping.c_model import CModel
from tir_mlir.graph.shipping.js_model import model_part
from tir_mlir.runtime.drivers import aot, c_entry
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.runtime.tools import files, toolchain
from tir_mlir.target import Target

_NAME = re.compile(r"[A-Za-z_]\w*")


def export_model(
    graph: Graph,
    plan: Plan,
    weights: np.ndarray,
    folder: str | Path,
    name: str | None,
    target: Target | str,
    libs: Sequence[str | Path],
) -> list[Path]:
    """Write the files of a model to a folder, see `Model.export`. Raises BuildError."""
    place = Path(folder)
    name = name or re.sub(r"\W", "_", place.resolve().name)
    if not _NAME.fullmatch(name) or name == "main":
        raise BuildError(f"the name of an exported model is a C identifier, not {short_repr(name)}; fix: name=...")
    if apart := python_calls(plan):
        raise BuildError(
            f"the model calls {', '.join(sorted(apart))} of Python, which a library without Python cannot; fix: give "
            "it as C, in libs=[...]"
        )
    own = not isinstance(target, Target) or not target.triple
    if own:
        toolchain.require(("zig",), "model.export")
    with entered():
        module = lower_main(graph.module.mlir, {name: plan})
        ranges = attrs.get(graph.func.op, encoding.RANGES, {})
    place.mkdir(parents=True, exist_ok=True)
    written = {place / f"{name}.safetensors": weights_file.file_content(plan, weights)}
    with built_as_given():
        library = build(module, target, driver="jit" if own else "object", libs=libs)
    if not own and isinstance(target, Target) and target.arch == "wasm32":
        return _web(library, place, name, plan, written, ranges)
    (signature,) = library.exporter.signatures
    kernels = f"{name}_kernels"
    model = CModel(name, plan, c_entry.CEntry(signature, kernels), target, ranges)
    written |= {
        place / f"{name}.h": model.header().encode(),
        place / f"{name}.c": model.loader().encode(),
        place / "example.c": model.example().encode(),
    }
    files.write_whole(written)
    made = _library(library, model, place) if own else library.export(place / f"{kernels}.o", kernels)
    return [*written, *made]


def _web(
    library: Library,
    place: Path,
    name: str,
    plan: Plan,
    written: dict[Path, bytes],
    ranges: Mapping[str, Sequence[int]],
) -> list[Path]:
    """NAME.wasm, and NAME.js: the loader of the code, and of the model."""
    module, loader = library.export(place / f"{name}.wasm")
    written |= {Path(loader): Path(loader).read_bytes() + model_part(name, plan, ranges).encode()}
    files.write_whole(written)
    return [*written, module]


def _library(library: Library, model: CModel, place: Path) -> list[Path]:
    """NAME.so and libNAME.a: the compiled code, and the loader."""
    name, kernels = model.name, model.kernels.name
    with files.folder() as temporary:
        objects = [str(Path(temporary, f"{part}.o")) for part in (kernels, name)]
        _, written = library.export(objects[0], kernels)
        made: Mapping[Path, bytes] = {place / f"{kernels}.h": written.read_bytes()}
        files.write_whole(dict(made))
        options = ["-c", "-O2", "-fPIC", "-fno-sanitize=all", f"-I{place}"]
        toolchain.run("zig", ["cc", *options, str(place / f"{name}.c"), "-o", objects[1]])
        shared, static = Path(temporary, f"{name}.so"), Path(temporary, f"lib{name}.a")
        aot.link_shared(objects, str(shared), library.exporter.needed_libraries(), model.functions)
        toolchain.run("zig", ["ar", "rcs", str(static), *objects])
        libraries = {place / path.name: path.read_bytes() for path in (shared, static)}
        files.write_whole(dict(libraries))
    return [*made, *libraries]
