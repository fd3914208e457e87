"""The C interface of a model: header, loader, example."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tir_mlir.dialect.graph import TensorType
from tir_mlir.dialect.symbolic import c_code, parse
from tir_mlir.graph import size_code
from tir_mlir.graph.memory.arena import LINE
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan
from tir_mlir.graph.memory.data_sizes import is_data_dependent, storage_type
from tir_mlir.graph.memory.lower_main import output_name
from tir_mlir.graph.shipping import weights_file
from tir_mlir.runtime.drivers import c_entry
from tir_mlir.target import Target, chosen, native
from tir_mlir.target.host import architecture
from tir_mlir.target.host import features as features_of_host

IN, OUT, BOTH = "in ", "out", "in and out"
_OWN_NAMES = frozenset(
    "HEADER aligned_alloc arena argc argv atoll checksum error failed fprintf i lacking layout main malloc model "
    "printf refused size slot total weight_bytes".split()
)
"""Of the loader and the example, where sizes and tensors have names."""


@dataclass(frozen=True)
class CModel:
    """A model with a C name. `tensors`: name, type and whether it is read, written or both, as state that the model
    changes where it lies.

    kernels: the C function of its code.
    target: what that is for.
    ranges: the least and the greatest value (-1: none) of sizes that the graph is right for.
    counts: the outputs that tell a size which data decide on, by its name.
    runtime: the files of libraries that the code for this machine calls.
    """

    name: str
    plan: ExecutionPlan
    kernels: c_entry.CEntry
    target: Target | str = "llvm"
    ranges: Mapping[str, Sequence[int]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    runtime: Sequence[str] = ()
    checks: Sequence[str] = ()

    @cached_property
    def tensors(self) -> list[tuple[str, TensorType, str]]:
        plan, state = self.plan, set(self.plan.donated.values())
        inputs = [(n, t, BOTH if i in state else IN) for i, (n, t) in enumerate(plan.inputs)]
        made = [
            (output_name(number, plan), storage_type(type_, plan.bounds), OUT) for number, type_ in plan.made_outputs
        ]
        names = c_entry.identifiers([n for n, *_ in inputs + made], {*self._reserved_names, *self.size_names.values()})
        return [(name, type_, how) for name, (_, type_, how) in zip(names, inputs + made, strict=True)]

    @cached_property
    def outputs(self) -> dict[int, str]:
        """The names of the outputs that are parameters, by number."""
        names = [name for name, *_ in self.tensors[len(self.plan.inputs) :]]
        return dict(zip([number for number, _ in self.plan.made_outputs], names, strict=True))

    @cached_property
    def size_names(self) -> dict[str, str]:
        """The names in C of sizes, those that the model counts included."""
        sizes = list(dict.fromkeys([*self.plan.symbols, *self.counts]))
        return dict(zip(sizes, c_entry.identifiers(sizes, self._reserved_names), strict=True))

    @property
    def given_sizes(self) -> list[str]:
        """The parameters of the named sizes."""
        return [self.size_names[size] for size in self.plan.symbols]

    @property
    def _reserved_names(self) -> set[str]:
        """What means something else where the C code has sizes and tensors."""
        return {*_OWN_NAMES, *self.functions, f"{self.name}_model", self.kernels.name, self.kernels.error}

    def _code(self, size: size_code.Size) -> str:
        return c_code(parse(size), self.size_names)

    def _count(self, type_: TensorType) -> str:
        """The number of elements of a tensor, in C."""
        return self._code(size_code.product(type_.shape))

    @property
    def sizes(self) -> str:
        """The parameters of the named sizes."""
        return ", ".join(f"int64_t {s}" for s in self.given_sizes)

    @property
    def run(self) -> str:
        """The prototype of the function that runs the model."""
        tensors = [f"{'const ' if how == IN else ''}{_element(t)} *{name}" for name, t, how in self.tensors]
        parameters = [f"const {self.name}_model *model", *([self.sizes] if self.sizes else []), *tensors, "void *arena"]
        return f"int {self.name}_run({', '.join(parameters)})"

    @property
    def functions(self) -> list[str]:
        """The names of the C functions."""
        return [f"{self.name}_{part}" for part in ("open", "error", "close", "arena_bytes", "run")]

    def header(self) -> str:
        """NAME.h"""
        guard = f"{self.name.upper()}_H"
        shapes = [f"   {how} {name}: {type_}" for name, type_, how in self.tensors]
        for number, type_ in self.plan.made_outputs:
            if is_data_dependent(type_, self.plan.bounds):
                counted = [name for size in type_.shape for name in size_code.symbols(size) if name in self.counts]
                counts = ", ".join(f"{name} is {self.outputs[self.counts[name]]}[0]" for name in counted)
                name = self.outputs[number]
                shapes.append(f"   {name} begins with a tensor {type_}, where {counts}; behind it are no values")
        shapes += [f"   the size {s} is the parameter {c}" for s, c in self.size_names.items() if s != c]
        if self.checks:
            name = self.outputs[len(self.plan.outputs) - 1]
            texts = [text.replace("*/", "* /") for text in self.checks]
            shapes += [f"   {name}[{n}] is 0 where this does not hold: {text}" for n, text in enumerate(texts)]
        return _HEADER.format(
            n=self.name, guard=guard, shapes="\n".join(shapes), sizes=self.sizes or "void", run=self.run, line=LINE
        )

    def loader(self) -> str:
        """NAME.c: maps the weights, and calls the compiled code."""
        head = weights_file.header(self.plan)
        return _LOADER.format(
            n=self.name,
            head=len(head),
            sum=weights_file.checksum(head),
            bytes=self.plan.weight_bytes,
            sizes=self.sizes or "void",
            arena=self._arena(),
            run=self.run,
            lacking=lacking_code(self.target),
            checks=self._checks(),
            call=self._call(),
            line=LINE,
        )

    def _arena(self) -> str:
        """The body of NAME_arena_bytes."""
        arena = self.plan.arena
        if arena.offsets is not None:
            return f"  return {arena.total};"
        lines = ["  int64_t total = 0, slot, size;"]
        for members in arena.members:
            lines.append("  slot = 0;")
            for size in members:
                rounded = f"({self._code(size)} + {LINE - 1}) / {LINE} * {LINE}"
                lines += [f"  size = {rounded};", "  if (size > slot) slot = size;"]
            lines.append("  total += slot;")
        return "\n".join([*lines, "  return total;"])

    def _checks(self) -> str:
        """The start of NAME_run: what is not as the header says is an error."""
        lines = []
        for size in dict.fromkeys([*self.plan.symbols, *(s for s in self.ranges if not s.isidentifier())]):
            number, (least, greatest) = self._code(size), self.ranges.get(size, (0, -1))
            beyond = f" || {number} > {greatest}" if greatest >= 0 else ""
            allowed = f"{least} to {greatest}" if greatest >= 0 else f"at least {least}"
            lines.append(f'  if ({number} < {least}{beyond}) return refused("the size {size} must be {allowed}");')
        for name, type_, _ in self.tensors:
            for size in dict.fromkeys(s for s in type_.shape if isinstance(s, str) and not s.isidentifier()):
                words = f"{name} would have a negative size, {size}"
                lines.append(f'  if ({self._code(size)} < 0) return refused("{words}");')
        lines.append('  if (!model) return refused("the model is NULL");')
        for name, type_, _ in self.tensors:
            lines.append(f'  if (!{name} && {self._count(type_)} > 0) return refused("{name} is NULL");')
        arena = f"{self.name}_arena_bytes({', '.join(self.given_sizes)})"
        lines.append(f'  if (!arena && {arena}) return refused("the arena is NULL");')
        lines.append(
            f'  if ((uintptr_t)arena % {LINE}) return refused("the arena is not at a multiple of {LINE} bytes");'
        )
        return "\n".join(lines)

    def _call(self) -> str:
        """The body of NAME_run: the call."""
        arena = f"{self.name}_arena_bytes({', '.join(self.given_sizes)})"
        sizes = [
            self.size_names[size] if size in self.plan.symbols else arena for size in self.kernels.sizes
        ]  # the arena's has a name
        tensors = [name for name, _, _ in self.tensors]
        arguments = ", ".join([*sizes, *tensors, "(const int8_t *)model->data", "(int8_t *)arena"])
        return f"  if ({self.kernels.name}({arguments})) return refused({self.kernels.error}());"

    def example(self) -> str:
        """example.c: runs the model on numbers that it makes, and prints what comes out."""
        symbols = self.given_sizes
        lines = [f"  int64_t {s} = argc > {n + 2} ? atoll(argv[{n + 2}]) : 1;" for n, s in enumerate(symbols)]
        for name, type_, how in self.tensors:
            element, count = _element(type_), self._count(type_)
            lines.append(f"  {element} *{name} = malloc(({count} + 1) * sizeof({element}));")
            if how != OUT:
                lines.append(f"  for (int64_t i = 0; i < {count}; i++) {name}[i] = {_example_element(type_.dtype)};")
        arguments = ", ".join(["model", *symbols, *(name for name, _, _ in self.tensors), "arena"])
        prints = [f"  int64_t {self.size_names[s]} = {self.outputs[n]}[0];" for s, n in self.counts.items()]
        filled = {self.outputs[number]: type_ for number, type_ in self.plan.made_outputs}
        for name, type_, how in self.tensors:
            if how != IN:
                loop = f"for (int64_t i = 0; i < {self._count(filled.get(name, type_))}; i++)"
                prints.append(f'  {loop} printf("%.9g\\n", (double){name}[i]);')
        return _EXAMPLE.format(
            n=self.name,
            compile=self._compile(),
            values="\n".join(lines),
            sizes=", ".join(symbols),
            given=arguments,
            prints="\n".join(prints),
        )

    def _compile(self) -> str:
        """How the example is compiled."""
        if triple := _cpu(self.target).triple:
            compiler = f"zig cc -target {triple}"
            return f"   {compiler} example.c {self.name}.c {self.kernels.name}.o -o example -lm"
        found = "-Wl,-rpath,'$ORIGIN'"
        shared = f"   cc example.c {self.name}.so -o example {found}"
        static = " ".join(["   cc example.c", f"lib{self.name}.a", *self.runtime, "-o example -lm"])
        return f"{shared}\n{static}{f' {found}' if self.runtime else ''}"


def _element(type_: TensorType) -> str:
    return c_entry.C_TYPES[type_.dtype]


def _example_element(dtype: str) -> str:
    """Element i of the inputs of the example."""
    if dtype in ("float32", "float64"):
        return "(i % 13) / 13.0 - 0.5"
    return "0" if dtype in ("float16", "bfloat16") else "i % 2"


_HEADER = """\
#ifndef {guard}
#define {guard}
#include <stdint.h>
#include <stdbool.h>
#ifdef __cplusplus
extern "C" {{
#endif
/* Row-major tensors:
{shapes}
*/
typedef struct {n}_model {n}_model;

/* Map the file of weights; NULL if that fails, or if the CPU lacks an instruction set that the code uses: {n}_error()
   tells why, in the thread that it happened in. Threads may share a model. */
{n}_model *{n}_open(const char *weights);
const char *{n}_error(void);
void {n}_close({n}_model *model);

/* The bytes of memory that a run works in, at a multiple of {line} bytes; each thread needs its own. */
int64_t {n}_arena_bytes({sizes});

/* Run the model. 0, or -1 for arguments that it is not made for: {n}_error() tells which, and nothing is written. */
{run};
#ifdef __cplusplus
}}
#endif
#endif
"""

_LOADER = """\
/* Maps the weights, and calls the compiled code. */
#include "{n}.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "{n}_kernels.h"

