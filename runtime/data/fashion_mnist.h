// Fashion-MNIST (Xiao, Rasul and Vollgraf 2017): 60,000 + 10,000 images of 28 x 28 pixels in ten classes,
// from the Debian package dataset-fashion-mnist. Images become f32 in [0, 1], flattened; labels i64.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/literal.h"

#include <array>
#include <string>
#include <string_view>

namespace DFC_PUBLIC dfc {

/// The data set by columns: "images" f32[n, 784], each pixel / 255, and "labels" i64[n], each 0 to 9.
struct FashionMnist {
  NamedLiterals train; ///< 60,000 rows
  NamedLiterals test;  ///< 10,000 rows
};

/// Where the Debian package puts it.
inline constexpr const char* fashionMnistFolder = "/usr/share/datasets/fashion-mnist";

/// The four files by name: "train/images", "train/labels", "test/images", "test/labels".
inline constexpr std::array fashionMnistParts = {"train/images", "train/labels", "test/images",
                                                 "test/labels"};
/// One of them as its file holds it: u8[n, 28, 28], or u8[n] with labels from 0 to 9. Throws
/// std::invalid_argument for another name.
Result<Literal> readFashionMnistBytes(std::string_view part, const std::string& folder = fashionMnistFolder);
/// One of them, as the literal described above. Throws likewise.
Result<Literal> readFashionMnistPart(std::string_view part, const std::string& folder = fashionMnistFolder);

/// All of them. The error of a missing folder names the package that brings it.
Result<FashionMnist> readFashionMnist(const std::string& folder = fashionMnistFolder);

} // namespace dfc
