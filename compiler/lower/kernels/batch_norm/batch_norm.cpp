// Batch normalisation: sums of channels are carried in f64; a variance is summed about the channel's first
// element, so that one sweep is enough: that element is no farther from the mean than sqrt(n) deviations.
// Where a norm is in parts, on several devices, the sums are ops of their own, about 0.
#include "compiler/lower/kernels/batch_norm/channel_launches.h"

#include <fmt/format.h>

namespace dfc::cuda {
namespace {

std::string epsilonText(double epsilon) { return fmt::format("{:a}", epsilon); }

Argument operand(uint32_t index) { return {Argument::From::Operand, index, 0}; }
Argument result(uint32_t index) { return {Argument::From::Result, index, 0}; }
Argument workspace(int64_t offset) { return {Argument::From::Workspace, 0, offset}; }

int64_t aligned(int64_t bytes) { return ceilDiv(bytes, 256) * 256; }

// What follows the normalisation in the same pass.
struct Ending {
  bool relu = false;
  bool addend = false; ///< a tensor of that name is added before the relu
};

// (x - mean) inverse scale + bias, from left to right: inverse times scale may overflow where the result does
// not. The mean is a sum of two numbers, `high` and `low`: the first difference is exact near the mean, where
// a mean of one f32 would lose the digits of a small deviation. `parameters` has a, scale and bias;
// `statistics` gives the arrays high, low and inverse.
GeneratedLaunch normalising(const ChannelLaunches& writer, const std::string& parameters,
                            llvm::SmallVector<ChannelLaunches::Number, 5> numbers,
                            const std::string& statistics, Ending ending = {}) {
  numbers.push_back({"Vector", "factor", "scale"});
  numbers.push_back({"Vector", "shift", "bias"});
  const std::string normal = "(Real(valueOf(x.at[k])) - high[c] - low[c]) * inverse[c] * "
                             "Real(valueOf(factor[c])) + Real(valueOf(shift[c]))";
  const std::string sum = ending.addend ? normal + " + Real(valueOf(z.at[k]))" : normal;
  return writer.pass({parameters + (ending.addend ? ", const Element* addend" : ""), std::move(numbers),
                      statistics,
                      ending.addend ? LoadList{{"x", "a"}, {"z", "addend"}} : LoadList{{"x", "a"}},
                      ending.relu ? fmt::format("larger({}, Real(0))", sum) : sum});
}

// Arrays that a thread computes of others: `each` sets number k of them.
std::string derivedNumbers(std::string_view names, std::string_view each) {
  return fmt::format("  Real {};\n#pragma unroll\n  for (int k = 0; k < distinct; ++k) {{\n{}  }}\n", names,
                     each);
}

// The cotangent of a batch norm, behind a relu where the relu's result is positive; as kernels with the
// parameters a, means and cotangent read it.
class Cotangents {
 public:
  explicit Cotangents(bool relu) : relu_(relu) {}
  std::string gated() const { return relu_ ? ", const Element* gates" : ""; } ///< a further parameter
  LoadList loads() const {
    LoadList loads = {{"x", "a"}, {"y", "cotangent"}};
    if (relu_) {
      loads.push_back({"mask", "gates"});
    }
    return loads;
  }
  std::string g() const {
    return relu_ ? "(valueOf(mask.at[k]) > 0 ? Real(valueOf(y.at[k])) : Real(0))" : "Real(valueOf(y.at[k]))";
  }
  /// Of g, and of g times a's distance from the mean, into the workspace. `given`: a, means and cotangent.
  GeneratedLaunch sums(const ChannelLaunches& writer, std::initializer_list<Argument> given,
                       const Argument& gates) const {
    GeneratedLaunch sums =
        writer.sums(productTerm, "const Element* a, const Vector* means, const Element* cotangent" + gated(),
                    "f64(valueOf(means[channel]))", loads(), "f64(" + g() + ")");
    sums.arguments = given;
    if (relu_) {
      sums.arguments.push_back(gates);
    }
    sums.arguments.push_back(workspace(0));
    return sums;
  }
  /// The pass that gives the gradient to a and, with `addend`, also g. Of `numbers` and `derived` come the
  /// arrays mean, ofG, the factor of g, ofA, the factor of a - mean, and the subtrahend rest.
  ChannelLaunches::Pass pass(const std::string& parameters,
                             llvm::SmallVector<ChannelLaunches::Number, 5> numbers,
                             const std::string& derived, bool addend) const {
    return {parameters + gated(),
            std::move(numbers),
            derived,
            loads(),
            g() + " * ofG[c] - (Real(valueOf(x.at[k])) - Real(valueOf(mean[c]))) * ofA[c] - rest[c]",
            addend ? ", Element* ofAddend" : "",
            addend ? "    Pack<Element, width> kept;\n"
                     "#pragma unroll\n"
                     "    for (int k = 0; k < width; ++k) kept.at[k] = stored<Element>(" +
                         g() +
                         ");\n"
                         "    storePack(ofAddend + at, kept);\n"
                   : ""};
  }

