// Elementwise ops as instructions of fused bodies and back: which of an op's attributes its kind and the type
// of its result do not say (the variant), and how it is named. All that fuses ops or runs one as a body of
// its own asks here.
#pragma once

#include "ir/graph/op.h"

namespace dfc {

/// The names of the variants of a kind, by number: the directions of compare, the approximations of gelu;
/// none for kinds without.
llvm::ArrayRef<std::string_view> variantNames(OpKind kind);

/// Which variant an op is; 0 for kinds without.
uint8_t variantOf(const OpAttributes& attributes);

/// The elementwise op as an instruction that writes `result`; its inputs are still to be given.
ops::FusedInstruction instructionOf(const OpAttributes& attributes, ElementType result);

/// The op as a body of its own, over `operands` operands.
ops::FusedBody bodyOfOne(const OpAttributes& attributes, size_t operands, ElementType result);

/// The op that an instruction stands for. A variant that does not exist gives an op that its rule refuses.
OpAttributes opOf(const ops::FusedInstruction& instruction);

} // namespace dfc
