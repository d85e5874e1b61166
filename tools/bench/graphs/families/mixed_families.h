// Families whose parts share parameters, look rows up, or train against one another: see model_families.h for
// what each is.
#pragma once

#include "tools/bench/graphs/families/family_model.h"

namespace dfc::bench {

/// A decoder-only transformer whose table of embeddings is the weight of its last product, too (Radford et
/// al. 2019). Adam.
Result<Graph> tiedTransformerFamily(const FamilySizes& sizes);
/// A transformer that predicts an eighth of its positions, which are fed (Devlin et al. 2019).
Result<Graph> maskedTokensFamily(const FamilySizes& sizes);
/// Two layers of gated recurrent units, unrolled (Cho et al. 2014).
Result<Graph> gruFamily(const FamilySizes& sizes);
/// Message passing: `length` edges for each of `batch` nodes gather rows and add them up (Kipf and Welling
/// 2017). The edges are fed.
Result<Graph> messagePassingFamily(const FamilySizes& sizes);
/// A generator and a discriminator, each with its own loss and update, in one step (Goodfellow et al. 2014).
Result<Graph> adversarialFamily(const FamilySizes& sizes);
/// A small transformer learns the softened classes of a wide frozen one (Hinton et al. 2015).
Result<Graph> distillationFamily(const FamilySizes& sizes);
/// Gated running sums along the positions in place of attention, as linear state-space models have.
Result<Graph> runningSumsFamily(const FamilySizes& sizes);
/// A residual net with group norms (Wu and He 2018).
Result<Graph> groupNormFamily(const FamilySizes& sizes);

} // namespace dfc::bench
