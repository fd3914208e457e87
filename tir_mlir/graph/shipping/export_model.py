"""Write a model as files that need no Python."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import BuildError, short_repr
from tir_mlir.dialect.graph import encoding
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.dialect.symbolic import js_code, parse
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.arena import LINE
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan
from tir_mlir.graph.memory.lower_main import lower_main
from tir_mlir.graph.model_parts import python_calls
from tir_mlir.graph.shipping import weights_file
from tir_mlir.graph.shipping.c_model import CModel
from tir_mlir.runtime.call.function import PREFIX
from tir_mlir.runtime.drivers import c_entry, shared_libraries
from tir_mlir.runtime.library import Library, c_exporter
from tir_mlir.runtime.progress import follow_build, stage
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.runtime.tools import c_tools, files
from tir_mlir.targets.stages import BuildOptions

_NAME = re.compile(r"[A-Za-z_]\w*")


def export_model(
    graph: Graph,
    plan: ExecutionPlan,
    weights: np.ndarray,
    folder: str | Path,
    name: str | None,
    options: BuildOptions,
) -> list[Path]:
    """Write the files of a model to a folder, see `Model.export`. Raises BuildError."""
    with follow_build(f"export of {graph.name}"):
        return _export_plan(graph, plan, weights, folder, name, options)


def _export_plan(
    graph: Graph,
    plan: ExecutionPlan,
    weights: np.ndarray,
    folder: str | Path,
    name: str | None,
    options: BuildOptions,
) -> list[Path]:
    out_dir = Path(folder)
    name = name or re.sub(r"\W", "_", out_dir.resolve().name)
    if not _NAME.fullmatch(name) or name == "main":
        raise BuildError(f"the name of an exported model is a C identifier, not {short_repr(name)}; fix: name=...")
    cpu = options.compiled_for.as_cpu()
    for_host, for_web = not cpu.triple, cpu.arch == "wasm32"
    _check_plan(plan, for_web)
    if for_host:
        c_tools.require("model.export")
    with stage("whole program"), enter_context():
        module = lower_main(graph.module.mlir, {name: plan})
        ranges = attrs.get(graph.func.op, encoding.RANGES, {})
        counts = attrs.get(graph.func.op, encoding.COUNTS, {})
        checks = attrs.get(graph.func.op, encoding.CHECKS, [])
    out_dir.mkdir(parents=True, exist_ok=True)
    written = {out_dir / f"{name}.safetensors": weights_file.file_content(plan, weights)}
    with built_as_given():
        library = build(module, options.target, driver="jit" if for_host else "object", libs=options.libs)
    if for_web:
        return _web(library, out_dir, name, plan, written, ranges)
    exporter = c_exporter(library)
    (signature,) = exporter.signatures
    kernels = f"{name}_kernels"
    runtime = shared_libraries.bundled_libraries(exporter.needed_libraries()) if for_host else {}
    shipped = [file.name for file in runtime.values()]
    model = CModel(name, plan, c_entry.CEntry(signature, kernels), cpu, ranges, counts, shipped, checks)
    written |= {
        out_dir / f"{name}.h": model.header().encode(),
        out_dir / f"{name}.c": model.loader().encode(),
        out_dir / "example.c": model.example().encode(),
    }
    with stage("files"):
        files.write_whole(written)
    with stage("code"):
        binaries = _library(library, model, out_dir) if for_host else library.export(out_dir / f"{kernels}.o", kernels)
    return [*written, *binaries]


def _check_plan(plan: ExecutionPlan, for_web: bool) -> None:
    """Errors: BuildError for a model with functions of Python; for WebAssembly, whose loader copies inputs and makes
    outputs, also for one that writes to inputs, or with shapes that inputs do not tell."""
    if plan.donated and for_web:
        names = ", ".join(plan.inputs[number][0] for number in plan.donated.values())
        raise BuildError(
            f"the model writes to its inputs {names}, and a WebAssembly one has copies of them; fix: build the graph "
            'of mutated="return"'
        )
    if plan.bounds and for_web:
        raise BuildError(
            f"data decide on the size {next(iter(plan.bounds))} of the model, and one for WebAssembly has shapes that "
            "its inputs tell; fix: return tensors of known shapes, and a mask"
        )
    if apart := python_calls(plan):
        raise BuildError(
            f"the model calls {', '.join(sorted(apart))} of Python, which a library without Python cannot; fix: give "
            "it as C, in libs=[...]"
        )


def _web(
    library: Library,
    out_dir: Path,
    name: str,
    plan: ExecutionPlan,
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
        c_tools.compile_c(out_dir / f"{name}.c", objects[1], f"-I{out_dir}")
        shared, static = Path(temporary, f"{name}.so"), Path(temporary, f"lib{name}.a")
        needed = c_exporter(library).needed_libraries()
        runtime = shared_libraries.bundled_libraries(needed)
        c_tools.link_shared(objects, str(shared), needed, model.functions, runtime)
        c_tools.archive(objects, static)
        libraries = {out_dir / path.name: path.read_bytes() for path in (shared, static, *runtime.values())}
        files.write_whole(dict(libraries))
    return [*headers, *libraries]


def model_part(name: str, plan: ExecutionPlan, ranges: Mapping[str, Sequence[int]]) -> str:
    """`open(weights)`, which returns a model with `run(inputs...)`: weights are copied into its memory once.

    ranges: the least and the greatest value (-1: none) of sizes.
    """
    head = weights_file.header(plan)
    facts = {
        "name": name,
        "weights": f"{name}.safetensors",
        "header": len(head),
        "bytes": plan.weight_bytes,
        "inputs": len(plan.inputs),
        "ranges": {size: list(values) for size, values in ranges.items()},
    }
    return _MODEL.format(
        facts=json.dumps(facts), checksum=weights_file.checksum(head), arena=_arena(plan), line=LINE, prefix=PREFIX
    )


def _arena(plan: ExecutionPlan) -> str:
    """The bytes of the arena as an expression of the sizes `n`."""
    arena = plan.arena
    if arena.offsets is not None:
        return str(arena.total)
    slots = [", ".join(f"lines({js_code(parse(size))})" for size in members) for members in arena.members]
    return " + ".join(f"Math.max({sizes})" for sizes in slots)


_MODEL = """
const MODEL = {facts};
const CHECKSUM = {checksum}n; // of the header of the file that this code was compiled for
const lines = (bytes) => Math.ceil(bytes / {line}) * {line};
const arenaBytes = (n) => {arena};