enum {{ HEADER = {head} }};
static const uint64_t layout = {sum}u; /* of the header of the file that this code was compiled for */
static const int64_t weight_bytes = {bytes};

struct {n}_model {{
  unsigned char *file;
  int64_t size;
  const unsigned char *data;
}};

static _Thread_local char error[512];

const char *{n}_error(void) {{ return error; }}

static {n}_model *failed(const char *path, const char *why) {{
  snprintf(error, sizeof error, "%s: %s", path, why);
  return NULL;
}}

static int refused(const char *why) {{
  snprintf(error, sizeof error, "{n}_run: %s", why);
  return -1;
}}

{lacking}
static uint64_t checksum(const unsigned char *bytes, int64_t count) {{
  uint64_t found = 0xcbf29ce484222325u;
  for (int64_t i = 0; i < count; i++) found = (found ^ bytes[i]) * 0x100000001b3u;
  return found;
}}

{n}_model *{n}_open(const char *path) {{
  const char *feature = lacking();
  if (feature) {{
    snprintf(error, sizeof error, "the code of {n} uses %s, which this CPU or its system lacks", feature);
    return NULL;
  }}
  int file = open(path, O_RDONLY);
  if (file < 0) return failed(path, "cannot be opened");
  struct stat facts;
  int64_t size = fstat(file, &facts) ? -1 : (int64_t)facts.st_size;
  if (size != HEADER + weight_bytes) {{
    close(file);
    return failed(path, "is not as long as the weights of this model");
  }}
  unsigned char *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return failed(path, "cannot be mapped");
  {n}_model *made = checksum(bytes, HEADER) == layout ? malloc(sizeof *made) : NULL;
  if (!made) {{
    munmap(bytes, (size_t)size);
    return failed(path, "has not the weights of this model");
  }}
  made->file = bytes;
  made->size = size;
  made->data = bytes + HEADER;
  return made;
}}

