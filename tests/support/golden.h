// Golden files: a text that the code makes, compared to the letter with a file that a person has read and
// approved. `DFC_BLESS=1 ctest …` (or any run of the test executable) writes the files anew instead; look at
// `git diff` before the commit. Without it a missing file is a failure, so no test passes for want of its
// expectation.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dfc::test {

/// Compares `actual` with tests/golden/<name>. Fails the running case with the first line that differs.
void checkGolden(const std::string& name, const std::string& actual);

/// The same for a file anywhere.
void checkAgainstFile(const std::filesystem::path& expected, const std::string& actual);

/// Whole file as bytes; fails the running case when it cannot be read.
std::string readText(const std::filesystem::path& path);

/// The files right in `folder` whose name ends with `ending`, sorted by name.
std::vector<std::filesystem::path> filesIn(const std::filesystem::path& folder, const std::string& ending);

} // namespace dfc::test
