"""The models of the zoo: their names, and how each is made, with random weights and inputs."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from typing import Any

IMAGE = 224

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
_HEADS_ALIKE = {key: value for key, value in _TINY.items() if key != "head_dim"}
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
    "starcoder2": _TINY, "stablelm": _TINY, "falcon": _HEADS_ALIKE, "cohere": _TINY, "glm": _TINY, "granite": _TINY,
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
_NORM = {"norm_num_groups": 8}
_DOWN, _UP = "DownEncoderBlock2D", "UpDecoderBlock2D"
_CODER = _NORM | {"block_out_channels": (32, 64), "down_block_types": (_DOWN,) * 2, "up_block_types": (_UP,) * 2}
_HEADS = {"num_attention_heads": 4, "attention_head_dim": 16, "num_layers": 2, "sample_size": 16}
_UNET = _NORM | {"block_out_channels": (32, 64), "layers_per_block": 1, "sample_size": 32}
DIFFUSERS: dict[str, tuple[dict[str, Any], dict[str, tuple[int, ...]]]] = {
    "UNet2DModel": (
        _UNET | {"down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
                 "up_block_types": ("AttnUpBlock2D", "UpBlock2D")},
        {"sample": (1, 3, 32, 32), "timestep": ()}),
    "UNet2DConditionModel": (
        _UNET | {"down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
                 "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"), "cross_attention_dim": 32},
        {"sample": (1, 4, 32, 32), "timestep": (), "encoder_hidden_states": (1, 16, 32)}),
    "AutoencoderKL": (_CODER, {"sample": (1, 3, 64, 64)}), "VQModel": (_CODER, {"sample": (1, 3, 64, 64)}),
    "AutoencoderTiny": ({}, {"sample": (1, 3, 64, 64)}),
    "DiTTransformer2DModel": (
        _HEADS | {"num_embeds_ada_norm": 10},
        {"hidden_states": (1, 4, 16, 16), "timestep": (1,), "class_labels": (1,)}),
    "PixArtTransformer2DModel": (
        _HEADS | {"cross_attention_dim": 64, "caption_channels": 32},
        {"hidden_states": (1, 4, 16, 16), "encoder_hidden_states": (1, 12, 32), "timestep": (1,)}),
    "SD3Transformer2DModel": (
        _HEADS | {"joint_attention_dim": 32, "caption_projection_dim": 64, "pooled_projection_dim": 64,
                  "pos_embed_max_size": 16},
        {"hidden_states": (1, 16, 16, 16), "encoder_hidden_states": (1, 12, 32), "pooled_projections": (1, 64),
         "timestep": (1,)}),
    "FluxTransformer2DModel": (
        {"num_layers": 1, "num_single_layers": 1, "attention_head_dim": 16, "num_attention_heads": 4,
         "joint_attention_dim": 32, "pooled_projection_dim": 32, "axes_dims_rope": (4, 6, 6)},
        {"hidden_states": (1, 64, 64), "encoder_hidden_states": (1, 12, 32), "pooled_projections": (1, 32),
         "timestep": (1,), "img_ids": (64, 3), "txt_ids": (12, 3)}),
    "SanaTransformer2DModel": (
        _HEADS | {"num_cross_attention_heads": 4, "cross_attention_head_dim": 16, "cross_attention_dim": 64,
                  "caption_channels": 32},
        {"hidden_states": (1, 32, 16, 16), "encoder_hidden_states": (1, 12, 32), "timestep": (1,)}),
}  # fmt: skip
"""What is made smaller than in the default configuration of a class, and the shapes of its inputs by name."""
_WHOLE = ("timestep", "class_labels")
"""The inputs that are whole numbers."""
SIZES = {"inception_v3": 299, "swinv2_tiny_window8_256": 256, "crossvit_tiny_240": 240}


def names(installed: bool = True) -> list[str]:
    """The models by package and name: of the packages that are installed, or all."""
    packages = {"torchvision": TORCHVISION, "timm": TIMM, "transformers": TRANSFORMERS, "diffusers": DIFFUSERS}
    known = {p: models for p, models in packages.items() if not installed or importlib.util.find_spec(p)}
    return [f"{package}/{name}" for package, models in known.items() for name in models]


def made(name: str) -> tuple[Any, tuple[Any, ...]]:
    """A model with random weights, and inputs."""
    import torch

    package, _, model = name.partition("/")
    torch.manual_seed(0)
    found, inputs = {
        "torchvision": _torchvision, "timm": _timm, "transformers": _transformers, "diffusers": _diffusers,
    }[package](model)  # fmt: skip
    model = _Tensors(found.eval())
    with torch.no_grad():
        _awaken(model, other_inputs(inputs))
    return model, inputs


def _awaken(model: Any, inputs: tuple[Any, ...]) -> None:
    """Let the results depend on the inputs: heads and scales that begin as zero, or nearly, get other values, and batch
    norms the statistics of these inputs, which are not those that are compared: the mean over a plane of what norms of
    the same inputs give is zero but for rounding. Convolutions of a model without norms get weights that keep the size
    of what they take: those of PyTorch shrink it, until only the biases are left."""
    import torch

    if not any("Norm" in type(module).__name__ for module in model.modules()):
        for convolution in (m for m in model.modules() if isinstance(m, torch.nn.Conv2d)):
            torch.nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1 and not parameter.any():
            torch.nn.init.normal_(parameter, std=parameter[0].numel() ** -0.5)
        elif parameter.dim() == 1 and not name.endswith("bias") and parameter.abs().max() < 0.1:
            torch.nn.init.constant_(parameter, 0.5)
    norms = [m for m in model.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm) and m.momentum]
    momenta = [norm.momentum for norm in norms]
    try:
        for norm in norms:
            norm.train().momentum = 1.0
        model(*inputs)
    except ValueError:  # one value for a channel has no variance
        pass
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.eval().momentum = momentum


def other_inputs(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Other numbers, tokens in another order."""
    import torch

    return tuple(torch.rand_like(x) if x.is_floating_point() else x.flip(-1) if x.dim() else x for x in inputs)


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
    image = torch.rand(1, getattr(config, "num_channels", 3), width, width)
    if "noise" in inspect.signature(found.forward).parameters:  # else it draws the patches to be masked
        return found, (image, torch.rand(1, (width // config.patch_size) ** 2))
    return found, (image,)


def _diffusers(name: str) -> tuple[Any, tuple[Any, ...]]:
    import torch

    smaller, shapes = DIFFUSERS[name]
    found: Any = getattr(importlib.import_module("diffusers"), name)(**smaller)
    given = {key: torch.full(of, 3) if key in _WHOLE else torch.rand(of) for key, of in shapes.items()}

    class ByName(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = found

        def forward(self, *inputs: Any) -> Any:
            return self.inner(**dict(zip(given, inputs, strict=True)))

    return ByName(), tuple(given.values())


def _Tensors(model: Any) -> Any:  # a class that only exists where torch does
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