void {n}_close({n}_model *model) {{
  if (!model) return;
  munmap(model->file, (size_t)model->size);
  free(model);
}}

int64_t {n}_arena_bytes({sizes}) {{
{arena}
}}

{run} {{
{checks}
{call}
  return 0;
}}
"""

_EXAMPLE = """\
/* example WEIGHTS [SIZE...]: runs the model on numbers made here, and prints the outputs.

{compile}
*/
#include <stdio.h>
#include <stdlib.h>

#include "{n}.h"

int main(int argc, char **argv) {{
  {n}_model *model = {n}_open(argc > 1 ? argv[1] : "{n}.safetensors");
  if (!model) {{
    fprintf(stderr, "%s\\n", {n}_error());
    return 1;
  }}
{values}
  void *arena = aligned_alloc(64, ({n}_arena_bytes({sizes}) + 127) / 64 * 64);
  if ({n}_run({given})) {{
    fprintf(stderr, "%s\\n", {n}_error());
    return 1;
  }}
{prints}
  {n}_close(model);
  return 0;
}}
"""


_EAX, _EBX, _ECX, _EDX = range(4)
_XMM_YMM, _ZMM, _TILES = 0x6, 0xE6, 0x60000
"""What the system must save of a process's registers: bits of XCR0."""

_CPUID: dict[str, tuple[int, int, int, int, int]] = {
    "sse3": (1, 0, _ECX, 0, 0), "ssse3": (1, 0, _ECX, 9, 0), "sse4.1": (1, 0, _ECX, 19, 0),
    "sse4.2": (1, 0, _ECX, 20, 0), "movbe": (1, 0, _ECX, 22, 0), "popcnt": (1, 0, _ECX, 23, 0),
    "sse2": (1, 0, _EDX, 26, 0), "fma": (1, 0, _ECX, 12, _XMM_YMM), "avx": (1, 0, _ECX, 28, _XMM_YMM),
    "f16c": (1, 0, _ECX, 29, _XMM_YMM), "lzcnt": (0x80000001, 0, _ECX, 5, 0), "bmi1": (7, 0, _EBX, 3, 0),
    "avx2": (7, 0, _EBX, 5, _XMM_YMM), "bmi2": (7, 0, _EBX, 8, 0), "avx512f": (7, 0, _EBX, 16, _ZMM),
    "avx512dq": (7, 0, _EBX, 17, _ZMM), "avx512ifma": (7, 0, _EBX, 21, _ZMM), "avx512cd": (7, 0, _EBX, 28, _ZMM),
    "avx512bw": (7, 0, _EBX, 30, _ZMM), "avx512vl": (7, 0, _EBX, 31, _ZMM), "avx512vbmi": (7, 0, _ECX, 1, _ZMM),
    "avx512vbmi2": (7, 0, _ECX, 6, _ZMM), "gfni": (7, 0, _ECX, 8, 0), "avx512vnni": (7, 0, _ECX, 11, _ZMM),
    "avx512bitalg": (7, 0, _ECX, 12, _ZMM), "avx512vpopcntdq": (7, 0, _ECX, 14, _ZMM),
    "avx512fp16": (7, 0, _EDX, 23, _ZMM), "amx-bf16": (7, 0, _EDX, 22, _TILES),
    "amx-tile": (7, 0, _EDX, 24, _TILES), "amx-int8": (7, 0, _EDX, 25, _TILES),
    "avxvnni": (7, 1, _EAX, 4, _XMM_YMM), "avx512bf16": (7, 1, _EAX, 5, _ZMM), "amx-fp16": (7, 1, _EAX, 21, _TILES),
    "avxifma": (7, 1, _EAX, 23, _XMM_YMM),
}  # fmt: skip
"""Of x86: leaf, subleaf, register and bit of CPUID, and the bits of XCR0 that must be set."""

