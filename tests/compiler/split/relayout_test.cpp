// Relayout: whatever layout a value has, what is brought of it to a device has the value's elements. Each
// element of the value is its own index, so that an element of the wrong place is a wrong number.
#include "compiler/interpreter/evaluate.h"
#include "compiler/split/relayout.h"
#include "compiler/split/split_ranges.h"
#include "compiler/split/sum_form.h"
#include "ir/graph/graph.h"
#include "ir/verify/verify.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

namespace dfc::test {
namespace {

double indexOf(const Shape& shape, int64_t row, int64_t column) {
  return static_cast<double>(row * shape[1] + column);
}

/// Rows and columns of the index tensor of a shape.
Literal box(const TensorType& whole, SplitRange rows, SplitRange columns) {
  Literal values(TensorType{whole.element, Shape({rows.size(), columns.size()})});
  int64_t at = 0;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    for (int64_t column = columns.begin; column < columns.end; ++column) {
      values.set(at++, indexOf(whole.shape, row, column));
    }
  }
  return values;
}

Literal boxAlong(const TensorType& whole, size_t axis, SplitRange range) {
  const SplitRange rows{0, whole.shape[0]}, columns{0, whole.shape[1]};
  return axis == 0 ? box(whole, range, columns) : box(whole, rows, range);
}

/// `parts` tensors of which the combination has the elements of `all`.
std::vector<Literal> partials(const Literal& all, SplitKind kind, size_t parts, Dice& dice) {
  std::vector<Literal> made(parts, Literal(all.type()));
  for (int64_t i = 0; i < all.type().shape.elements(); ++i) {
    const auto chosen = static_cast<size_t>(dice.below(static_cast<int64_t>(parts)));
    double rest = all.at(i);
    for (size_t part = 0; part < parts; ++part) {
      const auto some = static_cast<double>(dice.below(8));
      if (kind == SplitKind::Sum && part != chosen) {
        made[part].set(i, some);
        rest -= some;
      } else if (kind != SplitKind::Sum) {
        const double other = kind == SplitKind::Product ? 1
                             : kind == SplitKind::Max   ? all.at(i) - some
                                                        : all.at(i) + some;
        made[part].set(i, part == chosen ? all.at(i) : other);
      }
    }
    if (kind == SplitKind::Sum) {
      made[chosen].set(i, rest);
    }
  }
  return made;
}

/// A graph under construction on a mesh of unequal shares, the first device with the least.
class OnMesh {
 public:
  explicit OnMesh(size_t size) : machine_(smallMachine(5)), relayout_(builder_, mesh_, machine_) {
    for (size_t i = 0; i < size; ++i) {
      mesh_.devices.push_back(machine_.findDevice(fmt::format("gpu{}", i)));
      mesh_.shares.push_back(2 * static_cast<double>(i + 1) / static_cast<double>(size * (size + 1)));
    }
    mesh_.host = machine_.host();
  }

  const Mesh& mesh() const { return mesh_; }

  SplitValue spread(const Layout& layout, const TensorType& whole, Dice& dice) {
    SplitValue value{layout, whole, {}, {}, {}};
    const Literal all = boxAlong(whole, 0, {0, whole.shape[0]});
    switch (layout.form) {
    case Layout::Form::OnOne: add(value, all, mesh_.devices.back()); break;
    case Layout::Form::OnAll: addAll(value, std::vector<Literal>(mesh_.size(), all)); break;
    case Layout::Form::Cut:
      value.ranges = rangesOf(whole.shape[layout.axis], mesh_.shares);
      for (size_t d = 0; d < mesh_.size(); ++d) {
        add(value, boxAlong(whole, layout.axis, value.ranges[d]), mesh_.devices[d]);
      }
      break;
    case Layout::Form::Partial: addAll(value, partials(all, layout.combine, mesh_.size(), dice)); break;
    }
    return value;
  }

  /// What is brought is fetched as `name`.
  void bring(ValueId old, const SplitValue& value, const Wanted& wanted, size_t device, bool byAll,
             const std::string& name) {
    builder_.fetch(name, relayout_.bring(old, value, wanted, mesh_.devices[device], byAll, {}));
  }
  void offer(ValueId old, const SplitValue& value) { relayout_.offer(old, value); }
  void takeLatency(double seconds) { mesh_.latencySeconds = seconds; }
  SplitValue partialSum(const std::vector<float>& numbers) {
    SplitValue value{Layout::partial(SplitKind::Sum), {ElementType::F32, Shape{1}}, {}, {}, {}};
    for (size_t d = 0; d < numbers.size(); ++d) {
      Literal part(value.whole);
      part.set(0, numbers[d]);
      add(value, part, mesh_.devices[d]);
    }
    return value;
  }

