// See text.h.
#include "samples/06_gpt/text.h"

#include "ir/base/atomic_file.h"
#include "ir/base/utf8.h"
#include "samples/data/lesson.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <sstream>

namespace dfc::gpt {
namespace {

constexpr uint64_t largestText = uint64_t{1} << 30;

int64_t tokenOf(char byte) { return static_cast<unsigned char>(byte); }

} // namespace

Text Text::read(const std::string& path, int64_t context) {
  if (!std::filesystem::exists(path)) {
    lesson::giveUp({errorWithoutPlace("there is no text '" + path + "'",
                                      "name a text to learn: --text FILE, of any language and a few "
                                      "thousand bytes or more")});
  }
  Text text(lesson::orGiveUp(readTextFile(path, largestText)));
  if (text.size() <= context) {
    lesson::giveUp(
        {errorWithoutPlace("'" + path + "' has " + std::to_string(text.size()) + " bytes: a window of " +
                               std::to_string(context) + " tokens and the one behind it do not fit",
                           "name a longer text (--text FILE), or a shorter --context")});
  }
  return text;
}

std::vector<int64_t> Text::tokens(int64_t start, int64_t length) const {
  std::vector<int64_t> tokens;
  for (const char byte : bytes_.substr(static_cast<size_t>(start), static_cast<size_t>(length))) {
    tokens.push_back(tokenOf(byte));
  }
  return tokens;
}

Literal Text::windows(int64_t batch, int64_t length, std::mt19937& random) const {
  Literal windows(i64({batch, length}));
  auto to = windows.mutableData<int64_t>().begin();
  for (int64_t row = 0; row < batch; ++row) {
    const int64_t start = static_cast<int64_t>(random()) % (size() - length + 1);
    const std::vector<int64_t> from = tokens(start, length);
    to = std::copy(from.begin(), from.end(), to);
  }
  return windows;
}

double Text::pairEntropy() const {
  std::vector<double> pairs(byteTokens * byteTokens);
  std::array<double, byteTokens> firsts{};
  for (size_t i = 0; i + 1 < bytes_.size(); ++i) {
    const int64_t first = tokenOf(bytes_[i]);
    ++pairs[static_cast<size_t>(first * byteTokens + tokenOf(bytes_[i + 1]))];
    ++firsts[static_cast<size_t>(first)];
  }
  double sum = 0;
  for (size_t pair = 0; pair < pairs.size(); ++pair) {
    sum -= pairs[pair] == 0 ? 0 : pairs[pair] * std::log(pairs[pair] / firsts[pair / byteTokens]);
  }
  return sum / static_cast<double>(bytes_.size() - 1);
}

std::string shown(const std::vector<int64_t>& tokens) {
  std::string bytes;
  for (const int64_t token : tokens) {
    bytes += static_cast<char>(token);
  }
  std::istringstream lines(bytes);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    text += printable(line) + "\n";
  }
  return text;
}

} // namespace dfc::gpt