_HWCAP: dict[str, dict[str, tuple[int, int]]] = {
    "aarch64": {
        "fullfp16": (16, 10), "dotprod": (16, 20), "sve": (16, 22), "i8mm": (26, 13), "bf16": (26, 14),
        "sme": (26, 23),
    },
    "riscv64": {"v": (16, 21)},
}  # fmt: skip
"""Of other CPUs with Linux: the word of the auxiliary vector (16: AT_HWCAP, 26: AT_HWCAP2), and its bit."""


def lacking_code(target: Target | str) -> str:
    """A C function `const char *lacking(void)`: the first instruction set that code for a target uses and this CPU, or
    its system, lacks; NULL if there is none, or if the C compiler's CPU is of another kind than the code."""
    arch, features = _required_features(target)
    if arch == "x86_64":
        rows = [(name, *_CPUID[name]) for name in _CPUID if name in features]
        return (
            _X86.format(rows=_rows([(n, hex(leaf), *register_bit) for n, leaf, *register_bit in rows]))
            if rows
            else _NONE
        )
    rows = [(name, *bit) for name, bit in _HWCAP.get(arch, {}).items() if name in features]
    macro = {"aarch64": "__aarch64__", "riscv64": "__riscv"}.get(arch, "")
    return _AUXILIARY.format(rows=_rows(rows), macro=macro) if rows else _NONE


