#include "ir/author/collectives.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

/// What is cut along axis 0: rows begin, …, end - 1.
struct Rows {
  int64_t begin = 0, end = 0;
};

std::vector<Rows> evenly(Rows rows, int64_t parts) {
  std::vector<Rows> all;
  const int64_t count = rows.end - rows.begin, least = count / parts, longer = count % parts;
  for (int64_t i = 0, at = rows.begin; i < parts; ++i) {
    const int64_t end = at + least + (i < longer ? 1 : 0);
    all.push_back({at, end});
    at = end;
  }
  return all;
}

class Collective {
 public:
  Collective(const std::vector<Tensor>& values, const std::vector<std::string>& devices,
             std::source_location where)
      : values_(values), devices_(devices), where_(where) {
    for (const Tensor& value : values) {
      builder_ = builder_ == nullptr ? value.builder() : builder_;
    }
  }

  /// Poison for each device.
  std::vector<Tensor> nothing() const { return std::vector<Tensor>(devices_.size(), Tensor(builder_, {})); }

  /// Whether there is a valid value for each device; reports what is the author's mistake.
  bool usable(std::string_view name) const {
    if (builder_ == nullptr) {
      return false;
    }
    if (values_.size() != devices_.size()) {
      builder_->report(where_,
                       fmt::format("{} of {} values on {} devices", name, values_.size(), devices_.size()),
                       "give one device for each value");
      return false;
    }
    return std::all_of(values_.begin(), values_.end(), [](const Tensor& value) { return value.valid(); });
  }

  bool alike(std::string_view name) const {
    for (const Tensor& value : values_) {
      if (value.type() != values_[0].type()) {
        builder_->report(
            where_, fmt::format("{} of {} and {}", name, toString(values_[0].type()), toString(value.type())),
            "sum values of one shape and element type");
        return false;
      }
    }
    return true;
  }

  /// While it lives, ops are said to be written where the author called.
  Builder::Guard place() const { return builder_->at(builder_->locate(where_)); }

  bool sensible(const AllReduceOptions& options, std::string_view name) const {
    if (options.chunks < 1) {
      builder_->report(where_, fmt::format("{} in {} chunks", name, options.chunks),
                       "a ring takes at least 1 chunk");
    }
    return options.chunks >= 1;
  }

  int64_t devices() const { return static_cast<int64_t>(devices_.size()); }
  int64_t rows() const { return values_[0].shape().rank() == 0 ? 0 : values_[0].shape()[0]; }

  std::vector<Tensor> exchanged() const {
    std::vector<Tensor> sums;
    for (const std::string& device : devices_) {
      const auto here = builder_->on(device);
      sums.push_back(sumOf(values_));
    }
    return sums;
  }

  std::vector<Tensor> scattered(const AllReduceOptions& options) const {
    const std::vector<Rows> parts = evenly({0, rows()}, devices());
    return options.form == AllReduce::Ring ? wentRound(parts, options.chunks) : summedWhereTheyLie(parts);
  }

  std::vector<Tensor> gathered(const std::vector<Tensor>& parts) const {
    std::vector<Tensor> wholes;
    for (const std::string& device : devices_) {
      const auto here = builder_->on(device);
      wholes.push_back(concat(parts));
    }
    return wholes;
  }

 private:
  Tensor sumOf(const std::vector<Tensor>& values) const {
    Tensor sum = values[0];
    for (size_t i = 1; i < values.size(); ++i) {
      sum = sum + values[i];
    }
    return sum;
  }

  /// By value: its rows cut so, on its device.
  std::vector<std::vector<Tensor>> cut(const std::vector<Rows>& cuts) const {
    Dims sizes;
    for (const Rows& one : cuts) {
      sizes.push_back(one.end - one.begin);
    }
    std::vector<std::vector<Tensor>> all;
    for (size_t i = 0; i < values_.size(); ++i) {
      const auto here = builder_->on(devices_[i]);
      all.push_back(split(values_[i], sizes, 0));
    }
    return all;
  }

  std::vector<Tensor> summedWhereTheyLie(const std::vector<Rows>& parts) const {
    const std::vector<std::vector<Tensor>> pieces = cut(parts);
    std::vector<Tensor> sums;
    for (size_t part = 0; part < devices_.size(); ++part) {
      std::vector<Tensor> ofPart;
      for (const std::vector<Tensor>& ofDevice : pieces) {
        ofPart.push_back(ofDevice[part]);
      }
      const auto here = builder_->on(devices_[part]);
      sums.push_back(sumOf(ofPart));
    }
    return sums;
  }

  std::vector<Tensor> wentRound(const std::vector<Rows>& parts, int64_t chunks) const {
    std::vector<Rows> cuts;
    std::vector<size_t> firstOf = {0}; // cut of each part
    for (const Rows& part : parts) {
      const auto finer = evenly(part, std::min(chunks, std::max<int64_t>(part.end - part.begin, 1)));
      cuts.insert(cuts.end(), finer.begin(), finer.end());
      firstOf.push_back(cuts.size());
    }
    const std::vector<std::vector<Tensor>> pieces = cut(cuts);
    const size_t k = devices_.size();
    std::vector<Tensor> sums;
    for (size_t part = 0; part < k; ++part) {
      std::vector<Tensor> ofPart;
      for (size_t piece = firstOf[part]; piece < firstOf[part + 1]; ++piece) {
        Tensor sum = pieces[(part + 1) % k][piece];
        for (size_t hop = 2; hop <= k; ++hop) {
          const size_t device = (part + hop) % k;
          const auto here = builder_->on(devices_[device]);
          sum = sum + pieces[device][piece];
        }
        ofPart.push_back(sum);
      }
      const auto here = builder_->on(devices_[part]);
      sums.push_back(ofPart.size() == 1 ? ofPart[0] : concat(ofPart));
    }
    return sums;
  }

  const std::vector<Tensor>& values_;
  const std::vector<std::string>& devices_;
  std::source_location where_;
  Builder* builder_ = nullptr;
};

} // namespace

std::vector<Tensor> allReduce(const std::vector<Tensor>& values, const std::vector<std::string>& devices,
                              AllReduceOptions options, std::source_location where) {
  const Collective all(values, devices, where);
  if (!all.usable("allReduce") || !all.alike("allReduce") || !all.sensible(options, "allReduce")) {
    return all.nothing();
  }
  const auto place = all.place();
  if (options.form == AllReduce::Exchange || all.devices() == 1 || all.rows() < all.devices()) {
    return all.exchanged();
  }
  return all.gathered(all.scattered(options));
}

std::vector<Tensor> reduceScatter(const std::vector<Tensor>& values, const std::vector<std::string>& devices,
                                  AllReduceOptions options, std::source_location where) {
  const Collective all(values, devices, where);
  if (!all.usable("reduceScatter") || !all.alike("reduceScatter") ||
      !all.sensible(options, "reduceScatter")) {
    return all.nothing();
  }
  if (all.rows() < all.devices()) {
    values[0].builder()->report(
        where, fmt::format("reduceScatter of {} over {} devices", toString(values[0].type()), all.devices()),
        "axis 0 must have a row for each device; allReduce exchanges smaller values whole");
    return all.nothing();
  }
  const auto place = all.place();
  return all.scattered(options);
}

std::vector<Tensor> allGather(const std::vector<Tensor>& parts, const std::vector<std::string>& devices,
                              std::source_location where) {
  const Collective all(parts, devices, where);
  if (!all.usable("allGather")) {
    return all.nothing();
  }
  const auto place = all.place();
  return all.gathered(parts);
}

} // namespace dfc
