// ONNX's Einsum as a broadcast product: every letter is an axis, those that the result lacks are summed.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace dfc::onnx {
namespace {

/// An operand or the result: a letter an axis. The axes that "..." stands for are '0' for the last, '1', …
using Letters = std::string;

Letters lettersOf(const NodeCall& call, std::string term, size_t rank) {
  term.erase(std::remove(term.begin(), term.end(), ' '), term.end());
  const std::string given = term;
  const size_t dots = term.find("...");
  if (dots != Letters::npos && term.size() - 3 <= rank) {
    Letters unnamed;
    for (size_t i = rank - (term.size() - 3); i-- > 0;) {
      unnamed += static_cast<char>('0' + i);
    }
    term.replace(dots, 3, unnamed);
  }
  const bool letters = std::all_of(
      term.begin(), term.end(), [](unsigned char c) { return std::isalpha(c) != 0 || std::isdigit(c) != 0; });
  if (!letters || given.find_first_of("0123456789") != std::string::npos || term.size() != rank) {
    call.refuse(fmt::format("the term '{}' for {} axes", given.substr(0, 100), rank));
  }
  return term;
}

// Of two axes with one letter the diagonal, as the sum of what a mask leaves.
Tensor diagonal(NodeCall& call, Tensor a, size_t first, size_t second) {
  if (a.shape()[first] != a.shape()[second]) {
    call.refuse(fmt::format("one letter for axes of {} and {}", a.shape()[first], a.shape()[second]));
  }
  const auto index = [&](size_t axis) {
    Dims line(a.shape().rank(), 1);
    line[axis] = a.shape()[axis];
    return iota(call.builder(), i64(Shape(line)), static_cast<int64_t>(axis));
  };
  const Tensor on = compare(index(first), index(second), Direction::Eq);
  return reduceSum(select(on, a, 0), {static_cast<int64_t>(second)});
}

void takeDiagonals(NodeCall& call, Tensor& a, Letters& letters) {
  for (size_t i = 0; i < letters.size(); ++i) {
    for (size_t again = letters.find(letters[i], i + 1); again != Letters::npos;
         again = letters.find(letters[i], i + 1)) {
      a = diagonal(call, a, i, again);
      letters.erase(again, 1);
    }
  }
}

// `a` with an axis for each letter of `all`, of length 1 where it lacks the letter.
Tensor spread(Tensor a, const Letters& letters, const Letters& all) {
  Dims order, dims;
  for (const char letter : all) {
    const size_t at = letters.find(letter);
    if (at != Letters::npos) {
      order.push_back(static_cast<int64_t>(at));
    }
    dims.push_back(at == Letters::npos ? 1 : a.shape()[at]);
  }
  return reshape(transpose(a, order), dims);
}

struct Terms {
  std::vector<Letters> operands;
  Letters result;
};

// Without an arrow the result has every letter that stands once, in alphabetical order.
Letters impliedResult(const std::vector<Letters>& operands) {
  Letters together;
  for (const Letters& operand : operands) {
    together += operand;
  }
  Letters result;
  for (const char letter : together) {
    if (std::count(together.begin(), together.end(), letter) == 1) {
      result += letter;
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

Terms termsOf(NodeCall& call, size_t unnamed) {
  const std::string equation = call.text("equation");
  const size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  Terms terms;
  for (size_t begin = 0, i = 0; begin != std::string::npos; ++i) {
    const size_t comma = left.find(',', begin);
    terms.operands.push_back(
        lettersOf(call, left.substr(begin, comma - begin), call.operand(i).shape().rank()));
    begin = comma == std::string::npos ? comma : comma + 1;
  }
  if (arrow == std::string::npos) {
    terms.result = impliedResult(terms.operands);
  } else {
    std::string right = equation.substr(arrow + 2);
    const auto named = static_cast<size_t>(
        std::count_if(right.begin(), right.end(), [](unsigned char c) { return std::isalpha(c) != 0; }));
    const bool dots = right.find('.') != std::string::npos;
    terms.result = lettersOf(call, right, named + (dots ? unnamed : 0));
  }
  return terms;
}

// How many axes "..." stands for in the operand that has most of them.
size_t unnamedAxes(NodeCall& call) {
  size_t most = 0;
  const Terms terms = termsOf(call, 0);
  for (const Letters& operand : terms.operands) {
    most = std::max(most,
                    static_cast<size_t>(std::count_if(operand.begin(), operand.end(),
                                                      [](unsigned char c) { return std::isdigit(c) != 0; })));
  }
  return most;
}

// Each letter of the result stands there once, and in an operand.
void checkResult(const NodeCall& call, const Terms& terms) {
  for (const char letter : terms.result) {
    const bool known = std::any_of(terms.operands.begin(), terms.operands.end(), [&](const Letters& operand) {
      return operand.find(letter) != Letters::npos;
    });
    if (!known || std::count(terms.result.begin(), terms.result.end(), letter) != 1) {
      call.refuse(fmt::format("'{}' in the result, which must stand there once and in an operand", letter));
    }
  }
}

NodeResults summed(NodeCall& call) {
  Terms terms = termsOf(call, unnamedAxes(call));
  checkResult(call, terms);
  std::vector<Tensor> operands;
  Letters all = terms.result;
  for (size_t i = 0; i < terms.operands.size(); ++i) {
    operands.push_back(call.operand(i));
    takeDiagonals(call, operands[i], terms.operands[i]);
    for (const char letter : terms.operands[i]) {
      all += all.find(letter) == Letters::npos ? Letters(1, letter) : Letters();
    }
  }
  Tensor product = spread(operands[0], terms.operands[0], all);
  for (size_t i = 1; i < operands.size(); ++i) {
    product = product * spread(operands[i], terms.operands[i], all);
  }
  Dims left;
  for (size_t i = terms.result.size(); i < all.size(); ++i) {
    left.push_back(static_cast<int64_t>(i));
  }
  return {left.empty() ? product : reduceSum(product, left)};
}

} // namespace

MappingTable einsumMapping() { return {{"Einsum", summed}}; }

} // namespace dfc::onnx
