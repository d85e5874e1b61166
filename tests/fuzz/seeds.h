// What fuzzing starts from: files of each format that are right, or wrong in a way that somebody thought of.
// Taken from samples and tests, or made here, so that no corpus lies in the repository.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dfc::test {

/// Inputs for the target of this name, at most 64 KiB each; never empty, the same each time.
std::vector<std::vector<std::byte>> seedsOf(std::string_view target);

/// Words of the format, one a line as libFuzzer's -dict wants them; "" for a format without words.
std::string dictionaryOf(std::string_view target);

} // namespace dfc::test
