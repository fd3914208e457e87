"""Odd names, programs, targets and options for tensor intrinsics, kernels and `build`."""

from __future__ import annotations

from random import Random
from typing import Any

from fuzzing.inputs import corpus, script, values
from fuzzing.inputs.judging import seen, tried
from tir_mlir import TensorIntrin, build, create_llvm
from tir_mlir.intrin import dot_products, outer_products
from tir_mlir.runtime.kernels.registry import register_kernel
from tir_mlir.script.module import IRModule
from tir_mlir.script.parser import parse
from tir_mlir.target import Target

NAMES: tuple[Any, ...] = ("x", "dot_4x4", "", "a b", "é", None, 3, "x" * 3000)


def case(random: Random) -> str:
    """Call one of the entry points."""
    return random.choice((_intrinsic, _intrinsic, _built_in, _build, _target, _module, _module))(random)


def _program(random: Random) -> Any:
    """Return a function, or something that is not one."""
    if random.random() < 0.15:
        return values.value(random)
    text = corpus.script(random) if random.random() < 0.6 else script.tree_changed(random, corpus.script(random))
    word, module = tried("", lambda: parse(text))
    if word != "accepted" or not module.functions:
        return corpus.matmul()["main"]
    return random.choice((module, module[next(iter(module))], module.mlir, text))


def _intrinsic(random: Random) -> str:
    name, desc, impl = random.choice(NAMES), _program(random), _program(random)
    if random.random() < 0.5:
        impl = desc
    override = random.random() < 0.9
    shown = f"TensorIntrin.register({seen(name, 90)}, {seen(desc, 900)}, {seen(impl, 900)})"
    word, _ = tried(shown, lambda: TensorIntrin.register(name, desc, impl, override))
    if word == "accepted":
        sch = corpus.schedule(random)
        for block in sch.get_child_blocks(sch.get_block("root"))[:2]:
            tried(
                f"{shown}, tensorized in\n{sch.mod.script()}",
                lambda block=block: sch.tensorize(random.choice(sch.get_loops(block) or [block]), name),
            )
    else:
        tried(shown, lambda: TensorIntrin.get(name))
    return word


def _built_in(random: Random) -> str:
    numbers: list[Any] = [random.choice((4, 4, 8, 16, 1, 0, -4, 3, 1 << 40, None, 4.0, "4")) for _ in range(3)]
    scopes: Any = random.choice((("global", "global", "global"), ("a b", "", "global"), ("shared",), "abc", None))
    if max((n for n in numbers if isinstance(n, int)), default=0) > 64:
        numbers = [n if n != 1 << 40 else -1 for n in numbers]
    if random.random() < 0.5:
        return tried(
            f"outer_product{(*numbers, scopes)}", lambda: outer_products.outer_product(*numbers, scopes=scopes)
        )[0]
    name = random.choice(
        (
            "dot_4x4",
            "dot_",
            "dot_x",
            "dot_4x4_u8s8s32",
            "dot_999999x4",
            "dot_-1x4",
            "dot_é",
            "dot_4x4x4",
            "dot_16x4_i8i8i32",
        )
    )
    if random.random() < 0.5:
        return tried(f"dots.register({name!r})", lambda: dot_products.register(name))[0]
    return tried(
        f"register_kernel({name!r})", lambda: register_kernel(name + "k", values.plain(random), override=True)
    )[0]


def _build(random: Random) -> str:
    program = random.choice((corpus.matmul(), corpus.matmul(), values.value(random)))
    options: dict[str, Any] = {}
    options[random.choice(("target", "driver", "libs", "cache", "nobody"))] = values.plain(random)
    if random.random() < 0.3:
        options["target"] = _made_target(random)
    if options.get("libs") is None:
        options.pop("libs", None)
    return tried(f"build({seen(program, 300)}, {seen(options, 900)})", lambda: build(program, **options))[0]


def _made_target(random: Random) -> Any:
    word, target = tried("", lambda: Target(*[random.choice((128, 256, 16, 32, 0, -1, 100))] * 2, features=frozenset(
        random.sample(("avx2", "fma", "nobody", "+x", "é", "avx512f,-avx2", ""), random.randrange(3))),
        arch=random.choice(("x86_64", "", "é")),
        triple=random.choice(("", "x86_64-unknown-linux-gnu", "nobody", "é", "aarch64-linux", "a b", "\0", "wasm32")),
        cpu=random.choice(("", "x86-64", "generic", "nobody", "é"))))  # fmt: skip
    return target if word == "accepted" else "llvm"


def _target(random: Random) -> str:
    target = _made_target(random)
    return tried(f"build(matmul, {target!r})", lambda: build(corpus.matmul(), target, cache=random.random() < 0.5))[0]


def _module(random: Random) -> str:
    """Call methods of modules and functions."""
    module = corpus.matmul()
    given = [values.value(random) for _ in range(random.choice((0, 1, 1, 2)))]
    name = random.choice((
        "__getitem__", "from_expr", "equal", "script", "__init__", "with_attr", "without_attr", "with_attrs",
        "from_mlir", "parse", "create_llvm",
    ))  # fmt: skip
    shown = f"{name}({seen(given, 900)})"

    def work() -> Any:
        match name:
            case "__init__":
                return IRModule(*given)
            case "from_expr" | "from_mlir":
                return getattr(IRModule, name)(*given)
            case "with_attr" | "without_attr" | "with_attrs":
                return getattr(module["main"], name)(*given).script()
            case "script":
                return module.script(**{random.choice(("nobody", "name", "show_meta")): given})
            case "parse":
                return parse(*given)
            case "create_llvm" if given and not isinstance(given[0], str):
                return create_llvm(*given)
            case "create_llvm":
                return None
            case _:
                return getattr(module, name)(*given)

    return tried(shown, work)[0]
