#include "runtime/cpu/kernels/channels/batch_norm.h"

#include "ir/base/assert.h"
#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/channels/channel_pass.h"
#include "runtime/cpu/kernels/channels/channel_sums.h"
#include "runtime/cpu/kernels/elementwise/elementwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace dfc {
namespace {

using Numbers = ChannelSums::Numbers;

size_t channelCount(const TensorType& a, int64_t axis) {
  return static_cast<size_t>(Channels(a.shape, axis).channels);
}

// y = (a - mean - low) factor + bias. The mean is split in two: `mean` is rounded, and `low` is the rounding
// error, which matters where a channel's mean is large beside its standard deviation.
// With an addend, and a relu at the end.
struct Ending {
  bool relu = false, addend = false;
};
std::string_view normalising(Ending ending) {
  if (ending.addend) {
    return ending.relu ? "sub:@ %0 %2; sub:@ %6 %3; mul:@ %7 %4; add:@ %8 %5; add:@ %9 %1; relu:@ %10"
                       : "sub:@ %0 %2; sub:@ %6 %3; mul:@ %7 %4; add:@ %8 %5; add:@ %9 %1";
  }
  return ending.relu ? "sub:@ %0 %1; sub:@ %5 %2; mul:@ %6 %3; add:@ %7 %4; relu:@ %8"
                     : "sub:@ %0 %1; sub:@ %5 %2; mul:@ %6 %3; add:@ %7 %4";
}

class Normaliser {
 public:
  Normaliser(const TensorType& a, int64_t axis, double epsilon, ThreadPool& pool, Ending ending = {})
      : pass_(normalising(ending), ending.addend ? 2 : 1, 4, a, axis, pool),
        wide_(a.element == ElementType::F64), epsilon_(epsilon) {}

  /// `tensors`: a, and the addend.
  void run(llvm::ArrayRef<const std::byte*> tensors, std::byte* result, const Numbers& mean,
           const Numbers& variance, const Numbers& scale, const Numbers& bias) {
    low_.resize(mean.size());
    factor_.resize(mean.size());
    for (size_t c = 0; c < mean.size(); ++c) {
      low_[c] =
          wide_ || !std::isfinite(mean[c]) ? 0 : mean[c] - static_cast<double>(static_cast<float>(mean[c]));
      factor_[c] = scale[c] / std::sqrt(variance[c] + epsilon_);
    }
    pass_.set(0, mean);
    pass_.set(1, low_);
    pass_.set(2, factor_);
    pass_.set(3, bias);
    pass_.run(tensors, result);
  }

 private:
  ChannelPass pass_;
  bool wide_;
  double epsilon_;
  Numbers low_, factor_;
};

// Numbers for each channel that a kernel was given.
class GivenVectors {
 public:
  GivenVectors(ElementType type, size_t channels, size_t count)
      : type_(type), vectors_(count, Numbers(channels)) {}
  void read(llvm::ArrayRef<const std::byte*> from) {
    for (size_t i = 0; i < vectors_.size(); ++i) {
      readVector(type_, from[i], vectors_[i]);
    }
  }
  const Numbers& operator[](size_t index) const { return vectors_[index]; }

 private:
  ElementType type_;
  std::vector<Numbers> vectors_;
};

class BatchNormKernel final : public CpuKernel {
 public:
  BatchNormKernel(const ops::BatchNorm& op, OperandTypes types, ThreadPool& pool)
      : given_(types[1].element, channelCount(types[0], op.axis), 4),
        normaliser_(types[0], op.axis, op.epsilon, pool) {}
  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    given_.read(operands.drop_front());
    normaliser_.run(operands[0], results[0], given_[2], given_[3], given_[0], given_[1]);
  }

 private:
  GivenVectors given_;
  Normaliser normaliser_;
};

class BatchNormTrainingKernel final : public CpuKernel {
 public:
  BatchNormTrainingKernel(const ops::BatchNormTraining& op, OperandTypes types, ThreadPool& pool)
      : type_(types[1].element), given_(type_, channelCount(types[0], op.axis), 2),
        sums_(types[0], op.axis, pool),
        normaliser_(types[0], op.axis, op.epsilon, pool, {op.relu, types.size() == 4}) {}
  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    given_.read(operands.drop_front());
    sums_.means(operands[0], mean_);
    sums_.variances(operands[0], mean_, variance_);
    llvm::SmallVector<const std::byte*, 2> tensors = {operands[0]};
    tensors.append(operands.begin() + 3, operands.end());
    normaliser_.run(tensors, results[0], mean_, variance_, given_[0], given_[1]);
    writeVector(type_, mean_, results[1]);
    writeVector(type_, variance_, results[2]);
  }

 private:
  ElementType type_;
  GivenVectors given_;
  ChannelSums sums_;
  Normaliser normaliser_;
  Numbers mean_, variance_;
};

// g ofG - (a - mean) ofA - rest, with d = (a - mean) r: ofG = scale r, ofA = ofG r sum(g d) / n, and
// rest = ofG sum(g) / n.
constexpr std::string_view differentiating =
    "sub:@ %0 %2; mul:@ %6 %3; mul:@ %1 %4; sub:@ %8 %7; sub:@ %9 %5";

