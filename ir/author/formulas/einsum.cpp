#include "ir/author/formulas/einsum.h"

#include "ir/author/composites.h"
#include "ir/author/dsl.h"
#include "ir/author/formulas/einsum_terms.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cctype>

namespace dfc {
namespace {

using notation::EinsumFault;
using notation::has;
using notation::Letters;
using notation::Terms;

/// A tensor, and a letter for each of its axes.
struct Named {
  Tensor tensor;
  Letters letters;

  int64_t length(char letter) const {
    return has(letters, letter) ? tensor.shape()[letters.find(letter)] : 1;
  }
};

/// The diagonal of two axes that share a letter: off-diagonal elements are masked, one axis is summed.
Tensor diagonal(Builder& builder, Tensor a, size_t first, size_t second) {
  if (a.shape()[first] != a.shape()[second]) {
    throw EinsumFault{fmt::format("one letter for axes of {} and {}", a.shape()[first], a.shape()[second])};
  }
  const auto index = [&](size_t axis) {
    Dims line(a.shape().rank(), 1);
    line[axis] = a.shape()[axis];
    return iota(builder, i64(Shape(line)), static_cast<int64_t>(axis));
  };
  const Tensor on = compare(index(first), index(second), Direction::Eq);
  return reduceSum(select(on, a, 0), {static_cast<int64_t>(second)});
}

void takeDiagonals(Builder& builder, Named& a) {
  for (size_t i = 0; i < a.letters.size(); ++i) {
    for (size_t again = a.letters.find(a.letters[i], i + 1); again != Letters::npos;
         again = a.letters.find(a.letters[i], i + 1)) {
      a.tensor = diagonal(builder, a.tensor, i, again);
      a.letters.erase(again, 1);
    }
  }
}

/// `a` with an axis for each letter of `all`, of length 1 where it lacks the letter.
Tensor spread(const Named& a, const Letters& all) {
  Dims order, dims;
  for (const char letter : all) {
    if (has(a.letters, letter)) {
      order.push_back(static_cast<int64_t>(a.letters.find(letter)));
    }
    dims.push_back(a.length(letter));
  }
  const Tensor ordered =
      std::is_sorted(order.begin(), order.end()) ? a.tensor : transpose(a.tensor, std::move(order));
  return ordered.shape() == Shape(dims) ? ordered : reshape(ordered, dims);
}

/// Without the axes whose letters nothing else has.
Named summedOver(Named a, const Letters& needed) {
  Dims gone;
  Letters left;
  for (size_t i = 0; i < a.letters.size(); ++i) {
    if (has(needed, a.letters[i])) {
      left += a.letters[i];
    } else {
      gone.push_back(static_cast<int64_t>(i));
    }
  }
  return gone.empty() ? a : Named{reduceSum(a.tensor, gone), left};
}

Letters together(Letters a, const Letters& b) {
  for (const char letter : b) {
    if (!has(a, letter)) {
      a += letter;
    }
  }
  return a;
}

/// The letters of two operands by what becomes of them.
struct Roles {
  Letters batch, rows, columns, summed; ///< of both and needed, of a, of b, of both and not needed
};

Roles rolesOf(const Named& a, const Named& b, const Letters& needed) {
  Roles roles;
  for (const char letter : a.letters) {
    (has(b.letters, letter) ? (has(needed, letter) ? roles.batch : roles.summed) : roles.rows) += letter;
  }
  for (const char letter : b.letters) {
    if (!has(a.letters, letter)) {
      roles.columns += letter;
    }
  }
  return roles;
}

int64_t product(const Named& a, const Letters& letters) {
  int64_t elements = 1;
  for (const char letter : letters) {
    elements *= a.length(letter);
  }
  return elements;
}

/// As a matrix for each element of the batch.
Tensor matrices(const Named& a, const Letters& batch, const Letters& first, const Letters& second) {
  Dims dims;
  for (const char letter : batch) {
    dims.push_back(a.length(letter));
  }
  dims.push_back(product(a, first));
  dims.push_back(product(a, second));
  const Tensor ordered = spread(a, batch + first + second);
  return ordered.shape() == Shape(dims) ? ordered : reshape(ordered, dims);
}

bool fitsMatmul(const Named& a, const Named& b, const Roles& roles) {
  const bool even =
      llvm::all_of(roles.summed, [&](char letter) { return a.length(letter) == b.length(letter); });
  return even && !roles.summed.empty() && a.tensor.type().element != ElementType::Bool &&
         roles.batch.size() + 2 <= Shape::maxRank;
}

Named multiplied(const Named& a, const Named& b, const Letters& needed) {
  const Roles roles = rolesOf(a, b, needed);
  const Letters all = roles.batch + roles.rows + roles.columns;
  if (!fitsMatmul(a, b, roles)) {
    const Letters wide = all + roles.summed;
    return summedOver({spread(a, wide) * spread(b, wide), wide}, needed);
  }
  const Tensor both = matmul(matrices(a, roles.batch, roles.rows, roles.summed),
                             matrices(b, roles.batch, roles.summed, roles.columns));
  Dims dims;
  for (const char letter : all) {
    dims.push_back(a.length(letter) == 1 ? b.length(letter) : a.length(letter));
  }
  return {both.valid() && both.shape() != Shape(dims) ? reshape(both, dims) : both, all};
}

/// A letter has one length, or 1.
void checkLengths(const std::vector<Named>& operands) {
  for (const Named& a : operands) {
    for (const char letter : a.letters) {
      for (const Named& b : operands) {
        const int64_t first = a.length(letter), second = b.length(letter);
        if (first != second && first != 1 && second != 1) {
          throw EinsumFault{std::isalpha(static_cast<unsigned char>(letter)) != 0
                                ? fmt::format("axes of {} and {} for the letter '{}'", first, second, letter)
                                : fmt::format("axes of {} and {} among those of '...'", first, second)};
        }
      }
    }
  }
}

Tensor contracted(Builder& builder, const Terms& terms, const std::vector<Tensor>& tensors) {
  std::vector<Named> operands;
  for (size_t i = 0; i < tensors.size(); ++i) {
    operands.push_back({tensors[i], terms.operands[i]});
    takeDiagonals(builder, operands.back());
  }
  checkLengths(operands);
  const auto needed = [&](size_t behind) { // by the result and the operands from here on
    Letters letters = terms.result;
    for (size_t i = behind; i < operands.size(); ++i) {
      letters = together(letters, operands[i].letters);
    }
    return letters;
  };
  Named all = summedOver(operands[0], needed(1));
  for (size_t i = 1; i < operands.size(); ++i) {
    const Named next = summedOver(operands[i], together(needed(i + 1), all.letters));
    all = multiplied(all, next, needed(i + 1));
  }
  return spread(summedOver(all, terms.result), terms.result);
}

} // namespace

Tensor einsumOrFault(Builder& builder, std::string_view equation, const std::vector<Tensor>& operands,
                     std::string& fault) {
  try {
    return contracted(builder, notation::termsOf(equation, operands), operands);
  } catch (const EinsumFault& mistake) {
    fault = mistake.message;
    return {};
  }
}

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, std::source_location where) {
  Builder* const builder = operands.empty() ? nullptr : operands.front().builder();
  const auto known = [](const Tensor& one) { return one.valid(); };
  if (builder == nullptr || !llvm::all_of(operands, known)) {
    return builder == nullptr ? Tensor() : Tensor(builder, {});
  }
  const auto place = builder->at(builder->locate(where));
  std::string fault;
  const Tensor result = einsumOrFault(*builder, equation, operands, fault);
  if (!fault.empty()) {
    builder->report(where, fmt::format("einsum \"{}\": {}", equation, fault),
                    "a term names each axis of its operand by a letter, '...' the others: \"bij,bjk->bik\"");
    return {builder, {}};
  }
  return result;
}

} // namespace dfc
