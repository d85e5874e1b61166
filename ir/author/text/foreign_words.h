// Words of other frameworks, and the hints that lead from them to the words of graph files: `ReLU`,
// `float32`, `a @ b`, `mean`.
#pragma once

#include "ir/graph/tensor_type.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dfc::text {

/// The name among `ops` that `word` stands for elsewhere (`ReLU`, `reduce_mean`, `cat`), as a hint; empty for
/// none.
std::string hintForForeignOp(std::string_view word, const std::vector<std::string>& ops);

/// "float32", "half", "long", …; none where no framework says so.
std::optional<ElementType> foreignElementType(std::string_view word);

/// What an author may have meant by a character that graph files do not have; empty for none.
std::string hintForCharacter(char character);

/// What an author may have meant by a word behind a finished statement; empty for none.
std::string hintAfterStatement(std::string_view word);

/// All hints of `hintForForeignOp` name one of these, for the test that each is an op.
std::vector<std::string_view> opsOfForeignWords();

} // namespace dfc::text
