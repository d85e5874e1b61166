// See foreign_words.h.
#include "ir/author/text/foreign_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace dfc::text {
namespace {

constexpr size_t longestWord = 64;

struct ForeignOp {
  std::string_view word; ///< as `plain` gives it
  std::string_view op;
  std::string_view form; ///< how it is written, where the op's name alone does not say it
};

constexpr std::string_view overAxes = "(x), or of some axes with axes=[0, 1]";

constexpr ForeignOp foreignOps[] = {
    {"mean", "reduceMean", overAxes},
    {"avg", "reduceMean", overAxes},
    {"average", "reduceMean", overAxes},
    {"sum", "reduceSum", overAxes},
    {"prod", "reduceProduct", overAxes},
    {"product", "reduceProduct", overAxes},
    {"reduceprod", "reduceProduct", overAxes},
    {"amax", "reduceMax", overAxes},
    {"amin", "reduceMin", overAxes},
    {"dot", "matmul", ""},
    {"mm", "matmul", ""},
    {"bmm", "matmul", ""},
    {"gemm", "matmul", "(a, b) + c"},
    {"linear", "matmul", "(x, w) + b"},
    {"dense", "matmul", "(x, w) + b"},
    {"plus", "add", ""},
    {"subtract", "sub", ""},
    {"minus", "sub", ""},
    {"multiply", "mul", ""},
    {"times", "mul", ""},
    {"square", "mul", "(x, x)"},
    {"divide", "div", ""},
    {"power", "pow", ""},
    {"maximum", "max", ""},
    {"minimum", "min", ""},
    {"negative", "neg", ""},
    {"swish", "silu", ""},
    {"equal", "compare", "(a, b, direction=eq)"},
    {"less", "compare", "(a, b, direction=lt)"},
    {"greater", "compare", "(a, b, direction=gt)"},
    {"where", "select", ""},
    {"astype", "cast", "(x, to=f32)"},
    {"convert", "cast", "(x, to=f32)"},
    {"crossentropy", "softmaxCrossEntropy", ""},
    {"crossentropyloss", "softmaxCrossEntropy", ""},
    {"batchnormalization", "batchNorm", ""},
    {"layernormalization", "layerNorm", ""},
    {"conv", "conv2d", ""},
    {"convolution", "conv2d", ""},
    {"maxpool2d", "maxPool", ""},
    {"avgpool", "averagePool", ""},
    {"avgpool2d", "averagePool", ""},
    {"permute", "transpose", ""},
    {"view", "reshape", ""},
    {"flatten", "reshape", ""},
    {"expand", "broadcast", ""},
    {"broadcastto", "broadcast", ""},
    {"cat", "concat", ""},
    {"concatenate", "concat", ""},
    {"repeat", "tile", ""},
    {"shard", "cut", ""},
    {"withshardingconstraint", "cut", ""},
    {"take", "gather", ""},
    {"arange", "iota", ""},
    {"narrow", "dynamicSlice", ""},
    {"rand", "randomUniform", ""},
    {"grad", "gradients", "(loss, w, b)"},
    {"gradient", "gradients", "(loss, w, b)"},
    {"backward", "gradients", "(loss, w, b)"},
    {"detach", "stopGradient", ""},
};

struct ForeignType {
  std::string_view word;
  ElementType type;
};

constexpr ForeignType foreignTypes[] = {
    {"float32", ElementType::F32}, {"float", ElementType::F32},     {"single", ElementType::F32},
    {"fp32", ElementType::F32},    {"float64", ElementType::F64},   {"double", ElementType::F64},
    {"fp64", ElementType::F64},    {"float16", ElementType::F16},   {"half", ElementType::F16},
    {"fp16", ElementType::F16},    {"bfloat16", ElementType::BF16}, {"int32", ElementType::I32},
    {"int", ElementType::I32},     {"int64", ElementType::I64},     {"long", ElementType::I64},
    {"uint8", ElementType::U8},    {"byte", ElementType::U8},       {"boolean", ElementType::Bool},
};

/// Small letters only, without '_': how frameworks spell one name differs in these.
std::string plain(std::string_view word) {
  std::string result;
  for (const char letter : word) {
    if (letter != '_') {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
  }
  return result;
}

} // namespace

std::string hintForForeignOp(std::string_view word, const std::vector<std::string>& ops) {
  if (word.size() > longestWord) {
    return "";
  }
  const std::string wanted = plain(word);
  const auto same =
      std::find_if(ops.begin(), ops.end(), [&](const std::string& op) { return plain(op) == wanted; });
  if (same != ops.end()) {
    return fmt::format("did you mean '{}'?", *same);
  }
  const auto* row = std::find_if(std::begin(foreignOps), std::end(foreignOps),
                                 [&](const ForeignOp& foreign) { return foreign.word == wanted; });
  if (row == std::end(foreignOps)) {
    return "";
  }
  return row->form.empty() ? fmt::format("here it is '{}'", row->op)
                           : fmt::format("here it is '{}': {}{}", row->op, row->op, row->form);
}

std::optional<ElementType> foreignElementType(std::string_view word) {
  const std::string wanted = word.size() > longestWord ? "" : plain(word);
  const auto* row = std::find_if(std::begin(foreignTypes), std::end(foreignTypes),
                                 [&](const ForeignType& foreign) { return foreign.word == wanted; });
  return row == std::end(foreignTypes) ? std::nullopt : std::optional(row->type);
}

std::string hintForCharacter(char character) {
  switch (character) {
  case '@': return "a product of matrices is matmul(a, b); a device stands behind the op: on gpu0";
  case ';': return "write each statement on a line of its own";
  case '^': return "a power is pow(a, b)";
  case '%': return "there is no remainder; a - b * floor(a / b) is one";
  case '&': return "write and(a, b)";
  case '|': return "write or(a, b)";
  case '~':
  case '!': return "write not(a)";
  case '<':
  case '>': return "write compare(a, b, direction=lt); the directions are eq, ne, lt, le, gt, ge";
  default: return "";
  }
}

std::string hintAfterStatement(std::string_view word) {
  if (word == "pin" || word == "device" || word == "at" || word == "to") {
    return "a device stands behind the op as: on gpu0";
  }
  if (word == "[") {
    return "a part of a value is slice(x, starts=[0], ends=[2]); rows by their numbers are gather(x, ids)";
  }
  if (word == ",") {
    return "give each a line of its own";
  }
  return word == "scope" ? "a scope is a block around its statements: scope \"net\" { … }" : "";
}

std::vector<std::string_view> opsOfForeignWords() {
  std::vector<std::string_view> ops;
  for (const ForeignOp& row : foreignOps) {
    ops.push_back(row.op);
  }
  return ops;
}

} // namespace dfc::text
