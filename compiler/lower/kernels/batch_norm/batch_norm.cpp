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
// not. `center`: the type in which the mean is subtracted.
GeneratedLaunch normalising(const ChannelLaunches& writer, const std::string& parameters,
                            std::string_view center, const std::string& mean, const std::string& variance,
                            double epsilon, Ending ending = {}) {
  const std::string normal =
      fmt::format("Real({}(valueOf(x.at[k])) - mean[c]) * inverse[c] * factor[c] + shift[c]", center);
  const std::string sum = ending.addend ? normal + " + Real(valueOf(z.at[k]))" : normal;
  return writer.pass(
      {parameters + (ending.addend ? ", const Element* addend" : ""),
       fmt::format("  {} mean[distinct];\n  Real inverse[distinct], factor[distinct], shift[distinct];\n",
                   center),
       fmt::format("    mean[k] = {};\n"
                   "    inverse[k] = Real(1.0 / sqrt({} + {}));\n"
                   "    factor[k] = Real(valueOf(scale[channel]));\n"
                   "    shift[k] = Real(valueOf(bias[channel]));\n",
                   mean, variance, epsilonText(epsilon)),
       ending.addend ? LoadList{{"x", "a"}, {"z", "addend"}} : LoadList{{"x", "a"}},
       ending.relu ? fmt::format("larger({}, Real(0))", sum) : sum});
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
  /// The pass that gives the gradient to a and, with `addend`, also g. `load`: code that sets the numbers of
  /// channel k: mean[k], ofG[k], the factor of g, ofA[k], the factor of a - mean, and the subtrahend rest[k].
  ChannelLaunches::Pass pass(const std::string& parameters, const std::string& load, bool addend) const {
    return {parameters + gated(),
            "  Real mean[distinct], ofG[distinct], ofA[distinct], rest[distinct];\n",
            load,
            loads(),
            g() + " * ofG[c] - (Real(valueOf(x.at[k])) - mean[c]) * ofA[c] - rest[c]",
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
  GeneratedLaunch launch =
      normalising(writer,
                  "const Element* a, const Vector* scale, const Vector* bias, const Vector* means, const "
                  "Vector* variances",
                  "Real", "Real(valueOf(means[channel]))", "f64(valueOf(variances[channel]))", op.epsilon);
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
      writer.settle("const Element* a, const f64* sums, f64* statistics, Vector* means, Vector* variances",
                    "  const f64 n = f64(outer * inner);\n  const f64 mean = " + first +
                        " + first / n;\n"
                        "  f64 variance = (second - first * first / n) / n;\n"
                        "  variance = variance < 0 ? 0 : variance;\n"
                        "  statistics[channel * 2] = mean;\n"
                        "  statistics[channel * 2 + 1] = variance;\n"
                        "  means[channel] = stored<Vector>(Real(mean));\n"
                        "  variances[channel] = stored<Vector>(Real(variance));\n");
  settle.arguments = {operand(0), workspace(0), workspace(statistics), result(1), result(2)};
  const bool addend = operands.size() == 4;
  GeneratedLaunch pass = normalising(
      writer, "const Element* a, const Vector* scale, const Vector* bias, const f64* statistics", "f64",
      "statistics[channel * 2]", "statistics[channel * 2 + 1]", op.epsilon, {op.relu, addend});
  pass.arguments = {operand(0), operand(1), operand(2), workspace(statistics)};
  if (addend) {
    pass.arguments.push_back(operand(3));
  }
  pass.arguments.push_back(result(0));
  return {{std::move(sums), std::move(settle), std::move(pass)}, statistics + writer.channelCount() * 2 * 8};
}

// The mean and the variance by sums about 0.
GeneratedKernels batchNormPassKernel(const ops::BatchNormPass& op, OperandTypes operands,
                                     const GpuShape& gpu) {
  const ChannelLaunches writer(operands[0], operands[1].element, op.axis, gpu);
  const std::string mean = fmt::format("(sums[channel] / {}.0)", op.count);
  GeneratedLaunch pass = normalising(
      writer, "const Element* a, const Vector* scale, const Vector* bias, const f64* sums", "f64", mean,
      fmt::format("notNegative(sums[channels + channel] / {}.0 - {} * {})", op.count, mean, mean), op.epsilon,
      {op.relu, operands.size() == 5});
  pass.code = "DFC_INLINE f64 notNegative(f64 a) { return a < 0 ? 0 : a; }\n" + pass.code;
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
  GeneratedLaunch pass = writer.pass(cotangents.pass(
      "const Element* a, const Vector* scale, const Vector* means, const Vector* variances, const Element* "
      "cotangent, const f64* sums",
      fmt::format("    const f64 root = 1 / sqrt(f64(valueOf(variances[channel])) + {});\n"
                  "    const f64 scaled = f64(valueOf(scale[channel])) * root;\n"
                  "    mean[k] = Real(valueOf(means[channel]));\n"
                  "    ofG[k] = Real(scaled);\n"
                  "    ofA[k] = Real(scaled * root * (sums[channels + channel] * root) / {}.0);\n"
                  "    rest[k] = Real(scaled * sums[channel] / {}.0);\n",
                  epsilonText(op.epsilon), op.count, op.count),
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
      "const Vector* scale, const Vector* variances, const f64* sums, f64* factors, "
      "Vector* ofScale, Vector* ofBias",
      "  const f64 n = f64(outer * inner);\n  const f64 root = 1 / sqrt(f64(valueOf(variances[channel])) + " +
          epsilonText(op.epsilon) +
          ");\n"
          "  const f64 factor = f64(valueOf(scale[channel])) * root;\n"
          "  factors[channel * 3] = factor;\n"
          "  factors[channel * 3 + 1] = factor * root * (second * root) / n;\n"
          "  factors[channel * 3 + 2] = factor * first / n;\n"
          "  ofScale[channel] = stored<Vector>(Real(second * root));\n"
          "  ofBias[channel] = stored<Vector>(Real(first));\n");
  settle.arguments = {operand(1), operand(3), workspace(0), workspace(factors), result(1), result(2)};
  GeneratedLaunch pass = writer.pass(
      cotangents.pass("const Element* a, const Vector* means, const Element* cotangent, const f64* factors",
                      "    mean[k] = Real(valueOf(means[channel]));\n"
                      "    ofG[k] = Real(factors[channel * 3]);\n"
                      "    ofA[k] = Real(factors[channel * 3 + 1]);\n"
                      "    rest[k] = Real(factors[channel * 3 + 2]);\n",
                      op.addend));
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
