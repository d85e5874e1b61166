// Families of models over tokens: see model_families.h for what each is.
#pragma once

#include "tools/bench/graphs/families/family_model.h"

namespace dfc::bench {

/// RMS norms, rotary positions, grouped heads of keys, gated perceptrons (Touvron et al. 2023). Adam.
Result<Graph> llamaFamily(const FamilySizes& sizes);
/// Every expert computes every token; a softmax over the two likeliest weighs them.
Result<Graph> denseExpertsFamily(const FamilySizes& sizes);
/// A token goes to one expert, within its capacity, by one-hot products (Lepikhin et al. 2020).
Result<Graph> dispatchedExpertsFamily(const FamilySizes& sizes);
/// Low-rank adapters of a frozen transformer (Hu et al. 2021).
Result<Graph> adaptersFamily(const FamilySizes& sizes);
/// A transformer whose sizes are no multiples of anything.
Result<Graph> oddTransformerFamily(const FamilySizes& sizes);
/// Two layers of LSTM, unrolled (Hochreiter and Schmidhuber 1997).
Result<Graph> lstmFamily(const FamilySizes& sizes);

/// An encoder and a decoder with masks, dropout, smoothed labels, clipped gradients and an accuracy (Vaswani
/// et al. 2017).
Result<Graph> translationFamily(const FamilySizes& sizes);

} // namespace dfc::bench
