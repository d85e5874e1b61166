// The table of the families. Full sizes: eight GPUs have some 8 x 1024 tokens or 64 images each.
#include "tools/bench/graphs/model_families.h"

#include "tools/bench/graphs/families/image_families.h"
#include "tools/bench/graphs/families/mixed_families.h"
#include "tools/bench/graphs/families/token_families.h"

namespace dfc::bench {
namespace {

// Name, builder, and {layers, width, batch, length}.
constexpr ModelFamily modelFamilyTable[] = {
    {"llama", llamaFamily, {6, 1024, 64, 1024}, {1, 64, 4, 16}},
    {"moe_dense", denseExpertsFamily, {3, 768, 64, 1024}, {1, 64, 4, 16}},
    {"moe_dispatch", dispatchedExpertsFamily, {4, 1024, 64, 1024}, {2, 64, 4, 16}},
    {"adapters", adaptersFamily, {6, 1024, 64, 1024}, {1, 64, 4, 16}},
    {"odd_transformer", oddTransformerFamily, {4, 770, 125, 509}, {1, 70, 5, 13}},
    {"lstm", lstmFamily, {2, 2048, 4096, 16}, {1, 16, 8, 4}},
    {"vgg", vggFamily, {4, 64, 512, 224}, {2, 8, 8, 16}},
    {"mobilenet", mobileNetFamily, {3, 32, 512, 224}, {1, 8, 8, 32}},
    {"unet", uNetFamily, {4, 64, 128, 256}, {2, 8, 8, 16}},
    {"diffusion", diffusionFamily, {3, 128, 256, 64}, {2, 8, 8, 16}},
    {"autoencoder", autoencoderFamily, {4, 64, 1024, 128}, {2, 8, 8, 16}},
    {"vit", vitFamily, {6, 768, 512, 224}, {1, 64, 8, 32}},
    {"mixer", mixerFamily, {6, 512, 512, 224}, {1, 64, 8, 32}},
    {"odd_perceptron", oddPerceptronFamily, {4, 3001, 30011, 311}, {2, 61, 17, 13}},
    {"odd_convolutions", oddConvolutionsFamily, {5, 67, 250, 187}, {2, 7, 9, 11}},
    {"two_heads", twoHeadsFamily, {6, 2048, 32768, 512}, {1, 64, 16, 8}},
    {"recommender", recommenderFamily, {3, 128, 262144, 100000}, {1, 8, 16, 100}},
    {"contrastive", contrastiveFamily, {4, 1024, 32768, 512}, {1, 64, 16, 8}},
    {"efficientnet", efficientNetFamily, {3, 32, 512, 224}, {1, 8, 8, 32}},
    {"wavenet", wavenetFamily, {16, 256, 128, 4096}, {2, 8, 8, 32}},
    {"tied", tiedTransformerFamily, {6, 768, 64, 1024}, {1, 64, 4, 16}},
    {"masked_tokens", maskedTokensFamily, {6, 768, 128, 512}, {1, 64, 4, 16}},
    {"gru", gruFamily, {2, 1024, 4096, 16}, {1, 16, 8, 4}},
    {"message_passing", messagePassingFamily, {4, 512, 131072, 8}, {2, 16, 16, 2}},
    {"adversarial", adversarialFamily, {4, 2048, 32768, 784}, {2, 16, 16, 8}},
    {"distillation", distillationFamily, {4, 2048, 32768, 784}, {2, 16, 16, 8}},
    {"running_sums", runningSumsFamily, {6, 768, 64, 1024}, {1, 16, 4, 8}},
    {"group_norm", groupNormFamily, {4, 64, 512, 224}, {2, 8, 8, 32}},
    {"translation", translationFamily, {4, 768, 128, 256}, {1, 64, 8, 16}},
};

} // namespace

llvm::ArrayRef<ModelFamily> modelFamilies() { return modelFamilyTable; }

} // namespace dfc::bench
