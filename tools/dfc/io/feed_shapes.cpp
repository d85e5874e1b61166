#include "tools/dfc/io/feed_shapes.h"

#include "ir/graph/op_parts.h"
#include "runtime/data/byte_rows.h"
#include "runtime/data/convert_elements.h"

#include <fmt/format.h>

#include <functional>
#include <set>

namespace dfc::tool {
namespace {

bool sameRows(const Shape& data, const Shape& input) {
  return input.rank() > 0 && data.rank() == input.rank() &&
         dimRange(data).drop_front() == dimRange(input).drop_front();
}

bool fits(const Misfit& file, const TensorType& input) {
  if (file.bytes) {
    return byteRowsPerStep(file.data, input).has_value();
  }
  const Shape& data = file.data.shape;
  return (file.anyElement || convertsTo(input.element, file.data.element)) &&
         (data == input.shape || longerRows(data, input.shape) || hasEntries(data, input.shape));
}

bool areSwapped(const Misfit& one, const Misfit& other) {
  return fits(one, other.input) && fits(other, one.input);
}

Diagnostic swappedError(const Misfit& one, const Misfit& other, const std::string& option) {
  return errorWithoutPlace(
      fmt::format("the files of inputs '{}' and '{}' are swapped: {} fits '{}', {}, and {} "
                  "fits '{}', {}",
                  one.name, other.name, one.source, other.name, toString(other.input), other.source, one.name,
                  toString(one.input)),
      fmt::format("{0} {1}={2} {0} {3}={4}", option, one.name, other.source, other.name, one.source));
}

} // namespace

bool longerRows(const Shape& data, const Shape& input) {
  return sameRows(data, input) && input[0] > 0 && data[0] > input[0];
}

bool tooFewRows(const Shape& data, const Shape& input) { return sameRows(data, input) && data[0] < input[0]; }

bool hasEntries(const Shape& data, const Shape& input) {
  return data.rank() == input.rank() + 1 && dimRange(data).drop_front() == dimRange(input) && data[0] > 0;
}

void tellSwapped(const std::vector<Misfit>& misfits, const std::string& option, Diagnostics& errors) {
  std::vector<bool> told(misfits.size());
  std::set<size_t, std::greater<>> superfluous; // the last first
  for (size_t i = 0; i < misfits.size(); ++i) {
    for (size_t j = i + 1; j < misfits.size() && !told[i]; ++j) {
      if (!told[j] && areSwapped(misfits[i], misfits[j])) {
        told[i] = told[j] = true;
        errors[misfits[i].error] = swappedError(misfits[i], misfits[j], option);
        superfluous.insert(misfits[j].error);
      }
    }
  }
  for (const size_t error : superfluous) {
    errors.erase(errors.begin() + static_cast<std::ptrdiff_t>(error));
  }
}

} // namespace dfc::tool
