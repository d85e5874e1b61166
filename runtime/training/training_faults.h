// What is wrong with a training before its first step, and with its parameters later.
#pragma once

#include "runtime/training/trainer.h"

namespace dfc {

/// Names of the fetches with one element.
std::vector<std::string> scalarFetches(const Session& session);

/// Numbers out of range; labels and indices out of range in a data set; an evaluation that lacks parameters,
/// or changes those of floats; a best checkpoint by what is no scalar fetch of the evaluation.
Diagnostics optionFaults(const Session& training, const TrainingOptions& options);

/// The rows that the next step takes must be those that the interrupted training would have taken.
Diagnostics orderFaults(const TrainingState& saved, const TrainingOptions& options);

/// Parameters that hold NaN, from which no training recovers. Infinite ones are no fault: masks hold them.
/// `checkpoint`: the file that is not replaced; "" for none.
Diagnostics nanFaults(const NamedLiterals& parameters, const std::string& checkpoint, int64_t step);

/// Of the first scalar that is not finite, a loss more often than not; none if all are finite.
std::optional<Diagnostic> scalarFault(const NamedLiterals& results, int64_t step);

/// Whether a step changes a parameter of floats. A graph that changes none may give infinities on purpose.
bool changesFloats(const Session& session);

} // namespace dfc