// The cotangent of a relu's operand, by the relu's result, which is not negative: select takes the element
// where its first operand is not 0.
class ReluGate {
 public:
  ReluGate(const TensorType& a, bool ownBuffer, ThreadPool& pool)
      : buffer_(ownBuffer ? static_cast<size_t>(a.bytes()) : 0) {
    ops::Fused fused;
    const auto positive = static_cast<uint8_t>(Direction::Gt);
    fused.body.instructions.push_back({OpKind::Compare, positive, ElementType::Bool, {0, 2}});
    fused.body.instructions.push_back({OpKind::Select, 0, a.element, {3, 1, 2}});
    kernel_ = makeElementwiseKernel(fused, {a, a, {a.element, Shape{}}}, a, pool);
  }
  const std::byte* run(const std::byte* result, const std::byte* cotangent, std::byte* to) {
    alignas(64) static constexpr std::array<std::byte, 64> zero{}; // as every buffer of a kernel
    to = to != nullptr ? to : buffer_.data();
    kernel_->run({result, cotangent, zero.data()}, to);
    return to;
  }

 private:
  AlignedBuffer buffer_;
  std::unique_ptr<CpuKernel> kernel_;
};

// The gradient to a norm's operand, and to its addend, once the sums are known.
class GradientPass {
 public:
  /// `Op`: with epsilon, axis, relu and addend.
  template <class Op>
  GradientPass(const Op& op, const TensorType& a, ThreadPool& pool)
      : epsilon_(op.epsilon), pass_(differentiating, 2, 4, a, op.axis, pool), bytes_(a.bytes()) {
    if (op.relu) {
      gate_.emplace(a, !op.addend, pool);
    }
  }

  /// The cotangent behind the relu whose result `gates` is; `ofAddend`, where it is wanted, is that.
  const std::byte* gated(const std::byte* cotangent, const std::byte* gates, std::byte* ofAddend) {
    if (gate_) {
      return gate_->run(gates, cotangent, ofAddend);
    }
    if (ofAddend != nullptr) {
      std::memcpy(ofAddend, cotangent, static_cast<size_t>(bytes_));
    }
    return cotangent;
  }

  /// `ofProducts`: sum(g (a - mean)) of n elements.
  void run(const std::byte* a, const std::byte* g, std::byte* result, const Numbers& scale,
           const Numbers& mean, const Numbers& variance, const Numbers& ofG, const Numbers& ofProducts,
           double n) {
    factor_.resize(mean.size());
    ofA_.resize(mean.size());
    rest_.resize(mean.size());
    for (size_t c = 0; c < mean.size(); ++c) {
      const double root = 1 / std::sqrt(variance[c] + epsilon_);
      factor_[c] = scale[c] * root;
      ofA_[c] = factor_[c] * root * (ofProducts[c] * root) / n;
      rest_[c] = factor_[c] * ofG[c] / n;
    }
    pass_.set(0, mean);
    pass_.set(1, ofA_);
    pass_.set(2, factor_);
    pass_.set(3, rest_);
    pass_.run({a, g}, result);
  }

 private:
  double epsilon_;
  ChannelPass pass_;
  int64_t bytes_;
  std::optional<ReluGate> gate_;
  Numbers factor_, ofA_, rest_;
};

class BatchNormGradientKernel final : public CpuKernel {
 public:
  BatchNormGradientKernel(const ops::BatchNormGradient& op, OperandTypes types, ThreadPool& pool)
      : type_(types[1].element), epsilon_(op.epsilon), given_(type_, channelCount(types[0], op.axis), 3),
        sums_(types[0], op.axis, pool), pass_(op, types[0], pool) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    const std::byte* gates = operands.size() == 6 ? operands[5] : nullptr;
    const std::byte* g = pass_.gated(operands[4], gates, results.size() == 4 ? results[3] : nullptr);
    given_.read(operands.slice(1, 3));
    const Numbers &scale = given_[0], &mean = given_[1], &variance = given_[2];
    sums_.products(operands[0], g, mean, ofBias_, ofScale_);
    pass_.run(operands[0], g, results[0], scale, mean, variance, ofBias_, ofScale_,
              static_cast<double>(sums_.channels().elements()));
    for (size_t c = 0; c < mean.size(); ++c) {
      ofScale_[c] /= std::sqrt(variance[c] + epsilon_);
    }
    writeVector(type_, ofScale_, results[1]);
    writeVector(type_, ofBias_, results[2]);
  }

 private:
  ElementType type_;
  double epsilon_;
  GivenVectors given_;
  ChannelSums sums_;
  GradientPass pass_;
  Numbers ofScale_, ofBias_;
};

// Sums of channels that a kernel was given, [2, channels] in f64.
void readSums(const std::byte* from, size_t channels, Numbers& first, Numbers& second) {
  const auto* numbers = reinterpret_cast<const double*>(from);
  first.assign(numbers, numbers + channels);
  second.assign(numbers + channels, numbers + 2 * channels);
}

