// Arrays in another element type, where nothing of worth is lost: NumPy makes f64 and i64 unless told
// otherwise, and most inputs are f32 and i32.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/literal.h"

#include <optional>
#include <string>

namespace DFC_PUBLIC dfc {

/// Whether `convertedTo` takes arrays of `from`. Between floats, between integers, and from i32 and i64 to
/// floats; not from floats to integers, from bytes to floats (pixels are divided by 255 more often than not),
/// nor to and from bool.
bool convertsTo(ElementType element, ElementType from);

/// An array in another element type.
struct ConvertedArray {
  Literal values;
  bool rounded = false; ///< whether an element changed its value: only floats, to the nearest
};

/// Errors, with the first element that the type cannot hold: integers out of range, integers that a float
/// would round, finite numbers that would be infinite. `source` is where they say so. Assumes `convertsTo`.
Result<ConvertedArray> convertedTo(ElementType element, const Literal& data, const std::string& source);

/// The first element that is finite and has an infinite nearest value in the float type: what a cast makes
/// infinite in silence. None for a type of integers.
std::optional<int64_t> firstBeyond(ElementType element, const Literal& data);

/// How to convert an array by hand where `convertsTo` is false: "convert it in NumPy: …".
std::string conversionHint(ElementType element, ElementType from);

} // namespace dfc
