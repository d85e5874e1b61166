// ONNX's Fourier transforms as products with matrices of cosines and sines, and the weights of mel bands
// (Davis and Mermelstein 1980; O'Shaughnessy's scale). The last axis of a signal is its real and its
// imaginary part, or its real part alone.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace dfc::onnx {
namespace {

/// Which transform: `length` samples (fewer are continued by zeros) give the first `bins` frequencies.
struct Transform {
  int64_t length = 1, bins = 1;
  bool inverse = false;
};

// Of element (sample, bin) the cosine, or the sine, of their angle.
Tensor waves(NodeCall& call, const Transform& t, int64_t rows, ElementType element, bool sines) {
  call.spend(rows);
  call.spend(t.bins);
  call.spend(rows * t.bins); // each below 2^25 by now
  Literal matrix(TensorType{element, {rows, t.bins}});
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < t.bins; ++j) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(i * j % t.length) / static_cast<double>(t.length);
      matrix.set(i * t.bins + j, sines ? std::sin(angle) : std::cos(angle));
    }
  }
  return call.constant(matrix);
}

/// The parts of complex numbers; no imaginary part where all are real.
struct Complex {
  Tensor real, imaginary;
};

Complex partsOf(NodeCall& call, Tensor a) {
  Dims starts(a.shape().rank(), 0), ends = dimsOf(a), dims = ends;
  const int64_t parts = ends.back();
  dims.pop_back();
  if (parts != 1 && parts != 2) {
    call.refuse(fmt::format("a signal of shape {}; its last axis has 1 or 2 elements", toString(a.shape())));
  }
  ends.back() = 1;
  const Tensor real = reshape(slice(a, starts, ends), dims);
  starts.back() = 1;
  ends.back() = 2;
  return {real, parts == 1 ? Tensor() : reshape(slice(a, starts, ends), dims)};
}

// Along the last axis: the sum of x exp(-2 pi i k n / length), or with the other sign by the length.
Complex transformed(NodeCall& call, const Complex& x, const Transform& t) {
  const int64_t rows = std::min(x.real.shape()[x.real.shape().rank() - 1], t.length);
  const ElementType element = x.real.type().element;
  const Tensor cosines = waves(call, t, rows, element, false), sines = waves(call, t, rows, element, true);
  const auto cut = [&](Tensor a) {
    Dims ends = dimsOf(a);
    ends.back() = rows;
    return slice(a, Dims(ends.size(), 0), ends);
  };
  const double turn = t.inverse ? 1 : -1, scale = t.inverse ? 1 / static_cast<double>(t.length) : 1;
  const Tensor real = cut(x.real);
  Complex y{matmul(real, cosines), turn * matmul(real, sines)};
  if (x.imaginary.valid()) {
    const Tensor imaginary = cut(x.imaginary);
    y = {y.real - turn * matmul(imaginary, sines), y.imaginary + matmul(imaginary, cosines)};
  }
  return t.inverse ? Complex{scale * y.real, scale * y.imaginary} : y;
}

Tensor joined(const Complex& a) {
  Dims dims = dimsOf(a.real);
  dims.push_back(1);
  return concat({reshape(a.real, dims), reshape(a.imaginary, dims)}, static_cast<int64_t>(dims.size()) - 1);
}

Tensor swapped(Tensor a, size_t axis) {
  Dims order(a.shape().rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axis], order.back());
  return transpose(a, order);
}

NodeResults fourier(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 2);
  const size_t rank = a.shape().rank();
  const size_t axis = call.opset() < 20 ? call.axis("axis", 1, rank)
                                        : call.normal(call.has(2) ? call.wholeNumber(2) : -2, rank);
  if (axis == rank - 1) {
    call.refuse("the axis of real and imaginary parts");
  }
  const bool half = call.integer("onesided", 0) != 0;
  Transform t;
  t.length = call.has(1) ? call.wholeNumber(1) : a.shape()[axis];
  t.inverse = call.integer("inverse", 0) != 0;
  if (t.length < 1 || (half && t.inverse)) {
    call.refuse(half ? "onesided and inverse at once" : fmt::format("a transform of length {}", t.length));
  }
  t.bins = half ? t.length / 2 + 1 : t.length;
  Complex x = partsOf(call, a);
  x = {swapped(x.real, axis), x.imaginary.valid() ? swapped(x.imaginary, axis) : Tensor()};
  const Complex y = transformed(call, x, t);
  return {joined({swapped(y.real, axis), swapped(y.imaginary, axis)})};
}

