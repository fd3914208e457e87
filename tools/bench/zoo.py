"""Models of torchvision, timm, transformers and diffusers as they come, with random weights, beside PyTorch eager.

    python tools/bench/zoo.py [PATTERN ...] [--limit 600] [--threads N] [--out build/zoo.json] [--page FILE.md]

Each model is imported, built and run in a process of its own; models of packages that are not installed are left out.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WRONG, SLOW = 1e-4, 1.1
"""The largest error, of the largest value of a result; the largest ratio to the time of PyTorch."""
IMAGE, ROUNDS = 224, 7

TORCHVISION = """
alexnet convnext_tiny densenet121 efficientnet_b0 efficientnet_v2_s googlenet inception_v3 maxvit_t mnasnet1_0
mobilenet_v2 mobilenet_v3_large mobilenet_v3_small regnet_x_400mf regnet_y_800mf resnet18 resnet50 resnext50_32x4d
shufflenet_v2_x1_0 squeezenet1_1 swin_t swin_v2_t vgg11 vgg16_bn vit_b_16 wide_resnet50_2 segmentation.fcn_resnet50
segmentation.deeplabv3_mobilenet_v3_large segmentation.lraspp_mobilenet_v3_large video.r3d_18 video.mc3_18
video.swin3d_t optical_flow.raft_small
""".split()
TIMM = """
beit_base_patch16_224 botnet26t_256 cait_xxs24_224 coat_lite_tiny coatnet_0_rw_224 convit_tiny convmixer_768_32
convnext_atto convnextv2_atto crossvit_tiny_240 cs3darknet_m darknet53 davit_tiny deit3_small_patch16_224
deit_tiny_patch16_224 dla34 dm_nfnet_f0 dpn48b eca_nfnet_l0 edgenext_xx_small efficientformer_l1
efficientformerv2_s0 efficientnet_lite0 efficientvit_b0 efficientvit_m0 ese_vovnet19b_dw eva02_tiny_patch14_224
fasternet_t0 fastvit_t8 focalnet_tiny_srf gcvit_xxtiny gernet_s ghostnet_100 ghostnetv2_100 gmlp_s16_224
haloregnetz_b hardcorenas_a hgnetv2_b0 hiera_tiny_224 hrnet_w18_small inception_next_tiny inception_resnet_v2
inception_v4 lambda_resnet26t lcnet_100 levit_128s mambaout_femto maxvit_nano_rw_256 mixer_s16_224 mixnet_s
mnasnet_small mobilenetv4_conv_small mobileone_s0 mobilevit_s mobilevitv2_050 mvitv2_tiny nasnetalarge nest_tiny
nextvit_small pit_ti_224 pnasnet5large poolformer_s12 pvt_v2_b0 regnety_004 repghostnet_050 repvgg_a0 repvit_m0_9
res2net50_26w_4s resmlp_12_224 resnest14d resnetv2_50 rexnet_100 selecsls42b semnasnet_075 sequencer2d_s seresnet50
sebotnet33ts_256 skresnet18 spnasnet_100 starnet_s1 swiftformer_xs swin_tiny_patch4_window7_224
swinv2_tiny_window8_256 tiny_vit_5m_224 tinynet_a tnt_s_patch16_224 tresnet_m twins_svt_small vit_small_patch16_224
visformer_tiny volo_d1_224 wide_resnet50_2 xception41 xcit_nano_12_p16_224
""".split()
_TINY = {
    "vocab_size": 1000, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
_EXPERTS = _TINY | {"num_local_experts": 4, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64}
_TOKENS = {"vocab_size": 1000, "num_hidden_layers": 2, "pad_token_id": 0}
TRANSFORMERS: dict[str, dict[str, Any]] = {
    "albert": _TOKENS, "bert": _TOKENS, "distilbert": {"vocab_size": 1000, "n_layers": 2}, "electra": _TOKENS,
    "roberta": _TOKENS, "mpnet": _TOKENS, "deberta-v2": _TOKENS, "fnet": _TOKENS, "layoutlm": _TOKENS,
    "squeezebert": _TOKENS, "roformer": _TOKENS, "convbert": _TOKENS, "mobilebert": _TOKENS, "nystromformer": _TOKENS,
    "ernie": _TOKENS,
    "modernbert": _TOKENS | {"bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2},
    "gpt2": {"vocab_size": 1000, "n_layer": 2},
    "gpt_neo": {"vocab_size": 1000, "num_layers": 2, "attention_types": [[["global", "local"], 1]]},
    "gpt_neox": _TINY, "gptj": {"vocab_size": 1000, "n_layer": 2, "n_embd": 256, "n_head": 4, "rotary_dim": 16},
    "opt": _TINY | {"ffn_dim": 128, "word_embed_proj_dim": 64},
    "bloom": {"vocab_size": 1000, "hidden_size": 64, "n_layer": 2, "n_head": 4}, "llama": _TINY, "mistral": _TINY,
    "qwen2": _TINY, "qwen3": _TINY, "gemma": _TINY, "gemma2": _TINY, "phi": _TINY, "phi3": _TINY, "olmo2": _TINY,
    "starcoder2": _TINY, "stablelm": _TINY, "falcon": _TINY, "cohere": _TINY, "glm": _TINY, "granite": _TINY,
    "smollm3": _TINY, "mixtral": _EXPERTS, "qwen2_moe": _EXPERTS | {"shared_expert_intermediate_size": 64},
    "qwen3_moe": _EXPERTS, "olmoe": _EXPERTS, "gpt_oss": _EXPERTS,
    "mamba": {"vocab_size": 1000, "num_hidden_layers": 2, "hidden_size": 64}, "vit": {"num_hidden_layers": 2},
    "deit": {"num_hidden_layers": 2}, "beit": {"num_hidden_layers": 2},
    "dinov2": {"num_hidden_layers": 2, "image_size": IMAGE}, "convnext": {}, "swin": {}, "swinv2": {},
    "segformer": {}, "mobilevit": {}, "mobilenet_v2": {}, "resnet": {}, "regnet": {}, "poolformer": {}, "pvt": {},
    "levit": {}, "cvt": {}, "focalnet": {}, "vit_mae": {"num_hidden_layers": 2},
    "ijepa": {"num_hidden_layers": 2, "image_size": IMAGE}, "wav2vec2": _TINY | {"conv_dim": (32,) * 7},
    "hubert": _TINY | {"conv_dim": (32,) * 7},
}  # fmt: skip
"""Models by their type, with what is made smaller than in its default configuration."""
DIFFUSERS = ("UNet2DModel", "AutoencoderKL", "VQModel")
_ERROR = re.compile(r"(\w+\.)*\w*(Error|Exception)\b")
"""The last line of a traceback."""
SIZES = {"inception_v3": 299, "swinv2_tiny_window8_256": 256, "crossvit_tiny_240": 240}


def names() -> list[str]:
    """The models by package and name, of the packages that are installed."""
    packages = {"torchvision": TORCHVISION, "timm": TIMM, "transformers": TRANSFORMERS, "diffusers": DIFFUSERS}
    return [f"{p}/{name}" for p, models in packages.items() if importlib.util.find_spec(p) for name in models]


# --- one model, in a process of its own -------------------------------------------------------------------------------


def made(name: str) -> tuple[Any, tuple[Any, ...]]:
    """A model with random weights, and inputs."""
    import torch

    package, _, model = name.partition("/")
    torch.manual_seed(0)
    found, inputs = {
        "torchvision": _torchvision, "timm": _timm, "transformers": _transformers, "diffusers": _diffusers,
    }[package](model)  # fmt: skip
    return _Tensors(found.eval()), inputs


def _torchvision(name: str) -> tuple[Any, tuple[Any, ...]]:
    import torch

    models: Any = importlib.import_module("torchvision.models")
    folder, _, last = name.rpartition(".")
    more: dict[str, Any] = {"init_weights": True} if name in ("inception_v3", "googlenet") else {}
    more |= {"weights_backbone": None} if folder == "segmentation" else {}
    found = getattr(getattr(models, folder) if folder else models, last)(weights=None, **more)
    size = SIZES.get(name, IMAGE)
    if folder == "video":
        return found, (torch.rand(1, 3, 8, 112, 112),)
    if folder == "optical_flow":
        return found, (torch.rand(1, 3, 128, 128), torch.rand(1, 3, 128, 128))
    return found, (torch.rand(1, 3, size, size),)


def _timm(name: str) -> tuple[Any, tuple[Any, ...]]:
    import torch

    timm: Any = importlib.import_module("timm")
    found = timm.create_model(name, pretrained=False)
    return found, (torch.rand(1, *found.default_cfg["input_size"]),)


def _transformers(name: str) -> tuple[Any, tuple[Any, ...]]:
    import torch

    transformers: Any = importlib.import_module("transformers")
    config = transformers.AutoConfig.for_model(name, **TRANSFORMERS[name])
    found = transformers.AutoModel.from_config(config)
    main = found.main_input_name
    if main == "input_ids":
        return found, (torch.randint(3, 1000, (1, 64)),)
    if main == "input_values":
        return found, (torch.rand(1, 8000),)
    size = getattr(config, "image_size", None) or IMAGE
    width = size if isinstance(size, int) else size[0]
    return found, (torch.rand(1, getattr(config, "num_channels", 3), width, width),)


def _diffusers(name: str) -> tuple[Any, tuple[Any, ...]]:
    import torch

    found: Any = getattr(importlib.import_module("diffusers"), name)()
    size = 64
    image = torch.rand(1, found.config.in_channels, size, size)
    return found, (image, torch.tensor([10])) if name == "UNet2DModel" else (image,)


def _Tensors(model: Any) -> Any:  # noqa: N802  # a class that only exists where torch does
    """A model whose result is a tuple of its tensors."""
    import torch

    class Tensors(torch.nn.Module):
        def __init__(self, inner: Any):
            super().__init__()
            self.inner = inner

        def forward(self, *inputs: Any) -> Any:
            return tuple(_tensors(self.inner(*inputs)))

    return Tensors(model)


def _tensors(value: Any) -> list[Any]:
    """The tensors of floats in a result, in order; keys and values of a cache are left out."""
    import torch

    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    if isinstance(value, dict):
        return [t for key, each in value.items() if key != "past_key_values" for t in _tensors(each)]
    return [t for each in value for t in _tensors(each)] if isinstance(value, list | tuple) else []


def one(name: str, threads: int | None, imports: bool = False) -> dict[str, Any]:
    """Facts of a model: the largest error, milliseconds of a call of ours and of PyTorch, seconds of import and build;
    imports: of the import only."""
    import numpy as np
    import torch

    warnings.simplefilter("ignore")
    torch.set_grad_enabled(False)
    if threads:
        torch.set_num_threads(threads)
    facts: dict[str, Any] = {"model": name}
    model, inputs = made(name)
    import tir_mlir

    start = time.perf_counter()
    graph = tir_mlir.from_torch(model, inputs)
    facts["import"] = time.perf_counter() - start
    if imports:
        return facts
    expected = [each.numpy() for each in model(*inputs)]
    start = time.perf_counter()
    built: Any = tir_mlir.build(graph, threads=threads)
    facts["build"] = time.perf_counter() - start
    arrays = [each.numpy() for each in inputs]
    results = built(*arrays)
    results = results if isinstance(results, list | tuple) else [results]
    pairs = list(zip(results, expected, strict=True))
    facts["error"] = max(float(np.abs(got - want).max() / max(np.abs(want).max(), 1e-30)) for got, want in pairs)
    ours, theirs = _in_turns(lambda: built(*arrays), lambda: model(*inputs))
    return facts | {"ours": 1e3 * ours, "torch": 1e3 * theirs}


def _in_turns(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[float, float]:
    """Medians of seconds of two calls, measured in turns."""
    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for call, seconds in zip((first, second), took, strict=True):
            start = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - start)
    return statistics.median(took[0]), statistics.median(took[1])


# --- all of them ------------------------------------------------------------------------------------------------------


def outcome(name: str, limit: float, threads: int | None, imports: bool = False) -> dict[str, Any]:
    """What a process says of a model; where it dies or takes too long, that."""
    command = [sys.executable, "-W", "ignore", __file__, "--one", name, *["--imports"] * imports]
    command += ["--threads", str(threads)] if threads else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment)
    except subprocess.TimeoutExpired:
        return {"model": name, "why": f"takes longer than {limit:g} s"}
    last = (done.stdout.strip().splitlines() or [""])[-1]
    if done.returncode or not last.startswith("{"):
        errors = [line for line in done.stderr.splitlines() if _ERROR.match(line)]
        words = errors[-1] if errors else f"the process ended with {done.returncode}"
        return {"model": name, "why": words[:300]}
    return json.loads(last)


def says(facts: dict[str, Any]) -> str:
    """right, wrong, slow, or why it did not run."""
    if "why" in facts:
        return facts["why"]
    if "error" not in facts:
        return "imports"
    if not facts["error"] <= WRONG:
        return f"wrong: {facts['error']:.1e} of its largest value"
    return "slow" if facts["ours"] > SLOW * facts["torch"] else "right"


def page(rows: Sequence[dict[str, Any]], machine: str) -> str:
    """The table as a page of the docs."""
    right = sum(says(row) in ("right", "slow") for row in rows)
    lines = [
        "# Models", "",
        f"{len(rows)} models as their packages have them, with random weights, by `tools/bench/zoo.py`: {right} are",
        f"right to {WRONG:g} of their largest value. {machine}, {date.today()}. Milliseconds of a call, batch 1.", "",
        "| model | | error | ours, ms | PyTorch, ms | ratio | import, s | build, s |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for row in rows:
        if "why" in row:
            lines.append(f"| {row['model']} | {says(row).replace('|', '/')} | | | | | | |")
            continue
        figures = f"{row['ours']:.3g} | {row['torch']:.3g} | {row['torch'] / row['ours']:.2f}"
        took = f"{row['import']:.1f} | {row['build']:.1f}"
        lines.append(f"| {row['model']} | {says(row)} | {row['error']:.1e} | {figures} | {took} |")
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("patterns", nargs="*", default=["*"], help="names, as timm/resnet* (default: all)")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds that a model may take")
    parser.add_argument("--threads", type=int, help="of both; default: all cores")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "zoo.json")
    parser.add_argument("--page", type=Path, help="write the table as a page")
    parser.add_argument("--imports", action="store_true", help="import the models only")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.one:
        print(json.dumps(one(args.one, args.threads, args.imports)))
        return 0
    chosen = [name for name in names() if any(fnmatch.fnmatch(name, p) or p in name for p in args.patterns)]
    if args.list or not chosen:
        print("\n".join(chosen) if chosen else "no model of an installed package has such a name")
        return 0 if chosen else 2
    rows = []
    for number, name in enumerate(chosen):
        rows.append(outcome(name, args.limit, args.threads, args.imports))
        print(f"{number + 1}/{len(chosen)} {name}: {says(rows[-1])}", flush=True)
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(rows, indent=1) + "\n")
    right = sum(says(row) in ("right", "slow", "imports") for row in rows)
    slow = [row["model"] for row in rows if says(row) == "slow"]
    print(
        f"{right} of {len(rows)} right; slower than {SLOW} of PyTorch: {', '.join(slow) or 'none'};"
        f" written to {args.out}"
    )
    if args.page:
        from tir_mlir.tune.records.environment import machine

        args.page.write_text(page(rows, machine()))
    return int(right < len(rows))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
