// Builder and initialisers. Scopes and pins are context managers: `with g.scope("fc1"):`.
#include "ir/author/builder.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "tools/python/module/arrays/arrays.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/op.h"

#include <fmt/format.h>

#include <optional>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
using SharedWriter = std::shared_ptr<Writer>;

/// Of a `with`: a scope, a pin or both, entered when the block is.
class Region {
 public:
  Region(SharedWriter writer, std::optional<std::string> scope, std::optional<std::string> device)
      : writer_(std::move(writer)), scope_(std::move(scope)), device_(std::move(device)) {}
  void enter() {
    Builder& builder = writer_->builder;
    builder.graph(); // throws once it has finished
    if (!scope_) {
      guard_.reset(new Builder::Guard(builder.on(device_.value_or(""))));
    } else if (device_) {
      guard_.reset(new Builder::Guard(builder.scope(*scope_, *device_)));
    } else {
      guard_.reset(new Builder::Guard(builder.scope(*scope_)));
    }
  }
  void leave() { guard_.reset(); }

 private:
  SharedWriter writer_;
  std::optional<std::string> scope_, device_;
  std::unique_ptr<Builder::Guard> guard_;
};

void bindInitialisers(nb::module_& module) {
  nb::class_<Initialiser> initialiser(module, "Initialiser",
                                      "How a parameter starts. Made by the functions of dfc.init. Kinds that "
                                      "draw give the same bits for the same seed, anywhere.");
  initialiser.def("__repr__", [](const Initialiser& self) {
    return fmt::format("<dfc.Initialiser {} a={} b={} seed={}{}>", static_cast<int>(self.kind), self.a,
                       self.b, self.seed, self.file.empty() ? "" : " file=" + self.file);
  });
  module.def(
      "init_zeros", [] { return zeros(); }, "Every element 0.");
  module.def("init_constant", &constantInit, "value"_a, "Every element `value`.");
  module.def("init_uniform", &uniform, "low"_a, "high"_a, "seed"_a = 0, "Evenly in [low, high).");
  module.def("init_normal", &normal, "mean"_a = 0.0, "deviation"_a = 1.0, "seed"_a = 0,
             "Normally distributed.");
  module.def("init_glorot", &glorot, "seed"_a = 0, "Uniform by fan-in and fan-out (Glorot and Bengio 2010).");
  module.def("init_he_normal", &heNormal, "seed"_a = 0,
             "Normal by fan-in, for layers that end in ReLU (He et al. 2015).");
  module.def("init_he_uniform", &heUniform, "seed"_a = 0, "Uniform by fan-in, likewise.");
  module.def(
      "init_from_file", [](const PathLike& path) { return fromFile(pathOf(path)); }, "path"_a,
      "From a .npy file, or 'weights.safetensors#name'; relative paths start at Session's data_folder.");
}

void bindSources(nb::class_<Writer>& builder) {
  bindMethod(
      builder, "input",
      [](Builder& g, const std::string& name, const Dims& shape, ElementType dtype) {
        return g.input(name, typeOf(shape, dtype));
      },
      "name"_a, "shape"_a, "dtype"_a = ElementType::F32,
      "A value that each step is fed, by name. Two inputs or parameters of one name are a mistake.");
  bindMethod(
      builder, "parameter",
      [](Builder& g, const std::string& name, const Dims& shape, const InitLike& init, ElementType dtype) {
        return g.parameter(name, typeOf(shape, dtype), initialiserOf(init));
      },
      "name"_a, "shape"_a, "init"_a = nb::none(), "dtype"_a = ElementType::F32,
      "A value that outlives a step, saved and restored by name. It starts as `init` says (None: zeros; a "
      "number: that everywhere); assign() gives its next value.");
  bindMethod(
      builder, "constant",
      [](Builder& g, const ArrayLike& value, const nb::object& dtype) {
        return g.constant(dtype.is_none() ? literalOf(value, Sharing::Copied, std::nullopt, "constant")
                                          : literalAs(value, elementTypeOf(dtype), "constant"));
      },
      "value"_a, "dtype"_a = nb::none(),
      "A value known when the graph is written, copied. dtype: of its elements; those of arrays are "
      "converted "
      "as feeds are.");
  bindMethod(
      builder, "scalar", [](Builder& g, double value, ElementType dtype) { return g.scalar(dtype, value); },
      "value"_a, "dtype"_a = ElementType::F32, "A constant of no axes.");
  bindMethod(
      builder, "step", [](Builder& g) { return g.step(); },
      "How many steps were run before this one, an int64 scalar: a parameter 'step' that dfc counts up. What "
      "is drawn "
      "by it (dropout) never repeats, and a checkpoint keeps it.");
  bindMethod(
      builder, "iota",
      [](Builder& g, const Dims& shape, ElementType dtype, int64_t axis) {
        return iota(g, typeOf(shape, dtype), axis);
      },
      "shape"_a, "dtype"_a = ElementType::I64, "axis"_a = 0, "Each element is its own index along `axis`.");
}

