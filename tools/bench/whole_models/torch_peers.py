"""PyTorch: eager, and compiled by inductor with frozen weights."""

from __future__ import annotations

import copy
import shutil
import warnings
from typing import Any

import torch

from .subject import Call, Missing, Subject
from .table import BF16, INT4, INT8

GROUP = 32


def eager(subject: Subject, threads: int) -> Call:
    torch.set_num_threads(threads)
    model, inputs = _of_type(subject)
    return lambda: model(*inputs)


def compiled(subject: Subject, threads: int) -> Call:
    """`torch.compile` with weights as constants."""
    if shutil.which("g++") is None and shutil.which("clang++") is None:
        raise Missing("torch.compile needs a C++ compiler; none is on PATH")
    torch.set_num_threads(threads)
    torch._dynamo.reset()
    model, inputs = _of_type(subject)
    run = torch.compile(model, dynamic=False, options={"freezing": True})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(*inputs)  # the first call compiles
    return lambda: run(*inputs)


def _of_type(subject: Subject) -> tuple[Any, tuple[Any, ...]]:
    """The model with the weights of the line, and its inputs; of images in bfloat16 channels come last, for oneDNN."""
    model, inputs = subject.example.model, subject.example.inputs
    if subject.line.weights == BF16:
        halves = copy.deepcopy(model).to(torch.bfloat16)
        if not any(x.ndim == 4 for x in inputs):
            return halves, inputs
        last = {"dtype": torch.bfloat16, "memory_format": torch.channels_last}
        return halves.to(memory_format=torch.channels_last), tuple(x.to(**last) for x in inputs)
    if subject.line.weights == INT8:
        raise Missing("PyTorch quantizes convolutions by torchao, which is not part of it")
    if subject.line.weights == INT4:
        return with_int4(copy.deepcopy(model)), inputs
    return model, inputs


class Int4Linear(torch.nn.Module):
    """PyTorch's product with packed 4-bit weights, one scale for each 32 of a row."""

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.reshape(linear.out_features, -1, GROUP)
        scale = weight.abs().amax(-1, keepdim=True) / 7
        quantized = (torch.round(weight / scale).clamp(-8, 7) + 8).to(torch.int32)
        pack = torch.ops.aten._convert_weight_to_int4pack_for_cpu
        self.packed = pack(quantized.reshape(linear.weight.shape), 2)
        scales = scale[..., 0].t()
        self.scales = torch.stack([scales, torch.zeros_like(scales)], -1).contiguous()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.reshape(-1, x.shape[-1])
        out = torch.ops.aten._weight_int4pack_mm_for_cpu(rows, self.packed, GROUP, self.scales)
        return out.view(*x.shape[:-1], out.shape[-1])


def with_int4(model: torch.nn.Module) -> torch.nn.Module:
    """Replace all dense layers."""
    for name, child in list(model.named_children()):
        if isinstance(child, torch.nn.Linear):
            setattr(model, name, Int4Linear(child))
        else:
            with_int4(child)
    return model


def activations(call: Call) -> int:
    """The most bytes allocated at once in a call, its outputs among them."""
    call()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        kept = call()  # noqa: F841  # the outputs live
    now = most = 0
    events: list[Any] = profile.profiler.kineto_results.events()  # pyright: ignore
    for event in sorted((e for e in events if e.name() == "[memory]"), key=lambda e: e.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return most
