#include "runtime/files/npy_header.h"

#include <llvm/ADT/SmallVector.h>

#include <fmt/format.h>

#include <charconv>

namespace dfc {
namespace {

struct Descr {
  ElementType element;
  std::string_view code; ///< NumPy's kind and width, without the byte order
};
constexpr Descr descrs[] = {
    {ElementType::F32, "f4"}, {ElementType::F64, "f8"}, {ElementType::F16, "f2"},  {ElementType::I32, "i4"},
    {ElementType::I64, "i8"}, {ElementType::U8, "u1"},  {ElementType::Bool, "b1"},
};

/// What the dict says, before it is judged.
struct Dict {
  std::optional<std::string> descr;
  std::optional<bool> fortranOrder;
  std::optional<llvm::SmallVector<int64_t, 8>> shape;
};

class DictParser {
 public:
  explicit DictParser(std::string_view text) : rest_(text) {}

  bool parse(Dict& dict) {
    if (!take('{')) {
      return false;
    }
    while (!take('}')) {
      if (!entry(dict) || (!take(',') && peek() != '}')) {
        return false;
      }
    }
    skipSpace();
    return rest_.empty();
  }

 private:
  bool entry(Dict& dict) {
    const auto key = string();
    if (!key || !take(':')) {
      return false;
    }
    if (*key == "descr" && !dict.descr) {
      return (dict.descr = string()).has_value();
    }
    if (*key == "fortran_order" && !dict.fortranOrder) {
      return (dict.fortranOrder = boolean()).has_value();
    }
    if (*key == "shape" && !dict.shape) {
      return (dict.shape = tuple()).has_value();
    }
    return false;
  }

  void skipSpace() {
    const size_t at = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
  }
  char peek() {
    skipSpace();
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool take(char wanted) {
    if (peek() != wanted) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view wanted) {
    skipSpace();
    if (!rest_.starts_with(wanted)) {
      return false;
    }
    rest_.remove_prefix(wanted.size());
    return true;
  }

  std::optional<std::string> string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') {
      return std::nullopt;
    }
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::optional<bool> boolean() {
    if (word("True")) {
      return true;
    }
    if (word("False")) {
      return false;
    }
    return std::nullopt;
  }

  std::optional<llvm::SmallVector<int64_t, 8>> tuple() {
    llvm::SmallVector<int64_t, 8> dims;
    if (!take('(')) {
      return std::nullopt;
    }
    while (!take(')')) {
      skipSpace();
      int64_t dim = 0;
      const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dim);
      if (failure != std::errc()) {
        return std::nullopt;
      }
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      word("L"); // Python 2 wrote long integers so
      dims.push_back(dim);
      if (!take(',') && peek() != ')') {
        return std::nullopt;
      }
    }
    return dims;
  }

  std::string_view rest_;
};

NpyProblem unknownType(const std::string& descr) {
  if (descr.find('V') != std::string::npos) {
    return {fmt::format("element type '{}' is raw bytes to NumPy (bf16 is saved so)", descr),
            "convert before saving: np.save(file, array.astype(np.float32))"};
  }
  return {fmt::format("element type '{}' is not one of float32, float64, float16, int32, int64, uint8, bool",
                      descr),
          "convert before saving, for example: np.save(file, array.astype(np.float32))"};
}

std::optional<ElementType> elementOf(std::string_view code) {
  for (const Descr& row : descrs) {
    if (row.code == code) {
      return row.element;
    }
  }
  return std::nullopt;
}

} // namespace

std::variant<NpyHeader, NpyProblem> parseNpyHeader(std::string_view text) {
  Dict dict;
  const bool complete = DictParser(text).parse(dict) && dict.descr && dict.fortranOrder && dict.shape;
  if (!complete) {
    return NpyProblem{"the header is not a dict of 'descr', 'fortran_order' and 'shape' for a plain array",
                      "save the array again with np.save; structured arrays go field by field"};
  }
  const std::string& descr = *dict.descr;
  const bool ordered = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const auto element = elementOf(std::string_view(descr).substr(ordered ? 1 : 0));
  if (!element) {
    return unknownType(descr);
  }
  if (dict.shape->size() > Shape::maxRank) {
    return NpyProblem{
        fmt::format("the array has {} dimensions, more than {}", dict.shape->size(), Shape::maxRank),
        "reshape it before saving"};
  }
  if (!Shape::valid(*dict.shape)) {
    return NpyProblem{fmt::format("the shape ({}) has a negative dimension or too many elements",
                                  fmt::join(dict.shape->begin(), dict.shape->end(), ", ")),
                      "the header is damaged: save the array again"};
  }
  return NpyHeader{{*element, Shape(*dict.shape)}, *dict.fortranOrder, descr[0] == '>'};
}

std::optional<std::string> printNpyHeader(const TensorType& type) {
  for (const Descr& row : descrs) {
    if (row.element != type.element) {
      continue;
    }
    std::string shape;
    for (const int64_t dim : type.shape.dims()) {
      shape += fmt::format("{}{}", shape.empty() ? "" : ", ", dim);
    }
    return fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                       byteWidth(type.element) == 1 ? '|' : '<', row.code, shape,
                       type.shape.rank() == 1 ? "," : "");
  }
  return std::nullopt;
}

} // namespace dfc
