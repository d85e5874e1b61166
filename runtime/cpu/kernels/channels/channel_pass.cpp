#include "runtime/cpu/kernels/channels/channel_pass.h"

#include "ir/base/assert.h"
#include "ir/base/half.h"
#include "runtime/cpu/kernels/elementwise/elementwise.h"
#include "runtime/cpu/kernels/tiles/tile_functions.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

void replaceAll(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

// `body` between casts of 16-bit tensors: its operands are widened first, which shifts its register numbers,
// and its result is narrowed.
std::string withCasts(std::string_view body, size_t tensors, size_t operands, ElementType type) {
  std::string text, number;
  for (size_t i = 0; i < tensors; ++i) {
    text += fmt::format("cast:f32 %{}; ", i);
  }
  for (size_t at = 0; at < body.size();) {
    text += body[at];
    if (body[at++] != '%') {
      continue;
    }
    size_t index = 0;
    for (; at < body.size() && body[at] >= '0' && body[at] <= '9'; ++at) {
      index = index * 10 + static_cast<size_t>(body[at] - '0');
    }
    text += fmt::format("{}", index < tensors    ? operands + index
                              : index < operands ? index
                                                 : index + tensors);
  }
  const auto instructions = static_cast<size_t>(std::count(body.begin(), body.end(), ';')) + 1;
  return text + fmt::format("; cast:{} %{}", name(type), operands + tensors + instructions - 1);
}

} // namespace

ChannelPass::ChannelPass(std::string_view body, size_t tensors, size_t vectors, const TensorType& a,
                         int64_t axis, ThreadPool& pool)
    : computeType_(computeTypeOf(a.element)) {
  const Channels channels(a.shape, axis);
  const bool side = channels.inner == 1; // by side
  const TensorType tensor{a.element, side ? Shape{channels.outer, channels.channels}
                                          : Shape{channels.outer, channels.channels, channels.inner}};
  const TensorType vector{computeType_, side ? Shape{channels.channels} : Shape{channels.channels, 1}};
  llvm::SmallVector<TensorType, 8> types(tensors, tensor);
  types.append(vectors, vector);
  std::string text =
      computeType_ == a.element ? std::string(body) : withCasts(body, tensors, types.size(), a.element);
  replaceAll(text, "@", name(computeType_));
  ops::Fused fused;
  const bool read = fused.body.decode(text);
  DFC_ASSERT(read, text);
  kernel_ = makeElementwiseKernel(fused, types, tensor, pool);
  for (size_t i = 0; i < vectors; ++i) {
    vectors_.emplace_back(static_cast<size_t>(channels.channels * byteWidth(computeType_)));
  }
}

void ChannelPass::set(size_t index, const std::vector<double>& numbers) {
  writeVector(computeType_, numbers, vectors_[index].data());
}

void ChannelPass::run(llvm::ArrayRef<const std::byte*> tensors, std::byte* result) {
  llvm::SmallVector<const std::byte*, 8> operands(tensors.begin(), tensors.end());
  for (AlignedBuffer& vector : vectors_) {
    operands.push_back(vector.data());
  }
  kernel_->run(operands, result);
}

namespace {

template <class T>
void readAs(const std::byte* from, std::vector<double>& numbers) {
  const auto* elements = reinterpret_cast<const T*>(from);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<double>(static_cast<float>(elements[i]));
  }
}

template <class T>
void writeAs(const std::vector<double>& numbers, std::byte* to) {
  auto* elements = reinterpret_cast<T*>(to);
  for (size_t i = 0; i < numbers.size(); ++i) {
    elements[i] = T(static_cast<float>(numbers[i]));
  }
}

} // namespace

void readVector(ElementType type, const std::byte* from, std::vector<double>& numbers) {
  switch (type) {
  case ElementType::F64:
    return void(std::copy_n(reinterpret_cast<const double*>(from), numbers.size(), numbers.begin()));
  case ElementType::F32: return readAs<float>(from, numbers);
  case ElementType::F16: return readAs<Half>(from, numbers);
  case ElementType::BF16: return readAs<BFloat16>(from, numbers);
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::U8:
  case ElementType::Bool: break;
  }
  DFC_UNREACHABLE("a vector of channels that are no floats");
}

void writeVector(ElementType type, const std::vector<double>& numbers, std::byte* to) {
  switch (type) {
  case ElementType::F64:
    return void(std::copy(numbers.begin(), numbers.end(), reinterpret_cast<double*>(to)));
  case ElementType::F32: return writeAs<float>(numbers, to);
  case ElementType::F16: return writeAs<Half>(numbers, to);
  case ElementType::BF16: return writeAs<BFloat16>(numbers, to);
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::U8:
  case ElementType::Bool: break;
  }
  DFC_UNREACHABLE("a vector of channels that are no floats");
}

} // namespace dfc
