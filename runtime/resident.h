// Resident values: what lies in the arenas before the first step. Constants come from the graph, parameters
// from their initialisers, which are drawn (ir/graph/initialise.h) or read from files.
#pragma once

#include "ir/plan/executable_parts.h"
#include "ir/plan/state/parameter_rows.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>

#include <optional>
#include <string>

namespace dfc {

/// The value of one part or copy, of type `own`, of a parameter of this value.
Literal valueOf(const ParameterPart& part, const TensorType& own, const Literal& whole);
/// The parameter's value from those of its parts.
Literal joined(const ParameterRow& row, llvm::function_ref<Literal(ValueId)> valueOfPart);

/// The value in the type of a replica: itself, or f32 rounded to f16 or bf16.
Literal roundedTo(const Literal& value, ElementType element);

/// A mistake where a copy in f16 of this parameter, named so in messages, would be infinite where it is
/// finite.
std::optional<Diagnostic> beyondCopy(const std::string& name, const Literal& whole, ElementType copy);

/// The first values of all constants and parameters, by value; replicas have their original's, rounded.
/// Errors: finite numbers that a parameter's or a replica's type makes infinite, and initialiser files that
/// are missing, damaged or of another type, all at once, each naming its parameter. Relative paths start at
/// `dataFolder`. None for `elsewhere`: parameters that have their values.
Result<llvm::DenseMap<ValueId, Literal>> residentValues(const PlacedGraph& placed,
                                                        const std::string& dataFolder,
                                                        const llvm::DenseSet<ValueId>& elsewhere = {});

/// Whether `given` fits the named parameters: unknown names (did you mean …), wrong types and shapes, all at
/// once. The names of parameters that passes derive are never unknown: a plan of other options may have them.
Diagnostics checkState(const std::vector<ParameterRow>& parameters, const NamedLiterals& given);
/// The same, and whether each that the author's graph has got a value.
Diagnostics checkWholeState(const std::vector<ParameterRow>& parameters, const NamedLiterals& given);

} // namespace dfc
