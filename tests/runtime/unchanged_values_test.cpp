// Which values are the same in every step, and which of them products and convolutions may keep packed.
#include "runtime/cpu/unchanged_values.h"

#include "tests/runtime/session_support.h"

using namespace dfc;
using namespace dfc::test;

namespace {

/// Appends ops and says what becomes of their operands.
class Values {
 public:
  ValueId add(OpAttributes op, std::initializer_list<ValueId> operands) {
    return builder_.result(builder_.append(std::move(op), operands, {}));
  }
  ValueId parameter(const Shape& shape) {
    ops::Parameter op;
    op.type = f32(shape);
    return add(op, {});
  }
  ValueId input(const Shape& shape) {
    ops::Input op;
    op.type = f32(shape);
    return add(op, {});
  }
  ValueId reshape(ValueId value, const Dims& shape) {
    ops::Reshape op;
    op.shape.assign(shape.begin(), shape.end());
    return add(op, {value});
  }
  UnchangedValues find() const { return UnchangedValues(builder_.soFar()); }

 private:
  GraphBuilder builder_;
};

} // namespace

TEST_CASE("unchanged values: parameters that no op assigns, their views and their copies") {
  Values g;
  const ValueId x = g.input({2, 4}), w = g.parameter({4, 4}), v = g.parameter({4, 4}), u = g.parameter({16});
  const ValueId view = g.reshape(u, {4, 4}), copy = g.add(ops::Transfer{}, {w});
  g.add(ops::Assign{}, {v, g.add(ops::Matmul{}, {v, v})});
  g.add(ops::Matmul{}, {x, w});
  g.add(ops::Matmul{}, {x, copy});
  g.add(ops::Matmul{}, {x, view});
  const UnchangedValues unchanged = g.find();
  CHECK((unchanged.contains(w) && unchanged.contains(u) && unchanged.contains(view)));
  CHECK((unchanged.contains(copy) && unchanged.isCopy(copy) && !unchanged.isCopy(w)));
  CHECK((!unchanged.contains(x) && !unchanged.contains(v)));
}

TEST_CASE("unchanged values: packed copies take no more memory than the value") {
  Values g;
  const ValueId x = g.input({2, 4}), twice = g.parameter({4, 4}), looked = g.parameter({4, 4});
  g.add(ops::Matmul{}, {x, twice});
  g.add(ops::Matmul{}, {x, g.reshape(twice, {4, 4})});
  g.add(ops::Matmul{}, {x, looked});
  g.add(ops::Add{}, {looked, looked}); // keeps nothing of it
  const UnchangedValues unchanged = g.find();
  CHECK((!unchanged.contains(twice) && unchanged.contains(looked)));
}
