#include "runtime/cuda/kernels/chain.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view sourceText = R"(
template <int W> DFC_INLINE Pack<$type$, W> read$n$(const $type$* from, Index i) {
$reader$}
)";

constexpr std::string_view chainText = R"(
struct Operands { $pointers$};
template <int W> struct Inputs { $packs$};
template <int W> DFC_INLINE Inputs<W> gather(const Operands& from, Index i) {
  Inputs<W> in;
$reads$  return in;
}
)";

constexpr std::string_view bodyText = R"(
DFC_INLINE Element apply($registers$) {
$body$}
template <int W> DFC_INLINE Pack<Element, W> applied(const Inputs<W>& in) {
  Pack<Element, W> out;
#pragma unroll
  for (int k = 0; k < W; ++k) out.at[k] = apply($values$);
  return out;
}
)";

constexpr std::string_view identityText = R"(
template <int W> DFC_INLINE Pack<Element, W> applied(const Inputs<W>& in) { return in.a0; }
)";

// `piece` (with {0} the number and {1} the storage) for every source.
std::string forSources(const Chain& chain, std::string_view piece, std::string_view between) {
  std::string text;
  for (size_t n = 0; n < chain.sources.size(); ++n) {
    text += (n == 0 ? std::string_view() : between);
    text += fmt::format(fmt::runtime(piece), n, chain.sources[n].type);
  }
  return text;
}

std::string registers(const Chain& chain) {
  std::string text;
  for (size_t n = 0; n < chain.sources.size(); ++n) {
    const std::string& storage = chain.sources[n].type;
    const bool half = storage == "f16" || storage == "bf16";
    text += fmt::format("{}{} r{}", n == 0 ? "" : ", ", half ? "f32" : storage, n);
  }
  return text;
}

} // namespace

int64_t Chain::fullWidth() const {
  int64_t widest = elementBytes;
  for (const Source& source : sources) {
    widest = source.streamed ? std::max(widest, source.bytes) : widest;
  }
  return packBytes / widest;
}

size_t Chain::streamedSources() const {
  return static_cast<size_t>(
      std::count_if(sources.begin(), sources.end(), [](const Source& source) { return source.streamed; }));
}

IndexText Chain::index() const {
  int64_t most = count;
  for (const Source& source : sources) {
    most = std::max(most, source.reach);
  }
  return IndexText(most);
}

std::string Chain::text(int64_t width) const {
  const IndexText indices = index();
  std::string text = fmt::format("using Index = {};\nusing Element = {};\n", indices.type(), element);
  for (size_t n = 0; n < sources.size(); ++n) {
    text += filled(sourceText, {{"type", sources[n].type},
                                {"n", fmt::format("{}", n)},
                                {"reader", sources[n].reader(width, indices)}});
  }
  text += filled(chainText, {{"pointers", forSources(*this, "const {1}* p{0}; ", "")},
                             {"packs", forSources(*this, "Pack<{1}, W> a{0}; ", "")},
                             {"reads", forSources(*this, "  in.a{0} = read{0}<W>(from.p{0}, i);\n", "")}});
  text += body.empty() ? std::string(identityText)
                       : filled(bodyText, {{"registers", registers(*this)},
                                           {"body", body},
                                           {"values", forSources(*this, "valueOf(in.a{0}.at[k])", ", ")}});
  return text;
}

std::string Chain::parameters() const { return forSources(*this, "const {1}* p{0}, ", ""); }

std::string Chain::pointers() const { return forSources(*this, "p{0}", ", "); }

llvm::SmallVector<Argument, 4> Chain::arguments() const {
  llvm::SmallVector<Argument, 4> arguments;
  for (const Source& source : sources) {
    const bool own = source.flat || (count == 1 && source.reach == 1);
    arguments.push_back(
        {Argument::From::Operand, source.operand, 0, static_cast<uint8_t>(own ? source.bytes : 0)});
  }
  return arguments;
}

Chain::Source sourceOf(const TensorType& type, const Access& access, uint32_t operand) {
  const std::string storage(storageName(type.element));
  return {storage,
          byteWidth(type.element),
          !access.uniform(),
          access.reach(),
          [=](int64_t width, const IndexText& index) { return access.reader(storage, width, index); },
          operand,
          access.flat()};
}

Chain::Source bitsOf(const TensorType& type, const Access& access, uint32_t operand) {
  Chain::Source source = sourceOf(type, access, operand);
  const std::string storage(bitsName(type.element));
  source.type = storage;
  source.reader = [=](int64_t width, const IndexText& index) { return access.reader(storage, width, index); };
  return source;
}

Chain identityChain(const TensorType& operand) {
  const Access flat = Access::broadcast(operand.shape, operand.shape);
  return {operand.shape.elements(),
          std::string(storageName(operand.element)),
          byteWidth(operand.element),
          {sourceOf(operand, flat, 0)},
          ""};
}

Chain constantChain(int64_t count, ElementType type, std::string value) {
  return {count, std::string(bitsName(type)), byteWidth(type), {}, fmt::format("  return {};\n", value)};
}

} // namespace dfc::cuda
