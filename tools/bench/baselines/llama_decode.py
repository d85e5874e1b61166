"""Decoding with GPT-2 in llama.cpp on the CPU: a model of random weights, written with gguf, in f32 or in 8 bits (Q8_0)."""

import ctypes
import os
import tempfile

import gguf
import llama_cpp
import numpy


def write_model(path, layers, heads, width, vocabulary, context, int8):
    random = numpy.random.default_rng(0)
    writer = gguf.GGUFWriter(path, "gpt2")
    writer.add_block_count(layers)
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(4 * width)
    writer.add_head_count(heads)
    writer.add_layer_norm_eps(1e-5)
    writer.add_tokenizer_model("no_vocab")
    writer.add_vocab_size(vocabulary)

    def tensor(name, *shape, scale=0.02):
        values = random.standard_normal(shape, dtype=numpy.float32) * numpy.float32(scale)
        if int8 and len(shape) == 2 and name != "position_embd.weight":
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quantize(values, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, values)

    def linear(name, columns, inner):
        tensor(f"{name}.weight", columns, inner)
        tensor(f"{name}.bias", columns)

    def norm(name):
        tensor(f"{name}.weight", width, scale=1)
        tensor(f"{name}.bias", width)

    tensor("token_embd.weight", vocabulary, width)
    tensor("position_embd.weight", context, width)
    for i in range(layers):
        norm(f"blk.{i}.attn_norm")
        linear(f"blk.{i}.attn_qkv", 3 * width, width)
        linear(f"blk.{i}.attn_output", width, width)
        norm(f"blk.{i}.ffn_norm")
        linear(f"blk.{i}.ffn_up", 4 * width, width)
        linear(f"blk.{i}.ffn_down", width, 4 * width)
    norm("output_norm")
    tensor("output.weight", vocabulary, width)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@llama_cpp.llama_log_callback
def quiet(level, text, data):
    pass


def decoding_step(sizes, threads, int8):
    """A function that draws one token behind a cache that is full; the token leaves the cache again."""
    context = sizes[-1]
    llama_cpp.llama_log_set(quiet, None)
    llama_cpp.llama_backend_init()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.gguf")
        write_model(path, *sizes, int8)
        parameters = llama_cpp.llama_model_default_params()
        parameters.use_mmap = False
        model = llama_cpp.llama_model_load_from_file(path.encode(), parameters)
    parameters = llama_cpp.llama_context_default_params()
    parameters.n_ctx = context
    parameters.n_threads = parameters.n_threads_batch = threads
    parameters.type_k = parameters.type_v = 0  # f32, as the other programs' caches
    work = llama_cpp.llama_init_from_model(model, parameters)
    memory = llama_cpp.llama_get_memory(work)
    sampler = llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())
    llama_cpp.llama_sampler_chain_add(sampler, llama_cpp.llama_sampler_init_dist(1))

    def decode(tokens):
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        status = llama_cpp.llama_decode(work, llama_cpp.llama_batch_get_one(array, len(tokens)))
        if status != 0:
            raise RuntimeError(f"llama_decode: {status}")

    for begin in range(0, context - 1, 256):
        decode([1] * min(256, context - 1 - begin))
    token = ctypes.c_int(1)

    def step():
        decode([token.value])
        token.value = llama_cpp.llama_sampler_sample(sampler, work, -1)
        llama_cpp.llama_memory_seq_rm(memory, 0, context - 1, -1)

    return step