def _required_features(target: Target | str) -> tuple[str, Collection[str]]:
    """The architecture and the instruction sets that code for a target may use; without a triple it is for this CPU."""
    cpu = _cpu(target)
    return (cpu.arch, cpu.features) if cpu.triple else (architecture(), features_of_host())


def _cpu(target: Target | str) -> Target:
    return native() if target == "llvm" else chosen(target)


def _rows(rows: Collection[tuple[object, ...]]) -> str:
    return "\n".join(f'    {{"{name}", {", ".join(map(str, columns))}}},' for name, *columns in rows)


_NONE = "static const char *lacking(void) { return NULL; }\n"

_X86 = """\
#if defined(__x86_64__)
#include <cpuid.h>

static const char *lacking(void) {{
  static const struct {{
    const char *name;
    unsigned leaf, subleaf, word, bit, saved; /* saved: the registers that the system must save, as bits of XCR0 */
  }} needed[] = {{
{rows}
  }};
  unsigned saved = 0, high, words[4];
  if (__get_cpuid(1, words, words + 1, words + 2, words + 3) && words[2] >> 27 & 1)
    __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  for (unsigned i = 0; i < sizeof needed / sizeof *needed; i++) {{
    int known = __get_cpuid_count(needed[i].leaf, needed[i].subleaf, words, words + 1, words + 2, words + 3);
    if (!known || !(words[needed[i].word] >> needed[i].bit & 1) || (saved & needed[i].saved) != needed[i].saved)
      return needed[i].name;
  }}
  return NULL;
}}
#else
static const char *lacking(void) {{ return NULL; }}
#endif
"""

_AUXILIARY = """\
#if defined({macro}) && defined(__linux__)
#include <sys/auxv.h>

static const char *lacking(void) {{
  static const struct {{
    const char *name;
    unsigned word, bit;
  }} needed[] = {{
{rows}
  }};
  for (unsigned i = 0; i < sizeof needed / sizeof *needed; i++)
    if (!(getauxval(needed[i].word) >> needed[i].bit & 1)) return needed[i].name;
  return NULL;
}}
#else
static const char *lacking(void) {{ return NULL; }}
#endif
"""