 private:
  bool relu_;
};

} // namespace

GeneratedKernels batchNormKernel(const ops::BatchNorm& op, OperandTypes operands, const GpuShape& gpu) {
  const ChannelLaunches writer(operands[0], operands[1].element, op.axis, gpu);
  GeneratedLaunch launch = normalising(
      writer,
      "const Element* a, const Vector* scale, const Vector* bias, const Vector* means, const Vector* "
      "variances",
      {{"Vector", "mean", "means"}, {"Vector", "variance", "variances"}},
      derivedNumbers("high[distinct], low[distinct], inverse[distinct]",
                     fmt::format("    high[k] = Real(valueOf(mean[k]));\n"
                                 "    low[k] = 0;\n"
                                 "    inverse[k] = Real(1) / sqrt(Real(valueOf(variance[k])) + Real({}));\n",
                                 epsilonText(op.epsilon))));
  launch.arguments = {operand(0), operand(1), operand(2), operand(3), operand(4), result(0)};
  return {{std::move(launch)}, 0};
}

GeneratedKernels batchNormTrainingKernel(const ops::BatchNormTraining& op, OperandTypes operands,
                                         const GpuShape& gpu) {
  const ChannelLaunches writer(operands[0], operands[1].element, op.axis, gpu);
  const int64_t statistics = aligned(writer.sumBytes());
  // Sums are of distances from a channel's first element; from an infinite one every distance would be NaN.
  const std::string element = "f64(valueOf(a[channel * inner]))";
  const std::string first = "(" + element + " - " + element + " == 0.0 ? " + element + " : 0.0)";
  GeneratedLaunch sums = writer.sums(varianceTerm, "const Element* a", first, {{"x", "a"}}, "0.0");
  sums.arguments = {operand(0), workspace(0)};
  GeneratedLaunch settle =
      writer.settle("const Element* a, const f64* sums, Real* statistics, Vector* means, Vector* variances",
                    "  const f64 n = f64(outer * inner);\n  const f64 mean = " + first +
                        " + first / n;\n"
                        "  f64 variance = (second - first * first / n) / n;\n"
                        "  variance = variance < 0 ? 0 : variance;\n"
                        "  statistics[channel] = Real(mean);\n"
                        "  statistics[channels + channel] = Real(mean - f64(Real(mean)));\n"
                        "  statistics[2 * channels + channel] = Real(1 / sqrt(variance + " +
                        epsilonText(op.epsilon) +
                        "));\n"
                        "  means[channel] = stored<Vector>(Real(mean));\n"
                        "  variances[channel] = stored<Vector>(Real(variance));\n");
  settle.arguments = {operand(0), workspace(0), workspace(statistics), result(1), result(2)};
  const bool addend = operands.size() == 4;
  GeneratedLaunch pass =
      normalising(writer, "const Element* a, const Vector* scale, const Vector* bias, const Real* statistics",
                  {{"Real", "high", "statistics"},
                   {"Real", "low", "statistics + channels"},
                   {"Real", "inverse", "statistics + 2 * channels"}},
                  "", {op.relu, addend});
  pass.arguments = {operand(0), operand(1), operand(2), workspace(statistics)};
  if (addend) {
    pass.arguments.push_back(operand(3));
  }
  pass.arguments.push_back(result(0));
  return {{std::move(sums), std::move(settle), std::move(pass)}, statistics + writer.channelCount() * 3 * 8};
}

// The mean and the variance by sums about 0.
GeneratedKernels batchNormPassKernel(const ops::BatchNormPass& op, OperandTypes operands,
                                     const GpuShape& gpu) {
  const ChannelLaunches writer(operands[0], operands[1].element, op.axis, gpu);
  const std::string part = fmt::format("{:a}", 1.0 / static_cast<double>(op.count));
  GeneratedLaunch pass = normalising(
      writer, "const Element* a, const Vector* scale, const Vector* bias, const f64* sums",
      {{"f64", "first", "sums"}, {"f64", "second", "sums + channels"}},
      derivedNumbers(
          "high[distinct], low[distinct], inverse[distinct]",
          fmt::format("    const f64 mean = first[k] * {0}, variance = second[k] * {0} - mean * mean;\n"
                      "    high[k] = Real(mean);\n"
                      "    low[k] = Real(mean - f64(Real(mean)));\n"
                      "    inverse[k] = Real(1) / sqrt(Real(variance < 0 ? 0 : variance) + Real({1}));\n",
                      part, epsilonText(op.epsilon))),
      {op.relu, operands.size() == 5});
  pass.arguments = {operand(0), operand(1), operand(2), operand(3)};
  if (operands.size() == 5) {
    pass.arguments.push_back(operand(4));
  }
  pass.arguments.push_back(result(0));
  return {{std::move(pass)}, 0};
}

GeneratedKernels batchNormGradientPassKernel(const ops::BatchNormGradientPass& op, OperandTypes operands,
                                             const GpuShape& gpu) {
  const ChannelLaunches writer(operands[0], operands[1].element, op.axis, gpu);
  const Cotangents cotangents(op.relu);
  const std::string part = fmt::format("Real({:a})", 1.0 / static_cast<double>(op.count));
  GeneratedLaunch pass = writer.pass(cotangents.pass(
      "const Element* a, const Vector* scale, const Vector* means, const Vector* variances, const Element* "
      "cotangent, const f64* sums",
      {{"Vector", "mean", "means"},
       {"Vector", "variance", "variances"},
       {"Vector", "factor", "scale"},
       {"f64", "first", "sums"},
       {"f64", "second", "sums + channels"}},
      derivedNumbers(
          "ofG[distinct], ofA[distinct], rest[distinct]",
          fmt::format("    const Real root = Real(1) / sqrt(Real(valueOf(variance[k])) + Real({0}));\n"
                      "    const Real scaled = Real(valueOf(factor[k])) * root;\n"
                      "    ofG[k] = scaled;\n"
                      "    ofA[k] = scaled * root * (Real(second[k]) * root) * {1};\n"
                      "    rest[k] = scaled * Real(first[k]) * {1};\n",
                      epsilonText(op.epsilon), part)),
      op.addend));
  pass.arguments = {operand(0), operand(1), operand(2), operand(3), operand(4), operand(5)};
  if (op.relu) {
    pass.arguments.push_back(operand(6));
  }
  pass.arguments.push_back(result(0));
  if (op.addend) {
    pass.arguments.push_back(result(1));
  }
  return {{std::move(pass)}, 0};
}

GeneratedKernels batchNormSumsKernel(const ops::BatchNormSums& op, OperandTypes operands,
                                     const GpuShape& gpu) {
  const bool ofGradient = operands.size() > 1;
  const ChannelLaunches writer(operands[0], operands[ofGradient ? 1 : 0].element, op.axis, gpu);
  GeneratedLaunch sums;
  if (ofGradient) {
    sums = Cotangents(op.relu).sums(writer, {operand(0), operand(1), operand(2)}, operand(3));
  } else {
    sums = writer.sums(varianceTerm, "const Element* a", "0.0", {{"x", "a"}}, "0.0");
    sums.arguments = {operand(0), workspace(0)};
  }
  GeneratedLaunch settle =
      writer.settle("const f64* sums, f64* made", "  made[channel] = first;\n"
                                                  "  made[channels + channel] = second;\n");
  settle.arguments = {workspace(0), result(0)};
  return {{std::move(sums), std::move(settle)}, writer.sumBytes()};
}

GeneratedKernels batchNormGradientKernel(const ops::BatchNormGradient& op, OperandTypes operands,
                                         const GpuShape& gpu) {
  const ChannelLaunches writer(operands[0], operands[1].element, op.axis, gpu);
  const int64_t factors = aligned(writer.sumBytes());
  const Cotangents cotangents(op.relu);
  GeneratedLaunch sums = cotangents.sums(writer, {operand(0), operand(2), operand(4)}, operand(5));
  GeneratedLaunch settle = writer.settle(
      "const Vector* scale, const Vector* variances, const f64* sums, Real* factors, "
      "Vector* ofScale, Vector* ofBias",
      "  const f64 n = f64(outer * inner);\n  const f64 root = 1 / sqrt(f64(valueOf(variances[channel])) + " +
          epsilonText(op.epsilon) +
          ");\n"
          "  const f64 factor = f64(valueOf(scale[channel])) * root;\n"
          "  factors[channel] = Real(factor);\n"
          "  factors[channels + channel] = Real(factor * root * (second * root) / n);\n"
          "  factors[2 * channels + channel] = Real(factor * first / n);\n"
          "  ofScale[channel] = stored<Vector>(Real(second * root));\n"
          "  ofBias[channel] = stored<Vector>(Real(first));\n");
  settle.arguments = {operand(1), operand(3), workspace(0), workspace(factors), result(1), result(2)};
  GeneratedLaunch pass = writer.pass(
      cotangents.pass("const Element* a, const Vector* means, const Element* cotangent, const Real* factors",
                      {{"Vector", "mean", "means"},
                       {"Real", "ofG", "factors"},
                       {"Real", "ofA", "factors + channels"},
                       {"Real", "rest", "factors + 2 * channels"}},
                      "", op.addend));
  pass.arguments = {operand(0), operand(2), operand(4), workspace(factors)};
  if (op.relu) {
    pass.arguments.push_back(operand(5));
  }
  pass.arguments.push_back(result(0));
  if (op.addend) {
    pass.arguments.push_back(result(3));
  }
  return {{std::move(sums), std::move(settle), std::move(pass)}, factors + writer.channelCount() * 3 * 8};
}

} // namespace dfc::cuda