// Frames [batch, frames, length] of the signal [batch, samples], one every `step`.
Tensor framed(NodeCall& call, Tensor a, int64_t step, int64_t length) {
  const int64_t samples = a.shape()[1];
  if (step < 1 || length < 1 || length > samples) {
    call.refuse(fmt::format("frames of {} samples, one every {}, of {}", length, step, samples));
  }
  const int64_t frames = (samples - length) / step + 1;
  const Tensor begins = iota(call.builder(), i64({frames, 1})) * static_cast<double>(step);
  return gather(a, begins + iota(call.builder(), i64({1, length}), 1), 1);
}

NodeResults shortTimeFourier(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 2);
  const Tensor signal = a.shape().rank() == 2 ? reshape(a, {a.shape()[0], a.shape()[1], 1}) : a;
  if (!call.has(2) && !call.has(3)) {
    call.refuse("neither a window nor a frame length");
  }
  const int64_t step = call.wholeNumber(1);
  Transform t;
  t.length = call.has(3) ? call.wholeNumber(3) : call.operandOfRank(2, 1).shape()[0];
  if (call.has(2) && call.operand(2).shape() != Shape{t.length}) {
    call.refuse(
        fmt::format("a window of shape {} for frames of {}", toString(call.operand(2).shape()), t.length));
  }
  const Complex parts = partsOf(call, signal);
  const auto framesOf = [&](Tensor part) {
    const Tensor frames = framed(call, part, step, t.length);
    return call.has(2) ? frames * call.operand(2) : frames;
  };
  const Complex x{framesOf(parts.real), parts.imaginary.valid() ? framesOf(parts.imaginary) : Tensor()};
  const bool half = call.integer("onesided", 1) != 0 && !x.imaginary.valid();
  t.bins = half ? t.length / 2 + 1 : t.length;
  return {joined(transformed(call, x, t))};
}

double melOf(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertzOf(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

// Triangular filters over the bins of a spectrum, their edges evenly spaced in mel: column i rises from edge
// i to edge i + 1 and falls to edge i + 2, where an edge is the bin of its frequency. As ONNX has it, the
// distance of two edges is the range divided by the number of bands + 2.
NodeResults melWeights(NodeCall& call) {
  const int64_t bands = call.wholeNumber(0), length = call.wholeNumber(1), rate = call.wholeNumber(2);
  if (bands < 1 || length < 1 || rate < 1) {
    call.refuse(fmt::format("{} bands of {} samples at {} Hz", bands, length, rate));
  }
  call.spend(bands);
  call.spend(length);
  const int64_t bins = length / 2 + 1;
  call.spend(bins * bands); // each below 2^25 by now
  const double least = melOf(call.number(3)),
               step = (melOf(call.number(4)) - least) / static_cast<double>(bands + 2);
  const auto edge = [&](int64_t i) {
    const double hertz = hertzOf(least + step * static_cast<double>(i));
    const double bin = std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    return static_cast<int64_t>(std::clamp(bin, -1e15, 1e15));
  };
  Literal weights(TensorType{elementOfOnnx(call.integer("output_datatype", element::f32)), {bins, bands}});
  for (int64_t band = 0; band < bands; ++band) {
    const int64_t low = edge(band), peak = edge(band + 1), high = edge(band + 2);
    for (int64_t bin = std::max<int64_t>(low, 0); bin < std::min(std::max(high, peak + 1), bins); ++bin) {
      const int64_t base = bin < peak ? low : high;
      weights.set(bin * bands + band,
                  bin == peak ? 1 : static_cast<double>(bin - base) / static_cast<double>(peak - base));
    }
  }
  return {call.constant(weights)};
}

} // namespace

MappingTable spectrumMappings() {
  return {{"DFT", fourier}, {"MelWeightMatrix", melWeights}, {"STFT", shortTimeFourier}};
}

} // namespace dfc::onnx
