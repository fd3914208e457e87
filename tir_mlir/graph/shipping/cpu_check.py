"""C code that asks the CPU for the instruction sets that compiled code uses, before it runs."""

from __future__ import annotations

from collections.abc import Collection

from tir_mlir.target import Target
from tir_mlir.target.host import architecture
from tir_mlir.target.host import features as features_of_host

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
    arch, features = _needed(target)
    if arch == "x86_64":
        rows = [(name, *_CPUID[name]) for name in _CPUID if name in features]
        return _X86.format(rows=_rows([(n, hex(leaf), *rest) for n, leaf, *rest in rows])) if rows else _NONE
    rows = [(name, *at) for name, at in _HWCAP.get(arch, {}).items() if name in features]
    macro = {"aarch64": "__aarch64__", "riscv64": "__riscv"}.get(arch, "")
    return _AUXILIARY.format(rows=_rows(rows), macro=macro) if rows else _NONE


def _needed(target: Target | str) -> tuple[str, Collection[str]]:
    """The architecture and the instruction sets that code for a target may use; without a triple it is for this CPU."""
    if isinstance(target, Target) and target.triple:
        return target.arch, target.features
    return architecture(), features_of_host()


def _rows(rows: Collection[tuple[object, ...]]) -> str:
    return "\n".join(f'    {{"{name}", {", ".join(map(str, rest))}}},' for name, *rest in rows)


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
