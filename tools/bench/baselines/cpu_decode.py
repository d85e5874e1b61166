"""A token of GPT-2 on the CPU, batch 1, behind a full cache of keys and values: PyTorch, ONNX Runtime and llama.cpp, each with as
many threads as dfc. Samples alternate with those of dfc.

Keys: decode/124M/ELEMENT; ELEMENT is f32, or int8 for weights of 8 bits: PyTorch's and ONNX Runtime's dynamic quantisation, ONNX
Runtime's and llama.cpp's blocks of 32. A program that is not installed is a row that says so."""

import importlib
import os
import tempfile

# The cache of torch.compile is of this run alone: a run that was killed leaves broken files in it.
cache = tempfile.TemporaryDirectory()
os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache.name

import baseline

QUICK, FULL = (2, 4, 64, 256, 64), (12, 12, 768, 50304, 1024)  # layers, heads, width, vocabulary, context


def torch_step(sizes, threads, int8, compiled):
    import torch
    from torch_decode import Decoder
    from torch_gpt import Gpt

    torch.set_num_threads(threads)
    context = sizes[-1]
    model = Decoder(Gpt(*sizes), context, torch.float32).eval()
    if int8:
        model = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
    forward = torch.compile(model) if compiled else model
    token, position = torch.zeros(1, dtype=torch.long), torch.full((1,), context - 1)

    def step():
        with torch.no_grad():
            token.copy_(forward(token, position))

    return step


def onnx_step(sizes, threads, quantiser):
    decode = importlib.import_module("onnx_decode")
    return decode.decoding_step(sizes, threads, quantiser and getattr(decode, quantiser))


def llama_step(sizes, threads, int8):
    return importlib.import_module("llama_decode").decoding_step(sizes, threads, int8)


def version_of(module):
    try:
        return importlib.import_module(module).__version__.split("+")[0]
    except ImportError:
        return ""


def makers(int8, sizes, threads):
    torch, onnx, llama = (f"{program} {version_of(module)}" for program, module in
                          (("PyTorch", "torch"), ("ONNX Runtime", "onnxruntime"), ("llama-cpp-python", "llama_cpp")))
    if int8:
        return {f"{torch} eager": lambda: torch_step(sizes, threads, True, False),  # its int8 layers do not compile
                f"{onnx} dynamic": lambda: onnx_step(sizes, threads, "dynamically_quantised"),
                f"{onnx} blocks": lambda: onnx_step(sizes, threads, "blockwise_quantised"),
                llama: lambda: llama_step(sizes, threads, True)}
    return {f"{torch} eager": lambda: torch_step(sizes, threads, False, False),
            f"{torch} compiled": lambda: torch_step(sizes, threads, False, True),
            onnx: lambda: onnx_step(sizes, threads, None),
            llama: lambda: llama_step(sizes, threads, False)}


def main():
    options = baseline.cpu_arguments(__doc__)
    for key in options.keys:
        sizes = QUICK if options.quick else FULL
        baseline.timed_interleaved(key, makers(key.endswith("int8"), sizes, options.threads), options.steps)


if __name__ == "__main__":
    main()
