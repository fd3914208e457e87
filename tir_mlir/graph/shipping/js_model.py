"""The JavaScript interface of a model for WebAssembly: appended to the loader of its compiled code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tir_mlir.dialect.symbolic import js_code, parse
from tir_mlir.graph.memory.arena import LINE
from tir_mlir.graph.memory.places import Plan
from tir_mlir.graph.shipping import weights_file
from tir_mlir.runtime.call.function import PREFIX


def model_part(name: str, plan: Plan, ranges: Mapping[str, Sequence[int]]) -> str:
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


def _arena(plan: Plan) -> str:
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
