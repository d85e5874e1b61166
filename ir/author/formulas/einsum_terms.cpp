#include "ir/author/formulas/einsum_terms.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cctype>

namespace dfc::notation {
namespace {

Letters lettersOf(std::string term, size_t rank) {
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
  const bool letters =
      llvm::all_of(term, [](unsigned char c) { return std::isalpha(c) != 0 || std::isdigit(c) != 0; });
  if (!letters || given.find_first_of("0123456789") != std::string::npos || term.size() != rank) {
    throw EinsumFault{fmt::format("the term '{}' for {} axes", given.substr(0, 100), rank)};
  }
  return term;
}

/// Without an arrow the result has every letter that stands once, in alphabetical order.
Letters impliedResult(const std::vector<Letters>& operands) {
  Letters all;
  for (const Letters& operand : operands) {
    all += operand;
  }
  Letters unnamed, result;
  for (const char letter : all) {
    if (std::isdigit(static_cast<unsigned char>(letter)) != 0) {
      unnamed += has(unnamed, letter) ? Letters() : Letters(1, letter);
    } else if (std::count(all.begin(), all.end(), letter) == 1) {
      result += letter;
    }
  }
  std::sort(unnamed.rbegin(), unnamed.rend());
  std::sort(result.begin(), result.end());
  return unnamed + result;
}

std::vector<Letters> operandTerms(std::string_view left, const std::vector<Tensor>& operands) {
  const auto count = static_cast<size_t>(std::count(left.begin(), left.end(), ',')) + 1;
  if (count != operands.size()) {
    throw EinsumFault{fmt::format("{} terms for {} operands", count, operands.size())};
  }
  std::vector<Letters> terms;
  for (size_t begin = 0, i = 0; i < count; ++i) {
    const size_t comma = std::min(left.find(',', begin), left.size());
    terms.push_back(lettersOf(std::string(left.substr(begin, comma - begin)), operands[i].shape().rank()));
    begin = comma + 1;
  }
  return terms;
}

/// How many axes "..." stands for in the operand that has most of them.
size_t unnamedAxes(const std::vector<Letters>& operands) {
  size_t most = 0;
  for (const Letters& operand : operands) {
    most = std::max(most, static_cast<size_t>(
                              llvm::count_if(operand, [](unsigned char c) { return std::isdigit(c) != 0; })));
  }
  return most;
}

/// Each letter of the result stands there once, and in an operand.
void checkResult(const Terms& terms) {
  for (const char letter : terms.result) {
    const bool known =
        llvm::any_of(terms.operands, [&](const Letters& operand) { return has(operand, letter); });
    if (!known || std::count(terms.result.begin(), terms.result.end(), letter) != 1) {
      throw EinsumFault{
          fmt::format("'{}' in the result, which must stand there once and in an operand", letter)};
    }
  }
}

} // namespace

Terms termsOf(std::string_view equation, const std::vector<Tensor>& operands) {
  const size_t arrow = equation.find("->");
  Terms terms{operandTerms(equation.substr(0, arrow), operands), {}};
  if (arrow == std::string_view::npos) {
    terms.result = impliedResult(terms.operands);
    return terms;
  }
  const std::string right(equation.substr(arrow + 2));
  const auto named =
      static_cast<size_t>(llvm::count_if(right, [](unsigned char c) { return std::isalpha(c) != 0; }));
  const bool dots = right.find('.') != std::string::npos;
  terms.result = lettersOf(right, named + (dots ? unnamedAxes(terms.operands) : 0));
  checkResult(terms);
  return terms;
}

} // namespace dfc::notation
