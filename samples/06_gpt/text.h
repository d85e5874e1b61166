// The text that the model learns: bytes of a file as tokens, windows of it as feeds, and tokens as text
// again.
#pragma once

#include "ir/graph/literal.h"

#include <random>
#include <string>
#include <vector>

namespace dfc::gpt {

/// Which Debian and Ubuntu have on every host.
inline constexpr const char* usualText = "/usr/share/common-licenses/GPL-3";
/// Tokens of a text are below it.
inline constexpr int64_t byteTokens = 256;

class Text {
 public:
  /// Reads the file. Ends the program, with a way out, where there is none or where it has no more bytes than
  /// `context`: a window and the byte behind it have to fit.
  static Text read(const std::string& path, int64_t context);

  /// Bytes.
  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  /// `length` tokens from `start` on.
  std::vector<int64_t> tokens(int64_t start, int64_t length) const;
  /// `batch` windows of `length` tokens from anywhere in the text: i64[batch, length].
  Literal windows(int64_t batch, int64_t length, std::mt19937& random) const;
  /// The mean of -log p(byte | the byte before) over the text, by its own counts: what the best table of
  /// pairs of bytes reaches, so that a loss below it takes more than the last byte.
  double pairEntropy() const;

 private:
  explicit Text(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string bytes_;
};

/// Tokens as text for a terminal: what is no text, as early samples are, becomes U+FFFD.
std::string shown(const std::vector<int64_t>& tokens);

} // namespace dfc::gpt
