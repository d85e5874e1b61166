#!/usr/bin/env python3
"""Writes popular networks with random weights as ONNX models, and for each the inputs and ONNX Runtime's outputs.

usage: export_models.py FOLDER [NAME...]

FOLDER/NAME.onnx is the model (weights beside it where the exporter puts them there), FOLDER/NAME.data.npz the inputs
("in.NAME") and the outputs ("out.NAME") of ONNX Runtime at the size that the model was exported with. Names that end in
".script" come from PyTorch's TorchScript exporter, the others from its dynamo exporter. Models that are there stay.
"""

import os
import sys
import warnings

import numpy
import torch

warnings.filterwarnings("ignore")
torch.manual_seed(1)


def picture(batch):
    return {"x": torch.randn(batch, 3, 224, 224)}


def tokens(batch, length=32, words=1000):
    return {"input_ids": torch.randint(0, words, (batch, length))}


def masked(batch):
    return {**tokens(batch), "attention_mask": torch.ones(batch, 32, dtype=torch.int64)}


class Logits(torch.nn.Module):
    """A transformers model as a function of tensors to one tensor."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *arguments):
        return self.model(**dict(zip(self.names, arguments)), return_dict=False)[0]


class UNet(torch.nn.Module):
    """The contracting and expanding path of Ronneberger, Fischer and Brox 2015, narrow."""

    def __init__(self, widths=(16, 32, 64)):
        super().__init__()
        self.down = torch.nn.ModuleList()
        self.up = torch.nn.ModuleList()
        self.join = torch.nn.ModuleList()
        channels = 3
        for width in widths:
            self.down.append(self.block(channels, width))
            channels = width
        self.middle = self.block(channels, 2 * channels)
        channels = 2 * channels
        for width in reversed(widths):
            self.up.append(torch.nn.ConvTranspose2d(channels, width, 2, 2))
            self.join.append(self.block(2 * width, width))
            channels = width
        self.last = torch.nn.Conv2d(channels, 2, 1)

    @staticmethod
    def block(channels, width):
        return torch.nn.Sequential(
            torch.nn.Conv2d(channels, width, 3, padding=1), torch.nn.GroupNorm(4, width), torch.nn.SiLU(),
            torch.nn.Conv2d(width, width, 3, padding=1), torch.nn.BatchNorm2d(width), torch.nn.ReLU())

    def forward(self, x):
        kept = []
        for block in self.down:
            x = block(x)
            kept.append(x)
            x = torch.nn.functional.max_pool2d(x, 2)
        x = self.middle(x)
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([up(x), kept.pop()], 1))
        return self.last(torch.nn.functional.interpolate(x, scale_factor=2.0, mode="bilinear"))


def vision(name, **settings):
    import torchvision
    model = torchvision.models.get_model(name, weights=None, **settings)
    for module in model.modules():  # statistics of a network that was trained: not 0 and 1
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
        if isinstance(module, torch.nn.Linear) and not module.weight.any():  # a head that starts at 0 proves nothing
            torch.nn.init.normal_(module.weight, 0, 0.02)
    return model


def bert():
    from transformers import BertConfig, BertModel
    return Logits(BertModel(BertConfig()), ["input_ids", "attention_mask"])


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    return Logits(GPT2LMHeadModel(GPT2Config(use_cache=False)), ["input_ids"])


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    return Logits(LlamaForCausalLM(LlamaConfig(
        hidden_size=512, intermediate_size=1376, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=2,
        vocab_size=8000, use_cache=False)), ["input_ids"])


def whisper():
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder
    return Logits(WhisperEncoder(WhisperConfig(
        d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536)), ["input_features"])


def sound(batch):
    return {"input_features": torch.randn(batch, 80, 3000)}


def small_picture(batch):
    return {"x": torch.randn(batch, 3, 64, 64)}


class Segments(torch.nn.Module):
    """Of a segmentation network's results the one that counts."""

    def __init__(self, name):
        super().__init__()
        self.model = vision(name, weights_backbone=None)

    def forward(self, x):
        return self.model(x)["out"]


class Registered(torch.nn.Module):
    """A picture moved by a transform that a network finds (Jaderberg et al. 2015)."""

    def __init__(self):
        super().__init__()
        self.find = torch.nn.Linear(3 * 16 * 16, 6)
        self.last = torch.nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        moved = self.find(x.flatten(1)).view(-1, 2, 3) * 0.3 + torch.tensor([[1.0, 0, 0], [0, 1, 0]])
        grid = torch.nn.functional.affine_grid(moved, x.shape, align_corners=False)
        return self.last(torch.nn.functional.grid_sample(x, grid, align_corners=False, padding_mode="reflection"))


