// Families of models over images, and perceptrons: see model_families.cpp for their sizes.
#pragma once

#include "tools/bench/graphs/families/family_model.h"

namespace dfc::bench {

/// Convolutions, max pools and two dense layers with dropout, without norms (Simonyan and Zisserman 2014).
Result<Graph> vggFamily(const FamilySizes& sizes);
/// Inverted residuals of depthwise convolutions with batch norms (Sandler et al. 2018).
Result<Graph> mobileNetFamily(const FamilySizes& sizes);
/// Segmentation: batch norms, four levels, skip connections by concatenation (Ronneberger et al. 2015).
Result<Graph> uNetFamily(const FamilySizes& sizes);
/// The denoiser of a diffusion model: a U-Net with group norms, a time embedding and a mean squared error.
Result<Graph> diffusionFamily(const FamilySizes& sizes);
/// Strided convolutions, a bottleneck, and transposed convolutions.
Result<Graph> autoencoderFamily(const FamilySizes& sizes);
/// A vision transformer (Dosovitskiy et al. 2020).
Result<Graph> vitFamily(const FamilySizes& sizes);
/// An MLP-mixer (Tolstikhin et al. 2021).
Result<Graph> mixerFamily(const FamilySizes& sizes);
/// A perceptron with sizes that are no multiples of anything, and 77 classes.
Result<Graph> oddPerceptronFamily(const FamilySizes& sizes);
/// Convolutions on odd images with odd channels, and 77 classes.
Result<Graph> oddConvolutionsFamily(const FamilySizes& sizes);
/// A trunk with two heads: classes and a regression, and a penalty of the weights in the loss.
Result<Graph> twoHeadsFamily(const FamilySizes& sizes);
/// Tables of categories beside dense features, and a perceptron over their products (Naumov et al. 2019).
Result<Graph> recommenderFamily(const FamilySizes& sizes);

/// Two towers whose rows of a batch are told apart by one another's products (Radford et al. 2021).
Result<Graph> contrastiveFamily(const FamilySizes& sizes);
/// Inverted residuals with squeeze-and-excitation and silu (Tan and Le 2019).
Result<Graph> efficientNetFamily(const FamilySizes& sizes);
/// Dilated causal convolutions over samples, with gates and skip connections (van den Oord et al. 2016).
Result<Graph> wavenetFamily(const FamilySizes& sizes);

} // namespace dfc::bench
