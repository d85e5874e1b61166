#include "runtime/data/convert_elements.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace dfc {
namespace {

const char* numpyName(ElementType element) {
  switch (element) {
  case ElementType::F32: return "float32";
  case ElementType::F64: return "float64";
  case ElementType::F16: return "float16";
  case ElementType::BF16: return "bfloat16";
  case ElementType::I32: return "int32";
  case ElementType::I64: return "int64";
  case ElementType::U8: return "uint8";
  case ElementType::Bool: return "bool";
  }
  DFC_UNREACHABLE("element type");
}

/// A double has not all digits of an i64.
bool isExact(const Literal& from, const Literal& to, int64_t index) {
  if (from.type().element != ElementType::I64) {
    return from.at(index) == to.at(index);
  }
  const int64_t number = from.data<int64_t>()[static_cast<size_t>(index)];
  const double held = to.at(index);
  return std::abs(held) < 0x1p63 && static_cast<int64_t>(held) == number;
}

std::string numberText(const Literal& data, int64_t index) {
  return data.type().element == ElementType::I64
             ? fmt::format("{}", data.data<int64_t>()[static_cast<size_t>(index)])
             : fmt::format("{}", data.at(index));
}

std::string wayOut(ElementType element, ElementType from) {
  if (element == ElementType::F16) {
    return "f16 ends at 65504: declare it as f32 or bf16, or give smaller numbers";
  }
  return fmt::format("declare it as {}, or bring the numbers into the range of {}", name(from),
                     name(element));
}

Diagnostic cannotHold(ElementType element, const Literal& data, int64_t index, const std::string& source) {
  const ElementType from = data.type().element;
  return {
      Severity::Error,
      {source},
      fmt::format("element {} is {}, which {} cannot hold", index, numberText(data, index), name(element)),
      wayOut(element, from)};
}

/// No smaller magnitude has an infinite nearest value.
double mostSurelyHeld(ElementType element) {
  switch (element) {
  case ElementType::F16: return 65504;
  case ElementType::BF16:
  case ElementType::F32: return 0x1.fep127;
  default: return std::numeric_limits<double>::infinity();
  }
}

template <class T>
double numberOf(T number) {
  return static_cast<double>(number);
}
double numberOf(BFloat16 number) { return static_cast<float>(number); }

/// Such magnitudes are rare: a quick look for them, then each is rounded.
template <class T>
std::optional<int64_t> firstBeyondOf(ElementType element, const Literal& data) {
  const auto numbers = data.data<T>();
  const double most = mostSurelyHeld(element);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto number = numberOf(numbers[i]);
    if (std::abs(number) > most && std::isfinite(number) &&
        !std::isfinite(filledLiteral({element, {}}, number).at(0))) {
      return static_cast<int64_t>(i);
    }
  }
  return std::nullopt;
}

/// What NumPy makes by default into what most inputs are, in loops without calls. False where an element does
/// not fit: then the loop over all types says which.
bool convertQuickly(const Literal& from, Literal& to, bool& rounded) {
  if (from.type().element == ElementType::F64 && to.type().element == ElementType::F32) {
    bool fits = true;
    const auto wide = from.data<double>();
    const auto narrow = to.mutableData<float>();
    for (size_t i = 0; i < wide.size(); ++i) {
      narrow[i] = static_cast<float>(wide[i]);
      fits &= std::isfinite(narrow[i]) || !std::isfinite(wide[i]);
      rounded |= narrow[i] != wide[i] && std::isfinite(wide[i]);
    }
    return fits;
  }
  if (from.type().element == ElementType::I64 && to.type().element == ElementType::I32) {
    bool fits = true;
    const auto wide = from.data<int64_t>();
    const auto narrow = to.mutableData<int32_t>();
    for (size_t i = 0; i < wide.size(); ++i) {
      narrow[i] = static_cast<int32_t>(wide[i]);
      fits &= narrow[i] == wide[i];
    }
    return fits;
  }
  return false;
}

} // namespace

bool convertsTo(ElementType element, ElementType from) {
  if (element == from) {
    return true;
  }
  if (element == ElementType::Bool || from == ElementType::Bool) {
    return false;
  }
  return isFloat(element) ? from != ElementType::U8 : !isFloat(from);
}

Result<ConvertedArray> convertedTo(ElementType element, const Literal& data, const std::string& source) {
  if (element == data.type().element) {
    return ConvertedArray{data};
  }
  ConvertedArray converted{Literal({element, data.type().shape})};
  if (convertQuickly(data, converted.values, converted.rounded)) {
    return converted;
  }
  converted.rounded = false;
  const bool fromFloat = isFloat(data.type().element);
  for (int64_t i = 0; i < data.type().shape.elements(); ++i) {
    const double number = data.at(i);
    if (!isFloat(element) && (number < -0x1p63 || number >= 0x1p63)) {
      return cannotHold(element, data, i, source);
    }
    converted.values.set(i, number);
    const double held = converted.values.at(i);
    if (fromFloat ? std::isfinite(number) && !std::isfinite(held) : !isExact(data, converted.values, i)) {
      return cannotHold(element, data, i, source);
    }
    converted.rounded = converted.rounded || (fromFloat && std::isfinite(number) && held != number);
  }
  return converted;
}

std::optional<int64_t> firstBeyond(ElementType element, const Literal& data) {
  switch (data.type().element) {
  case ElementType::F32: return firstBeyondOf<float>(element, data);
  case ElementType::F64: return firstBeyondOf<double>(element, data);
  case ElementType::BF16: return firstBeyondOf<BFloat16>(element, data);
  case ElementType::I32: return firstBeyondOf<int32_t>(element, data);
  case ElementType::I64: return firstBeyondOf<int64_t>(element, data);
  case ElementType::F16:
  case ElementType::U8:
  case ElementType::Bool: return std::nullopt;
  }
  DFC_UNREACHABLE("element type");
}

std::string conversionHint(ElementType element, ElementType from) {
  if (isFloat(from) && isInteger(element) && element != ElementType::Bool) {
    return fmt::format("floats become no integers by themselves: round them in NumPy: "
                       "np.rint(array).astype(np.{})",
                       numpyName(element));
  }
  return fmt::format("convert it in NumPy: array.astype(np.{}){}", numpyName(element),
                     from == ElementType::U8 && isFloat(element) ? ", / 255 for pixels" : "");
}

} // namespace dfc
