// Fashion-MNIST (Xiao, Rasul and Vollgraf 2017): 60,000 + 10,000 images of 28 x 28 pixels in ten classes,
// from the Debian package dataset-fashion-mnist. Images become f32 in [0, 1], flattened; labels i64.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/graph/literal.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace dfc {

struct LabelledImages {
  Literal images; ///< f32[n, 784], each pixel / 255
  Literal labels; ///< i64[n], each 0 to 9
  int64_t count() const { return labels.type().shape.elements(); }
};

struct FashionMnist {
  LabelledImages train; ///< 60,000
  LabelledImages test;  ///< 10,000
};

inline constexpr const char* fashionMnistFolder = "/usr/share/datasets/fashion-mnist";

/// The four files by name: "train/images", "train/labels", "test/images", "test/labels".
inline constexpr std::array fashionMnistParts = {"train/images", "train/labels", "test/images",
                                                 "test/labels"};
/// One of them as its file holds it: u8[n, 28, 28], or u8[n] with labels from 0 to 9. Asserts as below.
Result<Literal> readFashionMnistBytes(std::string_view part, const std::string& folder = fashionMnistFolder);
/// One of them, as the literal described above. Asserts that the name is one of the four.
Result<Literal> readFashionMnistPart(std::string_view part, const std::string& folder = fashionMnistFolder);

/// All of them. The error of a missing folder names the package that brings it.
Result<FashionMnist> readFashionMnist(const std::string& folder = fashionMnistFolder);

/// A data set cut into batches of equal size, in the order that `shuffledRows` draws for the epoch (as does
/// `dfc run --shuffle`). What is left over waits for a later epoch.
class Batches {
 public:
  /// Asserts 0 < batch <= data.count(). `data` must outlive this.
  Batches(const LabelledImages& data, int64_t batch, uint64_t seed);
  /// Batches in an epoch.
  int64_t count() const { return data_.count() / batch_; }
  /// Batch `index` of `epoch`, both from 0: images f32[batch, 784] and labels i64[batch].
  LabelledImages at(int64_t epoch, int64_t index);

 private:
  const LabelledImages& data_;
  int64_t batch_;
  uint64_t seed_;
  int64_t drawn_ = -1; ///< the epoch that order_ is of
  std::vector<int64_t> order_;
};

/// Rows [begin, begin + rows) in the file's order, for tests of accuracy. Asserts that they exist.
LabelledImages rowsOf(const LabelledImages& data, int64_t begin, int64_t rows);

} // namespace dfc