  NamedLiterals evaluated() {
    const auto graph = std::move(builder_).finish();
    REQUIRE(graph.ok());
    CHECK(render(verifyGraph(*graph)) == "");
    auto results = evaluate(*graph, {});
    REQUIRE(results.ok());
    return results->fetches;
  }

 private:
  void add(SplitValue& value, const Literal& part, DeviceId device) {
    const ops::Constant constant{{}, part};
    value.parts.push_back(builder_.result(relayout_.append(constant, {}, {}, "part", device)));
    value.where.push_back(device);
  }
  void addAll(SplitValue& value, const std::vector<Literal>& parts) {
    for (size_t d = 0; d < mesh_.size(); ++d) {
      add(value, parts[d], mesh_.devices[d]);
    }
  }

  Machine machine_;
  Mesh mesh_;
  GraphBuilder builder_;
  Relayout relayout_;
};

std::vector<Layout> layouts() {
  std::vector<Layout> all = {Layout::onOne(), Layout::onAll(), Layout::cut(0), Layout::cut(1)};
  for (const SplitKind kind : {SplitKind::Sum, SplitKind::Max, SplitKind::Min, SplitKind::Product}) {
    all.push_back(Layout::partial(kind));
  }
  return all;
}

/// Ranges of an axis for readers: one a device, of other lengths than a value's, which overlap as those of a
/// window do, and one without an element.
std::vector<SplitRange> readersOf(int64_t length, size_t parts) {
  if (length < static_cast<int64_t>(parts)) {
    return std::vector<SplitRange>(parts, SplitRange{0, length});
  }
  std::vector<SplitRange> ranges =
      rangesOf(length, std::vector<double>(parts, 1.0 / static_cast<double>(parts)));
  for (SplitRange& range : ranges) {
    range.begin = std::max<int64_t>(range.begin - 1, 0);
    range.end = std::min(range.end + 1, length);
  }
  ranges.back().begin = ranges.back().end;
  return ranges;
}

/// From the layout to every other: whole on one or on all devices, and in parts of either axis.
void checkAllFrom(const Layout& layout, const TensorType& type, size_t size) {
  if (layout.isCut() && type.shape[layout.axis] < static_cast<int64_t>(size)) {
    return; // no piece is empty
  }
  INFO(toString(layout) << " of " << toString(type) << " on " << size << " devices");
  Dice dice(size);
  OnMesh on(size);
  NamedLiterals expected;
  const auto bring = [&](const SplitValue& value, const Wanted& wanted, size_t device, bool byAll) {
    const std::string name = fmt::format("{} for gpu{}", expected.size(), device);
    // A value's first part tells it from the others.
    on.bring(value.parts[0], value, wanted, device, byAll, name);
    expected[name] =
        wanted.whole ? boxAlong(type, 0, {0, type.shape[0]}) : boxAlong(type, wanted.axis, wanted.range);
  };
  // Values of their own, so that nothing is found that was brought before.
  const SplitValue toOne = on.spread(layout, type, dice), toAll = on.spread(layout, type, dice),
                   toParts = on.spread(layout, type, dice);
  bring(toOne, Wanted::all(), 0, false);
  for (size_t d = 0; d < size; ++d) {
    bring(toAll, Wanted::all(), d, true);
    for (size_t axis = 0; axis < 2; ++axis) {
      bring(toParts, Wanted::along(axis, readersOf(type.shape[axis], size)[d]), d, false);
    }
  }
  const NamedLiterals actual = on.evaluated();
  for (const auto& [name, value] : expected) {
    INFO(name);
    REQUIRE(actual.count(name) == 1);
    CHECK(bitDifference(value, actual.at(name)) == "");
  }
}

} // namespace

TEST_CASE("relayout: every layout to every other, on meshes of unequal shares") {
  for (const size_t size : {2, 3, 5}) {
    for (const Layout& layout : layouts()) {
      for (const ElementType element : {ElementType::I64, ElementType::F32, ElementType::F16}) {
        checkAllFrom(layout, {element, Shape({7, 6})}, size);
      }
      // So large that a sum for all is scattered first; also along the second axis alone.
      checkAllFrom(layout, {ElementType::I64, Shape({41, 251})}, size);
      checkAllFrom(layout, {ElementType::I64, Shape({1, 10007})}, size);
    }
  }
}

