// parameter: the rule checks that the initialiser can make a tensor of the type. Resident, so a step pays
// nothing.
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace dfc::ops {

namespace {

using Initialiser = Parameter::Initialiser;

constexpr std::array<std::string_view, 8> initialiserNames = {"zeros",  "constant", "uniform",  "normal",
                                                              "glorot", "file",     "heNormal", "heUniform"};

bool scaledByFans(Initialiser initialiser) {
  return initialiser == Initialiser::Glorot || initialiser == Initialiser::HeNormal ||
         initialiser == Initialiser::HeUniform;
}

bool drawn(Initialiser initialiser) {
  return initialiser == Initialiser::Uniform || initialiser == Initialiser::Normal ||
         scaledByFans(initialiser);
}

// Why the initialiser's own numbers do not work, and the way out; empty when they do.
std::pair<std::string, std::string> wrongNumbers(const Parameter& parameter) {
  const double a = parameter.a, b = parameter.b;
  switch (parameter.initialiser) {
  case Initialiser::Constant:
    if (!canHold(parameter.type.element, a)) {
      return {fmt::format("{} cannot hold {}", name(parameter.type.element), a),
              "give a value of the element type, or another element type"};
    }
    break;
  case Initialiser::Uniform:
    if (!(std::isfinite(a) && std::isfinite(b) && a < b)) {
      return {fmt::format("uniform in [{}, {}) holds no number", a, b),
              "give a low end a below the high end b"};
    }
    break;
  case Initialiser::Normal:
    if (!(std::isfinite(a) && std::isfinite(b) && b >= 0)) {
      return {fmt::format("normal with mean {} and deviation {}", a, b),
              "give a finite mean a and a finite deviation b of 0 or more"};
    }
    break;
  case Initialiser::Glorot:
  case Initialiser::HeNormal:
  case Initialiser::HeUniform:
    if (parameter.type.shape.rank() < 2) {
      return {fmt::format("{} needs the fan in and fan out of at least 2 axes",
                          initialiserNames[static_cast<size_t>(parameter.initialiser)]),
              "start a vector with zeros, or give it a range with uniform"};
    }
    break;
  case Initialiser::Zeros:
  case Initialiser::File: break;
  }
  return {};
}

} // namespace

void Parameter::fields(AttributeVisitor& visitor) {
  visitor.field("type", type, Presence::Required);
  auto chosen = static_cast<uint8_t>(initialiser);
  visitor.choice("initialiser", chosen, initialiserNames, Presence::Optional);
  initialiser = static_cast<Initialiser>(chosen);
  visitor.field("a", a, Presence::Optional);
  visitor.field("b", b, Presence::Optional);
  visitor.field("seed", seed, Presence::Optional);
  visitor.field("file", file, Presence::Optional);
  visitor.field("ofPlan", ofPlan, Presence::Optional);
  part.fields(visitor);
  visitor.field("of", of, Presence::Optional);
}

TypeResult Parameter::types(OperandTypes) const {
  const auto fail = [&](std::string_view why, std::string hint) {
    return TypeResult::fail(fmt::format("parameter of {}: {}", toString(type), why), std::move(hint));
  };
  if (static_cast<size_t>(initialiser) >= initialiserNames.size()) {
    return fail("unknown initialiser", fmt::format("it is one of {}", fmt::join(initialiserNames, ", ")));
  }
  const std::string_view chosen = initialiserNames[static_cast<size_t>(initialiser)];
  if (drawn(initialiser) && !isFloat(type.element)) {
    return fail(fmt::format("{} draws floats", chosen), "start it with zeros, a constant or a file");
  }
  if ((initialiser == Initialiser::File) == file.empty()) {
    return file.empty()
               ? fail("it starts from a file, but none is named", "give the path of an .npy file, or "
                                                                  "\"weights.safetensors#name\"")
               : fail(fmt::format("a file is named, but it starts with {}", chosen),
                      "choose initialiser=file, or leave the file out");
  }
  if (TypeResult place = part.check("parameter", type.shape); !place.ok()) {
    return place;
  }
  auto [why, hint] = wrongNumbers(*this);
  return why.empty() ? TypeResult::of(type) : fail(why, std::move(hint));
}

OpCost Parameter::cost(OperandTypes, OperandTypes) const { return {}; }

SplitRule Parameter::split(OperandTypes, OperandTypes results) const { return sourceSplit(results[0]); }

void Parameter::restrictTo(const SplitPart& given) {
  const SplitAxis& at = given.factor.results[0];
  if (initialiser != Initialiser::Zeros && initialiser != Initialiser::Constant) {
    part.restrictTo(at.axis, at.elements(given.range), type.shape);
  }
  type = given.resultType(0);
}

} // namespace dfc::ops
