// What the texts of convolutions and pools share: the geometry of sliding windows as constants.
#pragma once

#include "compiler/lower/kernels/families.h"
#include "ir/graph/rules/convolution.h"

namespace dfc::cuda {

/// Threads of a block whose threads each make one element.
inline constexpr int64_t windowThreads = 256;

/// Index, Element (storage), Real (f64 for f64, else f32), and the constants of the windows: height, width,
/// heightOut, widthOut, windowRows, windowColumns, strideRows, … `elements`: the largest number of elements
/// that is counted or addressed.
std::string windowsText(const Windows& windows, ElementType element, int64_t elements);

/// One thread an element, which shares nothing: `code` behind Index and the rest.
GeneratedLaunch elementLaunch(std::string code, int64_t elements);

} // namespace dfc::cuda
