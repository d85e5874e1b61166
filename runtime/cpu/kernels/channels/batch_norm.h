// Kernels of batch normalisation: sums of channels carried in f64, then one elementwise pass with a few
// numbers for each channel, by the engine of fused bodies. oneDNN is not used: for dense channels it has
// plain loops, it carries sums in f32 and it has no f64.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

std::unique_ptr<CpuKernel> makeBatchNormKernel(const ops::BatchNorm& op, OperandTypes operands,
                                               ThreadPool& pool);
std::unique_ptr<CpuKernel> makeBatchNormTrainingKernel(const ops::BatchNormTraining& op,
                                                       OperandTypes operands, ThreadPool& pool);
std::unique_ptr<CpuKernel> makeBatchNormGradientKernel(const ops::BatchNormGradient& op,
                                                       OperandTypes operands, ThreadPool& pool);
std::unique_ptr<CpuKernel> makeBatchNormPassKernel(const ops::BatchNormPass& op, OperandTypes operands,
                                                   ThreadPool& pool);
std::unique_ptr<CpuKernel> makeBatchNormGradientPassKernel(const ops::BatchNormGradientPass& op,
                                                           OperandTypes operands, ThreadPool& pool);
std::unique_ptr<CpuKernel> makeBatchNormSumsKernel(const ops::BatchNormSums& op, OperandTypes operands,
                                                   ThreadPool& pool);

} // namespace dfc
