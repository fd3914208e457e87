"""LLVM's names of CPUs: the one that is modelled for another, and the one that instruction sets tell of."""

from __future__ import annotations

from collections.abc import Set

from tir_mlir.target.predefined import NAMES

_MODELLED = {
    "x86-64": "haswell",
    "x86-64-v3": "haswell",
    "x86-64-v4": "skylake-avx512",
    "generic": "neoverse-n1",
    "generic-rv64": "spacemit-x60",
    "cascadelake": "skylake-avx512",
    "cooperlake": "skylake-avx512",
    "broadwell": "haswell",
    "skylake": "haswell",
    "icelake-client": "icelake-server",
    "tigerlake": "icelake-server",
    "rocketlake": "icelake-server",
    "raptorlake": "alderlake",
    "meteorlake": "alderlake",
    "arrowlake": "alderlake",
    "lunarlake": "alderlake",
    "emeraldrapids": "sapphirerapids",
    "graniterapids": "sapphirerapids",
    "neoverse-512tvb": "neoverse-v1",
}


def modelled_cpu(name: str) -> str:
    """The CPU whose core is taken for one without a row of its own: `raptorlake` -> `alderlake`; else the name."""
    return "apple-m1" if name.startswith("apple-m") else _MODELLED.get(name, name)


def cpu_with(arch: str, features: Set[str]) -> str:
    """The predefined CPU that uses the most of these instruction sets and no other; "" if there is none."""
    usable = [cpu for cpu in NAMES.values() if cpu.arch == arch and cpu.features <= features]
    return max(usable, key=lambda cpu: len(cpu.features)).cpu if usable else ""


def corrected_cpu(name: str, arch: str, features: Set[str]) -> str:
    """The name of a machine's CPU: a virtual machine may show the model number of an older one, whose instruction sets
    are a part of the machine's.

        "rocketlake" with AMX -> "sapphirerapids"
    """
    own = [cpu.features for cpu in NAMES.values() if cpu.cpu == modelled_cpu(name)]
    better = cpu_with(arch, features)
    more = [cpu.features for cpu in NAMES.values() if cpu.cpu == better and cpu.features <= features]
    contradicted = own and all(any(sets < wider for wider in more) for sets in own)
    return better if contradicted else name
