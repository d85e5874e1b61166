// Data sets hold bytes: images of pixels, labels of classes. Here their rows are fitted to the input that
// they feed: so many rows a step, dimensions of a row joined or left as they are, bytes turned into the
// input's elements. Pixels become the share of 255 in a floating-point input and stay whole numbers in any
// other; labels keep their value.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/graph/literal.h"

namespace dfc {

/// How many rows of `data` (u8, rows first) one step of the input takes; none where they do not fit: another
/// element type than u8, i32, i64, f32 or f64, another shape of a row, or more rows than there are.
std::optional<int64_t> byteRowsPerStep(const TensorType& data, const TensorType& input);

/// Rows of images have dimensions of their own.
bool areImages(const TensorType& data);

/// Row `row` of `data` as row `at` of `batch`, which has the input's element type.
void copyByteRow(const Literal& data, int64_t row, Literal& batch, int64_t at);

/// Says what the source offers.
Diagnostic bytesDoNotFit(const std::string& source, const TensorType& data, const std::string& name,
                         const TensorType& input);

} // namespace dfc
