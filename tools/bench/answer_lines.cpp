#include "tools/bench/answer_lines.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace dfc::bench {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    parts.push_back(part);
  }
  return parts;
}

uint32_t samplesIn(const std::string& text) {
  uint32_t samples = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), samples);
  if (error != std::errc() || end != text.data() + text.size() || samples < 1 || samples > 1000) {
    throw std::runtime_error("--samples: '" + text + "' is not a whole number from 1 to 1000");
  }
  return samples;
}

} // namespace

Question questionOf(int count, char** words) {
  Question question;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i], next = i + 1 < count ? words[i + 1] : "";
    question.quick = question.quick || word == "--quick";
    question.keys = word == "--keys" ? split(next) : question.keys;
    question.samples = word == "--samples" ? samplesIn(next) : question.samples;
  }
  return question;
}

void say(const std::string& key, const std::string& who, const Spread& spread) {
  std::cout << nlohmann::json{{"key", key},
                              {"who", who},
                              {"seconds", spread.median},
                              {"least", spread.least},
                              {"most", spread.most},
                              {"samples", spread.samples}}
            << std::endl;
}

void sayWhyNot(const std::string& key, const std::string& who, const std::string& why) {
  std::cout << nlohmann::json{{"key", key}, {"who", who}, {"error", why}} << std::endl;
}

} // namespace dfc::bench
