// The first value of a parameter, by its initialiser. Element i is drawn from Philox block i of the seed,
// with nothing but +, -, *, / and sqrt, which IEEE 754 defines to the bit: a seed gives the same tensor
// anywhere.
#pragma once

#include "ir/graph/op.h"

namespace dfc {

/// The parameter's value before the first step. Asserts that it does not start from a file (the runtime reads
/// files) and that the parameter passed its type rule.
///
/// Uniform: from 53 random bits; where rounding to the element type would give the high end, the next 53 bits
/// are taken, and then the low end. Normal: the inverse of the distribution function at 52 random bits
/// (normalQuantile). Glorot and He: uniform or normal draws with the limit or deviation that the fans give.
Literal initialise(const ops::Parameter& parameter);

/// How many inputs one output of a layer sums up, and how many outputs one input reaches.
struct Fans {
  double in = 0, out = 0;
};
/// Fans of a layer's weights, by their rank. Rank 2 is the matrix of matmul, [in, out]. Rank 3 and above is
/// the filter of a convolution, [outChannels, inChannels / groups, window…]: both fans count every place of
/// the window. A stack of matrices, [count, in, out], is therefore taken for a filter: start it with uniform
/// or normal, or each matrix by itself. Asserts rank 2 or more.
Fans fansOf(const Shape& shape);

/// The x below which a standard normal number falls with probability `p`, 0 < p < 1, to about 1e-15 relative
/// (Wichura, Algorithm AS 241, Applied Statistics 37(3), 1988).
double normalQuantile(double p);

} // namespace dfc
