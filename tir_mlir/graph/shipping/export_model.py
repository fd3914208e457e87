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
    out_dir = Path(folder)
    name = name or re.sub(r"\W", "_", out_dir.resolve().name)
    if not _NAME.fullmatch(name) or name == "main":
        raise BuildError(f"the name of an exported model is a C identifier, not {short_repr(name)}; fix: name=...")
    if apart := python_calls(plan):
        raise BuildError(
            f"the model calls {', '.join(sorted(apart))} of Python, which a library without Python cannot; fix: give "
            "it as C, in libs=[...]"
        )
    for_host = not isinstance(target, Target) or not target.triple
    if for_host:
        toolchain.require(("zig",), "model.export")
    with entered():
        module = lower_main(graph.module.mlir, {name: plan})
        ranges = attrs.get(graph.func.op, encoding.RANGES, {})
    out_dir.mkdir(parents=True, exist_ok=True)
    written = {out_dir / f"{name}.safetensors": weights_file.file_content(plan, weights)}
    with built_as_given():
        library = build(module, target, driver="jit" if for_host else "object", libs=libs)
    if not for_host and isinstance(target, Target) and target.arch == "wasm32":
        return _web(library, out_dir, name, plan, written, ranges)
    (signature,) = library.exporter.signatures
    kernels = f"{name}_kernels"
    model = CModel(name, plan, c_entry.CEntry(signature, kernels), target, ranges)
    written |= {
        out_dir / f"{name}.h": model.header().encode(),
        out_dir / f"{name}.c": model.loader().encode(),
        out_dir / "example.c": model.example().encode(),
    }
    files.write_whole(written)
    binaries = _library(library, model, out_dir) if for_host else library.export(out_dir / f"{kernels}.o", kernels)
    return [*written, *binaries]


def _web(
    library: Library,
    out_dir: Path,
    name: str,
    plan: Plan,
    written: dict[Path, bytes],
    ranges: Mapping[str, Sequence[int]],
) -> list[Path]:
    """NAME.wasm, and NAME.js: the loader of the code, and of the model."""
    module, loader = library.export(out_dir / f"{name}.wasm")
    written |= {Path(loader): Path(loader).read_bytes() + model_part(name, plan, ranges).encode()}
    files.write_whole(written)
    return [*written, module]


def _library(library: Library, model: CModel, out_dir: Path) -> list[Path]:
    """NAME.so and libNAME.a: the compiled code, and the loader."""
    name, kernels = model.name, model.kernels.name
    with files.folder() as temporary:
        objects = [str(Path(temporary, f"{part}.o")) for part in (kernels, name)]
        _, written = library.export(objects[0], kernels)
        headers: Mapping[Path, bytes] = {out_dir / f"{kernels}.h": written.read_bytes()}
        files.write_whole(dict(headers))
        options = ["-c", "-O2", "-fPIC", "-fno-sanitize=all", f"-I{out_dir}"]
        toolchain.run("zig", ["cc", *options, str(out_dir / f"{name}.c"), "-o", objects[1]])
        shared, static = Path(temporary, f"{name}.so"), Path(temporary, f"lib{name}.a")
        aot.link_shared(objects, str(shared), library.exporter.needed_libraries(), model.functions)
        toolchain.run("zig", ["ar", "rcs", str(static), *objects])
        libraries = {out_dir / path.name: path.read_bytes() for path in (shared, static)}
        files.write_whole(dict(libraries))
    return [*headers, *libraries]
