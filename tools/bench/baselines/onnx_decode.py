"""Decoding with GPT-2 in ONNX Runtime on the CPU: keys and values in caches that steps share (GroupQueryAttention, as in the
models that onnxruntime-genai builds), weights in f32, or quantised to 8 bits by ONNX Runtime's own tools.

The model is written here, with random weights in a file of their own."""

import os
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

OPSETS = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]


class Writer:
    """Collects nodes and weights; each function returns the name of its result."""

    def __init__(self, folder):
        self.nodes, self.weights, self.random = [], [], numpy.random.default_rng(0)
        self.folder, self.bytes = folder, 0
        self.file = open(os.path.join(folder, "weights.bin"), "wb")

    def weight(self, *shape, scale=0.02):
        values = (self.random.standard_normal(shape, dtype=numpy.float32) * scale).tobytes()
        tensor = TensorProto(name=f"w{len(self.weights)}", data_type=TensorProto.FLOAT, dims=shape,
                             data_location=TensorProto.EXTERNAL)
        for name, value in (("location", "weights.bin"), ("offset", self.bytes), ("length", len(values))):
            tensor.external_data.add(key=name, value=str(value))
        self.file.write(values)
        self.bytes += len(values)
        self.weights.append(tensor)
        return tensor.name

    def constant(self, values):
        tensor = onnx.numpy_helper.from_array(numpy.asarray(values), f"w{len(self.weights)}")
        self.weights.append(tensor)
        return tensor.name

    def node(self, kind, inputs, outputs=1, **attributes):
        names = outputs if isinstance(outputs, list) else [f"v{len(self.nodes)}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def linear(self, x, inner, columns):
        return self.node("Add", [self.node("MatMul", [x, self.weight(inner, columns)]), self.weight(columns)])

    def norm(self, x, width):
        return self.node("LayerNormalization", [x, self.weight(width, scale=1), self.weight(width)], axis=-1)


def write_model(folder, layers, heads, width, vocabulary, context):
    w = Writer(folder)
    caches = []
    x = w.node("Add", [w.node("Gather", [w.weight(vocabulary, width), "token"]),
                       w.node("Gather", [w.weight(context, width), "position"])])
    for i in range(layers):
        parts = w.node("Split", [w.linear(w.norm(x, width), width, 3 * width)], 3, axis=-1, num_outputs=3)
        past = [f"past_{kind}{i}" for kind in "kv"]
        present = [f"present_{kind}{i}" for kind in "kv"]
        caches += zip(past, present)
        mixed = f"mixed{i}"
        w.node("GroupQueryAttention", parts + past + ["seqlens", "total"], [mixed] + present, domain="com.microsoft",
               num_heads=heads, kv_num_heads=heads)
        x = w.node("Add", [x, w.linear(mixed, width, width)])
        up = w.node("Gelu", [w.linear(w.norm(x, width), width, 4 * width)], approximate="tanh")
        x = w.node("Add", [x, w.linear(up, 4 * width, width)])
    logits = w.node("MatMul", [w.norm(x, width), w.weight(width, vocabulary)])
    uniform = w.node("RandomUniformLike", [logits], low=1e-20, high=1.0)
    noise = w.node("Log", [w.node("Neg", [w.node("Log", [uniform])])])
    w.node("ArgMax", [w.node("Sub", [logits, noise])], ["next"], axis=-1, keepdims=0)
    w.file.close()
    cache = [1, heads, context, width // heads]
    inputs = [helper.make_tensor_value_info("token", TensorProto.INT64, [1, 1]),
              helper.make_tensor_value_info("position", TensorProto.INT64, [1, 1]),
              helper.make_tensor_value_info("seqlens", TensorProto.INT32, [1]),
              helper.make_tensor_value_info("total", TensorProto.INT32, [])]
    inputs += [helper.make_tensor_value_info(past, TensorProto.FLOAT, cache) for past, _ in caches]
    outputs = [helper.make_tensor_value_info("next", TensorProto.INT64, [1, 1])]
    outputs += [helper.make_tensor_value_info(present, TensorProto.FLOAT, cache) for _, present in caches]
    graph = helper.make_graph(w.nodes, "gpt2", inputs, outputs, w.weights)
    path = os.path.join(folder, "model.onnx")
    onnx.save_model(helper.make_model(graph, opset_imports=OPSETS, ir_version=10), path)
    return path, caches, cache


def dynamically_quantised(path):
    """Matrices in int8, a scale for each column; activations are quantised as they come (MatMulInteger)."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantised = path.replace("model", "dynamic")
    quantize_dynamic(path, quantised, op_types_to_quantize=["MatMul"], per_channel=True, weight_type=QuantType.QInt8,
                     use_external_data_format=True, extra_options={"DefaultTensorType": TensorProto.FLOAT})
    return quantised


def blockwise_quantised(path):
    """Matrices in 8 bits, a scale for each 32 elements of a column (MatMulNBits, computed in int8)."""
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    quantised = path.replace("model", "blockwise")
    quantiser = MatMulNBitsQuantizer(onnx.load(path), bits=8, block_size=32, is_symmetric=True, accuracy_level=4)
    quantiser.process()
    quantiser.model.save_model_to_file(quantised, use_external_data_format=True)
    return quantised


def decoding_step(sizes, threads, quantise=None):
    """A function that draws one token behind a cache that is full."""
    heads, context = sizes[1], sizes[4]
    with tempfile.TemporaryDirectory() as folder:
        path, caches, shape = write_model(folder, *sizes)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(quantise(path) if quantise else path, options,
                                               providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    random = numpy.random.default_rng(1)
    feeds = {"token": numpy.zeros((1, 1), numpy.int64), "position": numpy.full((1, 1), context - 1, numpy.int64),
             "seqlens": numpy.full(1, context - 1, numpy.int32), "total": numpy.array(context, numpy.int32)}
    values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(value) for name, value in feeds.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for past, present in caches:
        value = onnxruntime.OrtValue.ortvalue_from_numpy(random.standard_normal(shape, dtype=numpy.float32))
        binding.bind_ortvalue_input(past, value)
        binding.bind_ortvalue_output(present, value)
    binding.bind_ortvalue_output("next", values["token"])  # what the next step reads

    def step():
        session.run_with_iobinding(binding)

    return step