class Volumes(torch.nn.Module):
    """Two levels of a U-Net over three axes."""

    def __init__(self):
        super().__init__()
        self.first, self.middle = torch.nn.Conv3d(2, 8, 3, padding=1), torch.nn.Conv3d(8, 16, 3, padding=1)
        self.norm, self.up = torch.nn.InstanceNorm3d(8, affine=True), torch.nn.ConvTranspose3d(16, 8, 2, 2)
        self.last = torch.nn.Conv3d(16, 2, 1)

    def forward(self, x):
        kept = torch.relu(self.norm(self.first(x)))
        below = torch.relu(self.middle(torch.nn.functional.max_pool3d(kept, 2)))
        return self.last(torch.cat([self.up(below), kept], 1))


SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
         "vocab_size": 1000}


def small(kind, config, names, **settings):
    """A small model of transformers by the names of its class and configuration."""
    def make():
        import transformers
        return Logits(getattr(transformers, kind)(getattr(transformers, config)(**settings)), names)
    return make


def small_text(batch):
    return tokens(batch, 16)


def both_texts(batch):
    return {**tokens(batch, 16), "decoder_input_ids": torch.randint(0, 1000, (batch, 7))}


MODELS = {
    "resnet50": (lambda: vision("resnet50"), picture),
    "mobilenet_v2": (lambda: vision("mobilenet_v2"), picture),
    "efficientnet_b0": (lambda: vision("efficientnet_b0"), picture),
    "vit_b_16": (lambda: vision("vit_b_16"), picture),
    "bert": (bert, masked),
    "gpt2": (gpt2, tokens),
    "llama": (llama, tokens),
    "whisper_encoder": (whisper, sound),
    "unet": (UNet, lambda batch: {"x": torch.randn(batch, 3, 96, 96)}),
    "convnext_tiny": (lambda: vision("convnext_tiny"), small_picture),
    "swin_t": (lambda: vision("swin_t"), small_picture),
    "deeplabv3": (lambda: Segments("deeplabv3_mobilenet_v3_large"), small_picture),
    "registered": (Registered, lambda batch: {"x": torch.randn(batch, 3, 16, 16)}),
    "volumes": (Volumes, lambda batch: {"x": torch.randn(batch, 2, 8, 8, 8)}),
    "mistral": (small("MistralForCausalLM", "MistralConfig", ["input_ids"], num_key_value_heads=2, sliding_window=8,
                      use_cache=False, **SMALL), small_text),
    "clip_text": (small("CLIPTextModel", "CLIPTextConfig", ["input_ids"], pad_token_id=1, bos_token_id=0,
                        eos_token_id=999, **SMALL), small_text),
    "t5": (small("T5ForConditionalGeneration", "T5Config", ["input_ids", "decoder_input_ids"], d_model=64, d_kv=16,
                 d_ff=128, num_layers=2, num_heads=4, vocab_size=1000, use_cache=False), both_texts),
}


def export(name, path, script):
    make, sample = MODELS[name]
    torch.manual_seed(1)
    model = make().eval()
    fed = sample(2)
    names = list(fed)
    shared = {"input_names": names, "output_names": ["y"]}
    if script:
        torch.onnx.export(model, tuple(fed.values()), path, dynamo=False, opset_version=17,
                          dynamic_axes={n: {0: "batch"} for n in names} | {"y": {0: "batch"}}, **shared)
    else:
        batch = torch.export.Dim("batch", min=1, max=64)
        torch.onnx.export(model, tuple(fed.values()), path, dynamo=True, opset_version=20 if name == "registered" else 18, external_data=True,
                          dynamic_shapes=({0: batch},) * len(names) if not isinstance(model, Logits)
                          else (({0: batch},) * len(names),), **shared)


def expected(path, name):
    import onnxruntime
    fed = {n: t.numpy() for n, t in MODELS[name][1](1).items()}
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    outputs = session.run(None, fed)
    given = {"in." + n: a for n, a in fed.items()}
    given |= {"out." + o.name: a for o, a in zip(session.get_outputs(), outputs)}
    return given


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    for name in names or [n + e for n in MODELS for e in ("", ".script")]:
        path = os.path.join(folder, name + ".onnx")
        data = os.path.join(folder, name + ".data.npz")
        if os.path.exists(data):
            continue
        kind = name.removesuffix(".script")
        try:
            export(kind, path, name.endswith(".script"))
            numpy.savez(data, **expected(path, kind))
            print(name, "written", flush=True)
        except Exception as failure:  # one exporter's failure is no reason to leave out the others
            print(name, "FAILED:", str(failure).strip().split("\n")[0][:300], flush=True)


if __name__ == "__main__":
    main()
