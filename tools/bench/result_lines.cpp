#include "tools/bench/result_lines.h"

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

Request requestOf(int count, char** words) {
  Request request;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i], next = i + 1 < count ? words[i + 1] : "";
    request.quick = request.quick || word == "--quick";
    request.keys = word == "--keys" ? split(next) : request.keys;
    request.samples = word == "--samples" ? samplesIn(next) : request.samples;
  }
  return request;
}

void printTime(const std::string& key, const std::string& program, const Spread& spread) {
  std::cout << nlohmann::json{{"key", key},
                              {"program", program},
                              {"seconds", spread.median},
                              {"least", spread.least},
                              {"most", spread.most},
                              {"samples", spread.samples}}
            << std::endl;
}

void printNotMeasured(const std::string& key, const std::string& program, const std::string& reason) {
  std::cout << nlohmann::json{{"key", key}, {"program", program}, {"error", reason}} << std::endl;
}

} // namespace dfc::bench