TEST_CASE("relayout: small sums that all want are summed as one tensor") {
  for (const size_t size : {2, 3, 5}) {
    INFO(size << " devices");
    Dice dice(size);
    OnMesh on(size);
    NamedLiterals expected;
    std::vector<SplitValue> values;
    const std::vector<TensorType> types = {{ElementType::F32, Shape({3, 2})},
                                           {ElementType::F32, Shape({1, 1})},
                                           {ElementType::I64, Shape({2, 2})}, // not of the first bucket
                                           {ElementType::F32, Shape({50, 100})}};
    for (const TensorType& type : types) {
      values.push_back(on.spread(Layout::partial(SplitKind::Sum), type, dice));
      on.offer(ValueId(static_cast<uint32_t>(values.size())), values.back());
    }
    for (uint32_t i = 0; i < values.size(); ++i) {
      for (size_t d = 0; d < size; ++d) {
        const std::string name = fmt::format("sum{}.gpu{}", i, d);
        on.bring(ValueId(i + 1), values[i], Wanted::all(), d, true, name);
        expected[name] = boxAlong(types[i], 0, {0, types[i].shape[0]});
      }
    }
    const NamedLiterals actual = on.evaluated();
    for (const auto& [name, value] : expected) {
      INFO(name);
      CHECK(bitDifference(value, actual.at(name)) == "");
    }
  }
}

TEST_CASE("relayout: ranges are the shares of an axis, none empty, together all of it") {
  for (int64_t length = 1; length < 40; ++length) {
    for (size_t parts = 1; parts <= 5 && static_cast<int64_t>(parts) <= length; ++parts) {
      Dice dice(static_cast<uint64_t>(length) * 8 + parts);
      std::vector<double> shares;
      double sum = 0;
      for (size_t i = 0; i < parts; ++i) {
        shares.push_back(dice.unit() + 0.01);
        sum += shares.back();
      }
      for (double& share : shares) {
        share /= sum;
      }
      for (const int64_t granule : {1, 8}) {
        int64_t begin = 0;
        for (const SplitRange range : rangesOf(length, shares, granule)) {
          CHECK(range.begin == begin);
          CHECK(range.size() > 0);
          begin = range.end;
        }
        CHECK(begin == length);
      }
    }
  }
}

// Copies of a parameter on all devices are updated with such sums.
TEST_CASE("relayout: a sum for all has the same bits on all devices, whichever read it alone before") {
  OnMesh on(4);
  on.takeLatency(1e-6); // so that pairs exchange sums
  // One after the other: ((1e8 + 1) - 1e8) + 1 = 1; in pairs: (1e8 + 1) + (-1e8 + 1) = 0, as 1 is lost beside
  // 1e8.
  const SplitValue value = on.partialSum({1e8F, 1, -1e8F, 1});
  on.bring(ValueId(0), value, Wanted::all(), 0, false, "alone");
  for (size_t d = 0; d < 4; ++d) {
    on.bring(ValueId(0), value, Wanted::all(), d, true, fmt::format("all{}", d));
  }
  const NamedLiterals results = on.evaluated();
  CHECK(results.at("alone").at(0) == 1);
  for (size_t d = 0; d < 4; ++d) {
    CHECK(results.at(fmt::format("all{}", d)).at(0) == 0);
  }
}

TEST_CASE("relayout: more small sums than a bucket holds, whichever is wanted first") {
  constexpr uint32_t count = 80; // of 64 KB, and a bucket holds 4 MB
  OnMesh on(2);
  std::vector<SplitValue> values;
  Dice dice(1);
  const TensorType type{ElementType::F32, Shape{128, 128}};
  for (uint32_t i = 0; i < count; ++i) {
    values.push_back(on.spread(Layout::partial(SplitKind::Sum), type, dice));
    on.offer(ValueId(i), values.back());
  }
  for (uint32_t i = count; i-- > 0;) {
    for (size_t d = 0; d < 2; ++d) {
      on.bring(ValueId(i), values[i], Wanted::all(), d, true, fmt::format("sum{}.{}", i, d));
    }
  }
  const NamedLiterals results = on.evaluated();
  CHECK(results.size() == 2 * count);
  for (const auto& [name, sum] : results) {
    INFO(name);
    CHECK(sum.at(5) == 5); // each element is its own index
  }
}

TEST_CASE("small sums are made in one round where kernels read their peers, else in few") {
  Mesh mesh;
  mesh.devices.assign(8, DeviceId(0));
  mesh.latencySeconds = 8e-6;
  mesh.bandwidth = 4e11;
  mesh.launchSeconds = 2.5e-6;
  const int64_t small = 4096, large = 1 << 20;
  CHECK(cheapestSum(small, false, mesh).form == SumForm::Doubling); // 3 latencies in place of 7
  mesh.readsPeers = true;
  const SumCost round = cheapestSum(small, false, mesh);
  CHECK(round.form == SumForm::Exchange);
  CHECK(round.seconds == Approx(2.5e-6 + 7 * 4096 / 4e11));
  CHECK(cheapestSum(large, false, mesh).form == SumForm::Doubling);
  mesh.launchSeconds = 1e-9; // then bytes decide: 7 x 65536 / 4e11 s against 3 rounds of 65536 / 4e11 s
  CHECK(cheapestSum(65536, false, mesh).form == SumForm::Doubling);
}

} // namespace dfc::test
