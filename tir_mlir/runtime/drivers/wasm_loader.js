/* Loads a library that tir_mlir exported for WebAssembly: an ES module for browsers and for node.

   const lib = await load();  // or load(bytes), load(url)
   lib.NAME(a, b, n);         // arrays: typed arrays, row-major, or {data, shape} where a size is not constant

   Arrays are copied into the memory of the library, and those that it writes, back. */

const FUNCTIONS = /*FUNCTIONS*/;
const SITES = /*SITES*/;
const DEFAULT = "/*FILE*/";

const TYPES = {
  float64: Float64Array, float32: Float32Array, float16: Uint16Array, bfloat16: Uint16Array, bool: Uint8Array,
  int64: BigInt64Array, int32: Int32Array, int16: Int16Array, int8: Int8Array,
  uint64: BigUint64Array, uint32: Uint32Array, uint16: Uint16Array, uint8: Uint8Array,
};

/** The functions of a library, by name. source: bytes, a Response, or a URL; default: the .wasm file beside this one. */
export async function load(source = new URL(DEFAULT, import.meta.url)) {
  const { instance } = await WebAssembly.instantiate(await bytesOf(source), { env: mathematics() });
  const found = { exports: instance.exports };
  for (const one of FUNCTIONS) found[one.name] = (...args) => call(instance.exports, one, args);
  return found;
}

async function bytesOf(source) {
  if (typeof Response !== "undefined" && source instanceof Response) return source.arrayBuffer();
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  const url = source instanceof URL ? source : new URL(source, import.meta.url);
  if (url.protocol !== "file:") return (await fetch(url)).arrayBuffer();
  const { readFile } = await import("node:fs/promises");
  return readFile(url);
}

/* sin and sinf, and so on: a result is rounded to the type of the function */
function mathematics() {
  const own = { exp2: (x) => 2 ** x, fmod: (x, y) => x % y };
  for (const name of Object.getOwnPropertyNames(Math)) own[name] ??= Math[name];
  for (const name of Object.keys(own)) own[name + "f"] = own[name];
  return own;
}

function call(code, one, args) {
  if (args.length !== one.params.length)
    throw new TypeError(`${one.name} takes ${one.params.length} arguments: ${one.text}; ${args.length} are given`);
  const arrays = one.params.map((p, i) => (p.dims ? arrayOf(one, p, args[i]) : null));
  const sizes = sizesOf(one, args, arrays);
  one.params.forEach((p, i) => p.dims && checkShape(one, p, arrays[i].shape, sizes));
  for (const { text, holds } of one.assumptions)
    if (!holds(sizes)) throw new RangeError(`${one.name}: the sizes do not satisfy ${text}`);
  if (one.distinct) checkDistinct(one, arrays);
  const held = [];
  try {
    const given = one.params.map((p, i) => (p.dims ? place(code, held, arrays[i]) : scalar(p, args[i])));
    if (SITES.length) new DataView(code.memory.buffer).setBigInt64(code.__tir_outside.value, 0n, true);
    code["_mlir_ciface_" + one.name](...given);
    one.params.forEach((p, i) => p.written && arrays[i].data.set(inMemory(code, arrays[i])));
    if (SITES.length) checkRecord(code);
  } finally {
    held.forEach((at) => code.free(at));
  }
}

function arrayOf(one, p, given) {
  const data = given && given.data && !ArrayBuffer.isView(given) ? given.data : given;
  const type = TYPES[p.dtype];
  const isType = data instanceof type || (p.dtype === "float16" && data?.constructor?.name === "Float16Array");
  if (!isType) throw new TypeError(`${one.name}: ${p.name} must be a ${type.name} or {data, shape} (${p.dtype})`);
  const known = p.dims.every((d) => typeof d === "number");
  const shape = given.shape ?? (known ? p.dims : p.dims.length === 1 ? [data.length] : null);
  if (!shape) throw new TypeError(`${one.name}: ${p.name} has sizes that are not constant: pass {data, shape}`);
  if (shape.length !== p.dims.length || shape.reduce((x, y) => x * y, 1) !== data.length)
    throw new RangeError(`${one.name}: ${p.name} has ${data.length} elements, and the shape [${shape}] of ${p.text}`);
  return { data, shape: shape.map(Number), type: data.constructor };
}

function sizesOf(one, args, arrays) {
  const sizes = {};
  one.params.forEach((p, i) => {
    if (p.size) sizes[p.name] = Number(args[i]);
    (p.dims ?? []).forEach((d, axis) => {
      if (typeof d === "string" && !(d in sizes)) sizes[d] = arrays[i].shape[axis];
    });
  });
  return sizes;
}

function checkShape(one, p, shape, sizes) {
  p.dims.forEach((d, axis) => {
    const wanted = typeof d === "number" ? d : typeof d === "string" ? sizes[d] : d(sizes);
    if (shape[axis] !== wanted)
      throw new RangeError(`${one.name}: axis ${axis} of ${p.name} is ${shape[axis]}; ${p.text} needs ${wanted}`);
  });
}

function checkDistinct(one, arrays) {
  const parts = arrays.map((a) => a && [a.data.byteOffset, a.data.byteOffset + a.data.byteLength]);
  for (let i = 0; i < arrays.length; i++)
    for (let j = 0; j < i; j++) {
      if (!arrays[i] || !arrays[j] || arrays[i].data.buffer !== arrays[j].data.buffer) continue;
      const meet = parts[i][0] < parts[j][1] && parts[j][0] < parts[i][1];
      if (meet && (one.params[i].written || one.params[j].written))
        throw new RangeError(`${one.name}: ${one.params[j].name} and ${one.params[i].name} share memory`);
    }
}

/* The array in the memory of the library, and its descriptor, whose address is the argument. */
function place(code, held, array) {
  const rank = array.shape.length;
  array.at = code.malloc(BigInt(array.data.byteLength));
  held.push(array.at);
  const descriptor = code.malloc(BigInt(16 + 16 * rank));
  held.push(descriptor);
  inMemory(code, array).set(array.data);
  const view = new DataView(code.memory.buffer, descriptor >>> 0, 16 + 16 * rank);
  view.setUint32(0, array.at, true);
  view.setUint32(4, array.at, true);
  view.setBigInt64(8, 0n, true);
  let stride = 1;
  for (let axis = rank - 1; axis >= 0; axis--) {
    view.setBigInt64(16 + 8 * axis, BigInt(array.shape[axis]), true);
    view.setBigInt64(16 + 8 * (rank + axis), BigInt(stride), true);
    stride *= array.shape[axis];
  }
  return descriptor;
}

function inMemory(code, array) {
  return new array.type(code.memory.buffer, array.at >>> 0, array.data.length);
}

function scalar(p, value) {
  if (p.dtype === "int64" || p.dtype === "uint64") return BigInt(value);
  return typeof value === "boolean" ? Number(value) : value;
}

/* The first access of a checked program that was outside its buffer, and was skipped. */
function checkRecord(code) {
  const view = new DataView(code.memory.buffer, code.__tir_outside.value);
  const number = Number(view.getBigInt64(0, true));
  if (!number) return;
  const { text, rank } = SITES[number - 1];
  const index = Array.from({ length: rank }, (_, i) => view.getBigInt64(8 + 16 * i, true));
  throw new RangeError(`${text} is outside, at index [${index}]`);
}
