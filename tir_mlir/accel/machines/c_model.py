"""The C models of the machines that ship: each is written from the public manual alone, not from the description."""

from __future__ import annotations

from pathlib import Path

from tir_mlir.dialect.diagnostics import MachineError


def c_model(name: str) -> Path:
    """The C model of a machine, by its name: what `check` compares its description with, and what its C runs on.

    Errors: MachineError for another name.
    """
    folder = Path(__file__).parent
    path = folder / f"{name}.c"
    if not path.is_file():
        shipped = ", ".join(sorted(p.stem for p in folder.glob("*.c")))
        raise MachineError(f"no machine that ships is called {name}: {shipped}")
    return path
