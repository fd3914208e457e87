"""`python -m tir_mlir.ptx`: look at the PTX of any compiler, and run it on the machine."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.errors import PtxError
from tir_mlir.ptx.comparison import ComparedKernels, compare
from tir_mlir.ptx.instructions import ROWS
from tir_mlir.ptx.launching import launch
from tir_mlir.ptx.parser import Kernel, Module, parse
from tir_mlir.ptx.prediction.cards import find_card
from tir_mlir.ptx.prediction.launches import describe_launch
from tir_mlir.ptx.program import register_usage
from tir_mlir.target import CUDA

EPILOG = """arguments of the kernel, in order:
  f32[64,128]            an array of random numbers; of f16, f64, s8, u8, s32, s64 and the like, too; bf16 as its bits
  f32[64,128]=0          an array that is filled with a number
  f32[64,128]=unwritten  an array that the kernel may not read before it writes it
  x.npy                  the array of a file
  1000, 0.5, 0x10        a number; parameters that are left out at the end are 0

examples:
  python -m tir_mlir.ptx kernel.ptx
  python -m tir_mlir.ptx kernel.ptx --grid 10 --block 128 "f32[1000]" "f32[1000]" "f32[1000]=unwritten" 1000
  python -m tir_mlir.ptx --gpu H100 --compare "a.ptx --grid 10 f32[99] f32[99]" "b.ptx --grid 5 f32[99] f32[99] 99"
