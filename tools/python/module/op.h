// A function of the DSL as a function of Python, by its parameters' types alone: what Python gives in the
// place of a Tensor, of Dims, … and what it is given for the result.
//
//   bindOp(module, "dropout", [](Operand a, Operand step, double rate) { return dropout(a, step, rate); },
//          "a"_a, "step"_a, "rate"_a = 0.5, "doc");
//   bindMethod(layers, "linear", [](Layers& self, std::string name, Tensor x, int64_t to) { … }, …);
#pragma once

#include "tools/python/module/values.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace dfc::python {

/// A list of operands: no tensor, whose iteration gives slices of it.
struct Args : std::vector<Arg> {};

} // namespace dfc::python

/// @cond INTERNAL
template <>
struct nanobind::detail::type_caster<dfc::python::Args> : list_caster<dfc::python::Args, dfc::python::Arg> {
  using Base = list_caster<dfc::python::Args, dfc::python::Arg>;
  bool from_python(handle given, uint8_t flags, cleanup_list* cleanup) noexcept {
    return !isinstance<dfc::python::Value>(given) && Base::from_python(given, flags, cleanup);
  }
};
/// @endcond

namespace dfc::python {

/// Of Layers, KvCache, …: with the builder that it writes to.
template <class T>
struct Written {
  std::shared_ptr<Writer> writer;
  std::unique_ptr<T> object;
};

/// Axes or strides by an AxesLike: none by None.
struct Axes : Dims {};
/// A tensor that may be left out: then empty.
struct MaybeTensor : Tensor {};
using Tensors = std::vector<Tensor>;

// --- What Python gives (From), and what the function takes of it.

template <class T>
struct Given {
  using From = std::conditional_t<std::is_arithmetic_v<T>, T, const T&>;
  static T of(Call& /*call*/, From from) { return from; }
};
template <>
struct Given<Operand> {
  using From = const Arg&;
  static Operand of(Call& call, From from) { return call.operand(from); }
};
template <>
struct Given<Numeric> {
  using From = const Arg&;
  static Numeric of(Call& call, From from) { return call.numeric(from); }
};
template <>
struct Given<Tensor> {
  using From = const Arg&;
  static Tensor of(Call& call, From from) { return call.tensor(from); }
};
template <>
struct Given<MaybeTensor> {
  using From = const std::optional<Arg>&;
  static MaybeTensor of(Call& call, From from) {
    return from && !from->is_none() ? MaybeTensor{call.tensor(*from)} : MaybeTensor{};
  }
};
template <>
struct Given<std::vector<Tensor>> {
  using From = const Args&;
  static std::vector<Tensor> of(Call& call, From from) { return call.tensors(from); }
};
template <>
struct Given<Dims> {
  using From = const DimsLike&;
  static Dims of(Call& /*call*/, From from) { return dimsOf(from); }
};
template <>
struct Given<Axes> {
  using From = const AxesLike&;
  static Axes of(Call& /*call*/, From from) { return {axesOf(from)}; }
};
template <>
struct Given<ElementType> {
  using From = const DTypeLike&;
  static ElementType of(Call& /*call*/, From from) { return elementTypeOf(from); }
};
template <>
struct Given<Precision> {
  using From = const std::optional<std::string>&; // None: unstated
  static Precision of(Call& /*call*/, From from) { return precisionOf(nanobind::cast(from)); }
};

// --- What Python is given.

inline Value toPython(Call& call, Tensor tensor) { return call.value(tensor); }
inline std::vector<Value> toPython(Call& call, const std::vector<Tensor>& tensors) {
  return call.values(tensors);
}
inline std::pair<Value, Value> toPython(Call& call, const TopK& found) {
  return {call.value(found.values), call.value(found.indices)};
}
inline std::tuple<Value, Value, Value> toPython(Call& call, const Normalised& found) {
  return {call.value(found.result), call.value(found.mean), call.value(found.variance)};
}
template <class A, class B>
auto toPython(Call& call, const std::pair<A, B>& both) {
  return std::pair(toPython(call, both.first), toPython(call, both.second));
}

// --- The builder that a call writes to.

inline void addTensors(std::vector<const Arg*>& all, const Arg& one) { all.push_back(&one); }
inline void addTensors(std::vector<const Arg*>& all, const Args& several) {
  for (const Arg& one : several) {
    all.push_back(&one);
  }
}
inline void addTensors(std::vector<const Arg*>& all, const std::optional<Arg>& maybe) {
  if (maybe) {
    all.push_back(&*maybe);
  }
}
template <class Other>
void addTensors(std::vector<const Arg*>& /*all*/, const Other& /*none*/) {}

inline const std::shared_ptr<Writer>& writerOf(const Value& self) { return self.writer; }
inline const std::shared_ptr<Writer>& writerOf(const std::shared_ptr<Writer>& self) { return self; }
template <class T>
const std::shared_ptr<Writer>& writerOf(const Written<T>& self) {
  return self.writer;
}

/// What Python's `self` is for a function of a Tensor, a Builder, or another class that writes.
template <class T>
struct Self {
  using From = Written<T>&;
  static T& of(From self) { return *self.object; }
};
template <>
struct Self<Operand> {
  using From = const Value&;
  static Operand of(From self) { return self.tensor; }
};
template <>
struct Self<Tensor> {
  using From = const Value&;
  static Tensor of(From self) { return self.tensor; }
};
template <>
struct Self<Builder> {
  using From = const std::shared_ptr<Writer>&;
  static Builder& of(From self) { return self->builder; }
};

/// Lets an operand of arithmetic say the element type of arrays beside it.
template <class P, class From>
void addModel(Call& call, const From& from) {
  if constexpr (std::is_same_v<P, Numeric>) {
    call.addModel(from);
  }
}

/// The result, or what strict writers raise.
template <class Function, class... Values>
auto callOf(Call& call, const Function& function, std::tuple<Values...> values) {
  if constexpr (std::is_void_v<decltype(std::apply(function, std::move(values)))>) {
    std::apply(function, std::move(values));
    call.raiseMistakes();
  } else {
    return toPython(call, std::apply(function, std::move(values)));
  }
}

template <class Scope, class Function, class Result, class... P, class... Extra>
void bindOpOf(Scope& scope, const char* name, Function function, Result (Function::* /*type*/)(P...) const,
              const Extra&... extra) {
  scope.def(
      name,
      [name, function](typename Given<std::decay_t<P>>::From... given) {
        std::vector<const Arg*> tensors;
        (addTensors(tensors, given), ...);
        Call call(writerOf(name, tensors));
        (addModel<std::decay_t<P>>(call, given), ...);
        // Braces: operands become constants in the order in which they are written.
        return callOf(call, function, std::tuple<P...>{Given<std::decay_t<P>>::of(call, given)...});
      },
      extra...);
}

template <class Class, class Function, class Result, class S, class... P, class... Extra>
void bindMethodOf(Class& type, const char* name, Function function,
                  Result (Function::* /*type*/)(S, P...) const, const Extra&... extra) {
  type.def(
      name,
      [function](typename Self<std::decay_t<S>>::From self, typename Given<std::decay_t<P>>::From... given) {
        Call call(writerOf(self));
        if constexpr (std::is_same_v<std::decay_t<typename Self<std::decay_t<S>>::From>, Value>) {
          call.addModel(self);
        }
        return callOf(
            call, function,
            std::tuple<S, P...>{Self<std::decay_t<S>>::of(self), Given<std::decay_t<P>>::of(call, given)...});
      },
      extra...);
}

/// A function of the module. `function` is a lambda or a function; it writes to the builder of its first
/// tensor.
template <class Scope, class Function, class... Extra>
void bindOp(Scope& scope, const char* name, Function function, const Extra&... extra) {
  bindOpOf(scope, name, function, &Function::operator(), extra...);
}
template <class Scope, class Result, class... P, class... Extra>
void bindOp(Scope& scope, const char* name, Result (*function)(P...), const Extra&... extra) {
  bindOp(
      scope, name, [function](P... values) { return function(values...); }, extra...);
}
/// A method, or a function whose first argument has to be of a class that writes; that is the lambda's first
/// parameter.
template <class Class, class Function, class... Extra>
void bindMethod(Class& type, const char* name, Function function, const Extra&... extra) {
  bindMethodOf(type, name, function, &Function::operator(), extra...);
}

} // namespace dfc::python