/** The model, ready to run: `const model = await open(); const [y] = model.run(x);`

   weights, source: bytes, a Response or a URL; default: the files beside this one. Inputs of `run` are typed arrays,
   row-major, or {{data, shape}} where a size is not constant; it returns new {{data, shape}}, one for each output. */
export async function open(weights = new URL(MODEL.weights, import.meta.url), source = undefined) {{
  const code = (await load(source)).exports;
  const one = FUNCTIONS.find((f) => f.name === MODEL.name);
  const data = new Int8Array(weightsOf(new Uint8Array(await bytesOf(weights))));
  const parameters = place(code, [], {{ data, shape: [data.length], type: Int8Array }});
  let room = {{ bytes: -1, held: [], at: 0 }};

  function arena(sizes) {{
    const bytes = arenaBytes(sizes);
    if (bytes > room.bytes) {{
      room.held.forEach((at) => code.free(at));
      room = {{ bytes, held: [] }};
      room.at = place(code, room.held, {{ data: new Int8Array(bytes), shape: [bytes], type: Int8Array }});
    }}
    return room.at;
  }}

  function run(...given) {{
    if (given.length !== MODEL.inputs)
      throw new TypeError(`${{one.name}} takes ${{MODEL.inputs}} inputs: ${{one.text}}; ${{given.length}} are given`);
    const inputs = one.params.slice(0, MODEL.inputs), outputs = one.params.slice(MODEL.inputs, -2);
    const arrays = inputs.map((p, i) => arrayOf(one, p, given[i]));
    const sizes = sizesOf({{ params: inputs }}, given, arrays);
    inputs.forEach((p, i) => checkShape(one, p, arrays[i].shape, sizes));
    for (const [size, [least, greatest]] of Object.entries(MODEL.ranges))
      if (sizes[size] < least || (greatest >= 0 && sizes[size] > greatest))
        throw new RangeError(`${{one.name}}: the size ${{size}} is ${{sizes[size]}}, which the graph is not made for`);
    const [space] = one.params.at(-1).dims; // the arena has a size with a name where its bytes depend on sizes
    if (typeof space === "string") sizes[space] = arenaBytes(sizes);
    for (const {{ text, holds }} of one.assumptions)
      if (!holds(sizes)) throw new RangeError(`${{one.name}}: the sizes do not satisfy ${{text}}`);
    const made = outputs.map((p) => emptyOf(p, sizes)), workspace = arena(sizes), held = [];
    try {{
      const pointers = [...arrays, ...made].map((array) => place(code, held, array));
      code["{prefix}" + one.name](...pointers, parameters, workspace);
      made.forEach((array) => array.data.set(inMemory(code, array)));
    }} finally {{
      held.forEach((at) => code.free(at));
    }}
    return made.map(({{ data, shape }}) => ({{ data, shape }}));
  }}
  return {{ run }};
}}

function emptyOf(p, sizes) {{
  const shape = p.dims.map((d) => (typeof d === "number" ? d : typeof d === "string" ? sizes[d] : d(sizes)));
  return {{ data: new TYPES[p.dtype](shape.reduce((x, y) => x * y, 1)), shape, type: TYPES[p.dtype] }};
}}

/* The data of a file of weights, whose header must be the one that this code was compiled for. */
function weightsOf(file) {{
  if (file.length !== MODEL.header + MODEL.bytes)
    throw new RangeError(`${{MODEL.name}}: the file is not as long as the weights of this model`);
  let found = 0xcbf29ce484222325n;
  for (const byte of file.subarray(0, MODEL.header))
    found = BigInt.asUintN(64, (found ^ BigInt(byte)) * 0x100000001b3n);
  if (found !== CHECKSUM) throw new RangeError(`${{MODEL.name}}: the file has not the weights of this model`);
  return file.slice(MODEL.header).buffer;
}}
"""