"""
_TYPES = {
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"s{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "bf16": "uint16",
}
_ARRAY = re.compile(r"(\w+)\[([\d,\s]+)\](?:=(\S+))?$")


class CommandError(ValueError):
    """An argument of the command that says nothing."""


def read_argument(text: str, rng: np.random.Generator | None) -> tuple[object, bool]:
    """An argument of a kernel, and whether the kernel may read it: "f32[8]=0" -> zeros, True. rng: None for zeros
    instead of random numbers. Raises CommandError."""
    if text.endswith(".npy"):
        try:
            return np.load(text), True
        except (OSError, ValueError) as error:
            raise CommandError(f"{text}: {error}") from None
    if (array := _ARRAY.match(text)) is None:
        try:
            return (float(text) if "." in text else int(text, 0)), True
        except ValueError:
            raise CommandError(f'{text!r} is not an array such as "f32[64]", a .npy file or a number') from None
    name, shape, filled = array.groups()
    if name not in _TYPES:
        raise CommandError(f"{name} is not a type; there are {', '.join(_TYPES)}")
    sizes, dtype = [int(size) for size in shape.split(",")], np.dtype(_TYPES[name])
    if filled == "unwritten" or rng is None:
        return np.zeros(sizes, dtype), filled != "unwritten"
    if filled is not None:
        return np.full(sizes, float(filled)).astype(dtype), True
    if name == "bf16":
        return (rng.standard_normal(sizes, np.float32).view(np.uint32) >> 16).astype(np.uint16), True
    return (rng.standard_normal(sizes) if dtype.kind == "f" else rng.integers(0, 100, sizes)).astype(dtype), True


def describe(module: Module) -> str:
    """The kernels of a text: parameters, block, shared memory, and instructions that the machine does not know."""
    lines = [f"PTX {module.version} for {module.target}"]
    for kernel in module.kernels.values():
        parameters = ", ".join(f"{p.type}" if p.bytes <= 8 else f"{p.bytes} bytes" for p in kernel.parameters)
        lines += ["", f"kernel {kernel.name}({parameters})"]
        if kernel.block is not None:
            most = "blocks of" if kernel.exact_block else "blocks of at most"
            lines.append(f"  {most} {' x '.join(map(str, kernel.block))} threads")
        lines.append(f"  {kernel.shared_bytes} bytes of static shared memory, {len(kernel.instructions)} instructions")
        lines += [f"  not known: {text}" for text in unknown_instructions(kernel)]
    return "\n".join(lines)


def unknown_instructions(kernel: Kernel) -> list[str]:
    """The kinds of instructions that the machine refuses, each with its first line."""
    found: dict[str, str] = {}
    for ins in kernel.instructions:
        row = ROWS.get(ins.parts[0])
        try:
            if row is None:
                raise PtxError("no row", "instruction")
            row.check(ins)
        except PtxError:
            found.setdefault(".".join(ins.parts), f"{'.'.join(ins.parts)} (line {ins.line})")
    return list(found.values())


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def main(argv: Sequence[str] | None = None) -> int:
    """Run with these arguments, by default those of the process. Returns the exit code: 1 for a fault of the kernel, 2
    for arguments of the command that cannot be taken."""
    parser = _parser()
    options = parser.parse_intermixed_args(argv)
    try:
        if options.compare is not None:
            return _compare_kernels(options)
        if options.file is None:
            raise CommandError("which file? a PTX text, or --compare with launches of several")
        return _look_at(options)
    except CommandError as error:
        parser.error(str(error))
    except (PtxError, BuildError) as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m tir_mlir.ptx",
        description="Run a kernel of a PTX text on NumPy arrays, and find its races, missing waits and bad accesses; "
        "without --grid, list the kernels. With --compare, show several side by side.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, nargs="?", help="the PTX text, of any compiler")
    parser.add_argument("arguments", nargs="*", help="of the kernel, see below")
    parser.add_argument("--kernel", help="its name, where the text has several")
    parser.add_argument("--grid", type=_sizes, metavar="X[,Y[,Z]]", help="the numbers of blocks")
    parser.add_argument(
        "--block", type=_sizes, metavar="X[,Y[,Z]]", help="the threads of a block; by default the text's"
    )
    parser.add_argument("--shared", type=int, default=0, metavar="BYTES", help="dynamic shared memory")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers")
    parser.add_argument("--save", type=Path, metavar="FILE.npz", help="write the arrays after the run: arg0, arg1, ...")
    parser.add_argument("--expect", type=Path, metavar="FILE.npz", help="compare the arrays with those of this file")
    parser.add_argument("--gpu", metavar="NAME", help="with --compare: the GPU whose time is predicted, such as H200")
    parser.add_argument("--compare", nargs="+", metavar="LAUNCH", help="show launches side by side: each as the "
                        "arguments of a run, in quotes; nothing runs, three blocks are followed")  # fmt: skip
    return parser


def _look_at(options: argparse.Namespace) -> int:
    """List the kernels of a text, or run one."""
    module = _read(options.file)
    if options.grid is not None:
        return _run(module, options)
    print(describe(module))
    return 0


def _read(path: Path) -> Module:
    try:
        return parse(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(str(error)) from None


def _compare_kernels(options: argparse.Namespace) -> int:
    """Print launches side by side."""
    kernels = []
    for text in options.compare:
        launch = _parser().parse_intermixed_args(shlex.split(text))
        if launch.file is None or launch.grid is None:
            raise CommandError(f"{text!r} is not a launch such as 'a.ptx --grid 10 f32[1000]'")
        module = _read(launch.file)
        entry, block, args, _ = _launch_arguments(module, launch, with_contents=False)
        card = find_card(options.gpu, CUDA(module.target).capability)
        usage = register_usage(module.text, module.target)
        described = describe_launch(entry, launch.grid, block, args, launch.shared)
        kernels.append(ComparedKernels(launch.file.name, [described], card, usage))
    print(compare(kernels))
    return 0


def _launch_arguments(
    module: Module, options: argparse.Namespace, with_contents: bool = True
) -> tuple[Kernel, tuple[int, ...], list[object], list[int]]:
    """The kernel, the threads of a block, the arguments, and the positions of those that it may not read."""
    name = options.kernel or (next(iter(module.kernels)) if len(module.kernels) == 1 else None)
    if name not in module.kernels:
        raise CommandError(f"--kernel is one of {', '.join(module.kernels)}")
    kernel = module.kernels[name]
    block = options.block or kernel.block
    if block is None:
        raise CommandError("the text does not say the threads of a block; pass --block")
    if len(options.arguments) > len(kernel.parameters):
        raise CommandError(f"kernel {name} has {len(kernel.parameters)} parameters, not {len(options.arguments)}")
    rng = np.random.default_rng(options.seed) if with_contents else None
    read = [read_argument(text, rng) for text in options.arguments]
    args = [argument for argument, _ in read] + [0] * (len(kernel.parameters) - len(read))
    return kernel, block, args, [n for n, (_, readable) in enumerate(read) if not readable]


def _run(module: Module, options: argparse.Namespace) -> int:
    kernel, block, args, unwritten = _launch_arguments(module, options)
    print(launch(module, kernel.name, options.grid, block, args, options.shared, unwritten=unwritten))
    arrays = {f"arg{n}": argument for n, argument in enumerate(args) if isinstance(argument, np.ndarray)}
    if options.save is not None:
        np.savez(options.save, allow_pickle=False, **arrays)
    return 0 if options.expect is None else _compare(arrays, options.expect)


def _compare(arrays: dict[str, np.ndarray], path: Path) -> int:
    """Print how far arrays are from those of a file, by name. Returns 1 if one differs by more than rounding."""
    worst = 0
    with np.load(path) as expected:
        for name in expected.files:
            if name not in arrays or arrays[name].shape != expected[name].shape:
                raise CommandError(f"{path} has {name} {expected[name].shape}, which is not an array of this run")
            ours, theirs = arrays[name].astype(np.float64), expected[name].astype(np.float64)
            error = float(np.max(np.abs(ours - theirs), initial=0.0))
            scale = float(np.max(np.abs(theirs), initial=1.0))
            is_near = error <= scale * (1e-2 if arrays[name].itemsize <= 2 else 1e-4)
            print(f"{name}: {'equal' if not error else f'differs by at most {error:.3g}'}")
            worst |= not is_near
    return int(worst)


if __name__ == "__main__":
    sys.exit(main())
