#include "compiler/lower/kernels/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace dfc::cuda {
namespace {

constexpr std::string_view sourceText = R"(
template <int W> DFC_INLINE Pack<$type$, W> read$n$(const $type$* from, $beside$Index i) {
$reader$}
)";

constexpr std::string_view chainText = R"(
struct Operands { $pointers$$kept$};
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

// `piece` (with {0} the number and {1} the storage) for every source, or for those that are read.
enum class Which : uint8_t { All, Read };
std::string forSources(const Chain& chain, Which which, std::string_view piece, std::string_view between) {
  std::string text;
  for (size_t n = 0; n < chain.sources.size(); ++n) {
    if (which == Which::All || chain.sources[n].read) {
      text += (text.empty() ? std::string_view() : between);
      text += fmt::format(fmt::runtime(piece), n, chain.sources[n].type);
    }
  }
  return text;
}

std::string readsOf(const Chain& chain) {
  std::string text;
  for (size_t n = 0; n < chain.sources.size(); ++n) {
    const Chain::Source& source = chain.sources[n];
    const std::string beside = source.beside == 0 ? "" : fmt::format("from.p{}, ", source.beside);
    text += source.read ? fmt::format("  in.a{0} = read{0}<W>(from.p{0}, {1}i);\n", n, beside) : "";
  }
  return text;
}

std::string registers(const Chain& chain) {
  std::string text;
  for (size_t n = 0; n < chain.sources.size(); ++n) {
    const std::string& storage = chain.sources[n].type;
    const bool half = storage == "f16" || storage == "bf16";
    if (chain.sources[n].read) {
      text += fmt::format("{}{} r{}", text.empty() ? "" : ", ", half ? "f32" : storage, n);
    }
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
    const Source& source = sources[n];
    if (source.read) {
      const std::string beside =
          source.beside == 0 ? "" : fmt::format("const {}* beside, ", sources[source.beside].type);
      text += filled(sourceText, {{"type", source.type},
                                  {"n", fmt::format("{}", n)},
                                  {"beside", beside},
                                  {"reader", source.reader(width, indices)}});
    }
  }
  text += filled(chainText, {{"pointers", forSources(*this, Which::All, "const {1}* p{0}; ", "")},
                             {"kept", kept ? "Element* kept; " : ""},
                             {"packs", forSources(*this, Which::Read, "Pack<{1}, W> a{0}; ", "")},
                             {"reads", readsOf(*this)}});
  text += body.empty() ? std::string(identityText)
                       : filled(bodyText,
                                {{"registers", registers(*this)},
                                 {"body", body},
                                 {"values", forSources(*this, Which::Read, "valueOf(in.a{0}.at[k])", ", ")}});
  return text;
}

std::string Chain::parameters() const {
  return forSources(*this, Which::All, "const {1}* p{0}, ", "") + (kept ? "Element* kept, " : "");
}

std::string Chain::pointers() const {
  const std::string pointers = forSources(*this, Which::All, "p{0}", ", ");
  return !kept ? pointers : pointers.empty() ? "kept" : pointers + ", kept";
}

llvm::SmallVector<Argument, 4> Chain::arguments() const {
  llvm::SmallVector<Argument, 4> arguments;
  for (const Source& source : sources) {
    const bool own = source.flat || (count == 1 && source.reach == 1);
    arguments.push_back(
        {Argument::From::Operand, source.operand, 0, static_cast<uint8_t>(own ? source.bytes : 0)});
  }
  if (kept) {
    arguments.push_back({Argument::From::Result, 0, 0, static_cast<uint8_t>(elementBytes)});
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

Chain::Source pointerTo(const TensorType& type, uint32_t operand) {
  Chain::Source source = sourceOf(type, Access::broadcast(type.shape, type.shape), operand);
  source.streamed = false;
  source.flat = false;
  source.read = false;
  return source;
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

Chain movedChain(const TensorType& operand, const TensorType& result, const Access& access) {
  return {result.shape.elements(),
          std::string(bitsName(operand.element)),
          byteWidth(operand.element),
          {bitsOf(operand, access, 0)},
          ""};
}

Chain constantChain(int64_t count, ElementType type, std::string value) {
  return {count, std::string(bitsName(type)), byteWidth(type), {}, fmt::format("  return {};\n", value)};
}

std::string bitsText(ElementType type, double value) {
  const Literal literal = filledLiteral({type, {}}, value);
  uint64_t bits = 0;
  std::memcpy(&bits, literal.bytes().data(), literal.bytes().size());
  return fmt::format("{:#x}ull", bits);
}

} // namespace dfc::cuda