class BatchNormPassKernel final : public CpuKernel {
 public:
  BatchNormPassKernel(const ops::BatchNormPass& op, OperandTypes types, ThreadPool& pool)
      : count_(static_cast<double>(op.count)), channels_(channelCount(types[0], op.axis)),
        given_(types[1].element, channels_, 2),
        normaliser_(types[0], op.axis, op.epsilon, pool, {op.relu, types.size() == 5}) {}
  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    given_.read(operands.slice(1, 2));
    readSums(operands[3], channels_, mean_, variance_);
    for (size_t c = 0; c < channels_; ++c) {
      mean_[c] /= count_;
      variance_[c] = variance_[c] / count_ - mean_[c] * mean_[c];
      variance_[c] = variance_[c] < 0 ? 0 : variance_[c];
    }
    llvm::SmallVector<const std::byte*, 2> tensors = {operands[0]};
    tensors.append(operands.begin() + 4, operands.end());
    normaliser_.run(tensors, results[0], mean_, variance_, given_[0], given_[1]);
  }

 private:
  double count_;
  size_t channels_;
  GivenVectors given_;
  Normaliser normaliser_;
  Numbers mean_, variance_;
};

class BatchNormGradientPassKernel final : public CpuKernel {
 public:
  BatchNormGradientPassKernel(const ops::BatchNormGradientPass& op, OperandTypes types, ThreadPool& pool)
      : count_(static_cast<double>(op.count)), channels_(channelCount(types[0], op.axis)),
        given_(types[1].element, channels_, 3), pass_(op, types[0], pool) {}
  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    const std::byte* gates = operands.size() == 7 ? operands[6] : nullptr;
    const std::byte* g = pass_.gated(operands[4], gates, results.size() == 2 ? results[1] : nullptr);
    given_.read(operands.slice(1, 3));
    readSums(operands[5], channels_, ofG_, ofProducts_);
    pass_.run(operands[0], g, results[0], given_[0], given_[1], given_[2], ofG_, ofProducts_, count_);
  }

 private:
  double count_;
  size_t channels_;
  GivenVectors given_;
  GradientPass pass_;
  Numbers ofG_, ofProducts_;
};

class BatchNormSumsKernel final : public CpuKernel {
 public:
  BatchNormSumsKernel(const ops::BatchNormSums& op, OperandTypes types, ThreadPool& pool)
      : given_(types.size() == 1 ? ElementType::F64 : types[1].element, channelCount(types[0], op.axis), 1),
        sums_(types[0], op.axis, pool) {
    if (op.relu) {
      gate_.emplace(types[0], /*ownBuffer=*/true, pool);
    }
  }
  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    if (operands.size() == 1) {
      sums_.squares(operands[0], first_, second_);
    } else {
      given_.read(operands.slice(1, 1));
      const std::byte* cotangent = gate_ ? gate_->run(operands[3], operands[2], nullptr) : operands[2];
      sums_.products(operands[0], cotangent, given_[0], first_, second_);
    }
    auto* to = reinterpret_cast<double*>(results[0]);
    std::copy(first_.begin(), first_.end(), to);
    std::copy(second_.begin(), second_.end(), to + first_.size());
  }

 private:
  GivenVectors given_; ///< the means
  ChannelSums sums_;
  std::optional<ReluGate> gate_;
  Numbers first_, second_;
};

} // namespace

std::unique_ptr<CpuKernel> makeBatchNormKernel(const ops::BatchNorm& op, OperandTypes operands,
                                               ThreadPool& pool) {
  return std::make_unique<BatchNormKernel>(op, operands, pool);
}

std::unique_ptr<CpuKernel> makeBatchNormTrainingKernel(const ops::BatchNormTraining& op,
                                                       OperandTypes operands, ThreadPool& pool) {
  return std::make_unique<BatchNormTrainingKernel>(op, operands, pool);
}

std::unique_ptr<CpuKernel> makeBatchNormGradientKernel(const ops::BatchNormGradient& op,
                                                       OperandTypes operands, ThreadPool& pool) {
  return std::make_unique<BatchNormGradientKernel>(op, operands, pool);
}

std::unique_ptr<CpuKernel> makeBatchNormPassKernel(const ops::BatchNormPass& op, OperandTypes operands,
                                                   ThreadPool& pool) {
  return std::make_unique<BatchNormPassKernel>(op, operands, pool);
}

std::unique_ptr<CpuKernel> makeBatchNormGradientPassKernel(const ops::BatchNormGradientPass& op,
                                                           OperandTypes operands, ThreadPool& pool) {
  return std::make_unique<BatchNormGradientPassKernel>(op, operands, pool);
}

std::unique_ptr<CpuKernel> makeBatchNormSumsKernel(const ops::BatchNormSums& op, OperandTypes operands,
                                                   ThreadPool& pool) {
  return std::make_unique<BatchNormSumsKernel>(op, operands, pool);
}

} // namespace dfc
