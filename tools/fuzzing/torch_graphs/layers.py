"""Products, windows, norms and other layers."""

from __future__ import annotations

from fuzzing.torch_graphs.drawing import INTEGERS, Draw, line
from fuzzing.torch_graphs.program import Line


def product(d: Draw) -> Line | None:
    if d.dtype == "bool" or not d.rank:
        return None
    y = d.random.choice(d.alike)
    if not d.values[y].dim():
        return None
    own = (
        ["torch.matmul({0}, {0}.transpose(-1, -2))", "F.linear({0}, {0})"] if d.rank > 1 else ["torch.outer({0}, {0})"]
    )
    both = ["torch.matmul({0}, {1})", "F.linear({0}, {1})", "torch.matmul({0}, {1}.transpose(-1, -2))"]
    text = d.random.choice([*own, *(both if d.values[y].dim() > 1 else both[:1])])
    if d.rank == 2 and d.random.random() < 0.3:
        text = d.random.choice(["torch.einsum('ij,kj->ik', {0}, {0})", "torch.einsum('ij,ij->j', {0}, {0})",
                                "torch.einsum('ij->ji', {0})", "torch.addmm({0}[:, :1], {0}, {0}.t())"])  # fmt: skip
    return line("product", text, d.x, *([y] if "{1}" in text else ()), adds=True)


def norm(d: Draw) -> Line | None:
    if not d.is_float or not d.rank:
        return None
    last = d.shape[-1]
    options = [f"F.layer_norm({{0}}, ({last},))", f"F.rms_norm({{0}}, ({last},))", "F.normalize({0}, dim=-1)"]
    if d.rank in (2, 3, 4):
        channels = d.shape[1]
        options += ["F.instance_norm({0})"] if d.rank > 2 else []
        options += [f"F.group_norm({{0}}, {channels})"] if channels else []
        mean = f"torch.full(({channels},), 0.5, dtype={{0}}.dtype)"
        options.append(f"F.batch_norm({{0}}, {mean}, {mean})")
    text = d.random.choice(options)
    return line(text[2 : text.index("(")], text, d.x, adds=True)


def window(d: Draw) -> Line | None:
    if d.rank not in (3, 4) or d.dtype == "bool":
        return None
    axes, r = d.rank - 2, d.random
    size, stride, pad = r.choice([1, 2, 3]), r.choice([1, 2]), r.choice([0, 1])
    ceil = r.random() < 0.3
    names = [f"F.max_pool{axes}d({{0}}, {size}, {stride}, {min(pad, size // 2)}, ceil_mode={ceil})"]
    if d.is_float:
        names += [
            f"F.avg_pool{axes}d({{0}}, {size}, {stride}, {min(pad, size // 2)}, {ceil}, {r.random() < 0.5})",
            f"F.adaptive_avg_pool{axes}d({{0}}, {size})", f"F.adaptive_max_pool{axes}d({{0}}, {size})",
            f"F.interpolate({{0}}, scale_factor=2, mode='{r.choice(['nearest', ('linear', 'bilinear')[axes - 1]])}')",
            f"F.interpolate({{0}}, size={(5, 3)[:axes]}, mode='nearest-exact')",
        ]  # fmt: skip
    text = r.choice(names)
    return line(text[2 : text.index("(")], text, d.x, adds="max" not in text)


def convolution(d: Draw) -> Line | None:
    """With weights that are made; torch itself dies of some images without elements."""
    if d.rank not in (3, 4) or not d.is_float or not d.tensor.numel():
        return None
    axes, r, c = d.rank - 2, d.random, d.shape[1]
    if not c:
        return None
    k = r.choice([1, 2, 3])
    count = c * 2 * k**axes
    weight = f"torch.arange({count}, dtype={{0}}.dtype).sin()"
    stride, pad, dil = r.choice([1, 1, 2]), r.choice([0, 1, 2]), r.choice([1, 1, 2])
    if r.random() < 0.3:
        w = f"{weight}.reshape({c}, 2, {', '.join([str(k)] * axes)})"
        options = f"stride={stride}, padding={min(pad, k - 1)}"
        return line("conv_transpose", f"F.conv_transpose{axes}d({{0}}, {w}, {options})", d.x, adds=True)
    groups = r.choice([1, c])
    w = f"{weight}[:{2 * c * (c // groups) * k**axes if groups > 1 else count}]"
    shape = f"({2 * c if groups > 1 else 2}, {c // groups}, {', '.join([str(k)] * axes)})"
    w = f"{w}.reshape{shape}"
    options = f"stride={stride}, padding={pad}, dilation={dil}, groups={groups}"
    return line("conv", f"F.conv{axes}d({{0}}, {w}, {options})", d.x, adds=True)


def attention(d: Draw) -> Line | None:
    """Of finite numbers: of torch's kernels some read the values of keys that no query sees, and others do not."""
    if d.rank not in (3, 4) or not d.is_float or not d.tensor.numel() or not d.tensor.isfinite().all():
        return None
    causal = d.random.random() < 0.5
    return line("attention", f"F.scaled_dot_product_attention({{0}}, {{0}}, {{0}}, is_causal={causal})", d.x, adds=True)


def embedded(d: Draw) -> Line | None:
    if d.rank != 2 or not d.is_float or not d.shape[0]:
        return None
    places = d.of(INTEGERS)
    if places is None:
        return None
    return line("embedding", f"F.embedding(torch.remainder({{1}}, {d.shape[0]}).long(), {{0}})", d.x, places)


def counted(d: Draw) -> Line | None:
    """one_hot and bucketize."""
    if d.dtype in INTEGERS and d.rank < 4:
        return line("one_hot", "F.one_hot(torch.remainder({0}, 3).long(), 3)", d.x)
    if d.dtype == "float32":
        return line("bucketize", "torch.bucketize({0}, torch.tensor([-1.0, 0.0, 0.5, 2.0]))", d.x)
    return None