void bindSinks(nb::class_<Writer>& builder) {
  builder.def(
      "assign",
      [](const SharedWriter& self, const Value& parameter, const Arg& value) {
        Call call(self);
        const Operand next = call.operand(value);
        const Tensor tensor = next.tensor() != nullptr
                                  ? *next.tensor()
                                  : self->builder.scalar(parameter.tensor.type().element, *next.number());
        return call.value(self->builder.assign(parameter.tensor, tensor));
      },
      "parameter"_a, "value"_a, "The parameter's next value; gives that value.");
  builder.def(
      "fetch",
      [](const SharedWriter& self, const std::string& name, const Value& value) {
        Call call(self);
        self->builder.fetch(name, value.tensor);
        call.raiseMistakes();
      },
      "name"_a, "value"_a, "Gives `value` back to the caller of each step, under `name`.");
  builder.def(
      "finish", [](const SharedWriter& self) { return orRaise(std::move(self->builder).finish()); },
      "The graph. Raises dfc.Error with every mistake that was made while it was written, each at its line "
      "of "
      "Python. Once: afterwards the builder and its tensors raise RuntimeError.");
}

void bindRegions(nb::module_& module, nb::class_<Writer>& builder) {
  nb::class_<Region>(module, "Region", "A scope or pin of Builder, for `with`.")
      .def("__enter__", [](Region& self) { self.enter(); })
      .def(
          "__exit__", [](Region& self, const nb::args&) { self.leave(); }, "exception"_a);
  builder.def(
      "scope",
      [](const SharedWriter& self, const std::string& name, const std::optional<std::string>& device) {
        return Region(self, name, device);
      },
      "name"_a, "device"_a = nb::none(),
      "`with g.scope('fc1'):` names the ops of the block as a group, and pins them where a device is given. "
      "Scopes nest with '/'.");
  builder.def(
      "on", [](const SharedWriter& self, const std::string& device) { return Region(self, {}, device); },
      "device"_a, "`with g.on('gpu0'):` pins the ops of the block; the innermost pin holds.");
}

} // namespace

Initialiser initialiserOf(const InitLike& given) {
  if (given.is_none()) {
    return zeros();
  }
  if (nb::isinstance<nb::float_>(given) || nb::isinstance<nb::int_>(given)) {
    return constantInit(nb::cast<double>(given));
  }
  if (!nb::isinstance<Initialiser>(given)) {
    throw nb::type_error(
        fmt::format("init: None, a number or one of dfc.init, not {}; the values of an array are given by "
                    "session.set_state, or read by dfc.init.from_file",
                    textOf(nb::repr(given.type())))
            .c_str());
  }
  return nb::cast<Initialiser>(given);
}

void bindBuilder(nb::module_& module) {
  bindInitialisers(module);
  nb::class_<Writer> builder(
      module, "Builder",
      "Writes a graph, op by op, until `finish`. Shapes are checked where the call is "
      "written; a mistake is recorded with the Python file and line, its result is passed "
      "over by later calls, and `finish` raises all of them at once. With strict=True "
      "each mistake is raised by its call. For one thread.");
  builder.def(nb::init<const std::string&, bool>(), "name"_a = "main", nb::kw_only(), "strict"_a = false);
  bindSources(builder);
  bindSinks(builder);
  bindRegions(module, builder);
}

} // namespace dfc::python
