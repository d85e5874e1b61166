// The table of a report: a line per row and one more per further check, columns as wide as their contents.
#include "ir/author/text/units.h"
#include "tools/bench/names.h"
#include "tools/bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dfc::bench {
namespace {

constexpr size_t columns = 10;
using Line = std::array<std::string, columns>;
constexpr std::array<const char*, columns> heads = {
    "benchmark", "book",  "program",      "description", "median [least..most]",
    "predicted", "bound", "held against", "ratio",       "verdict"};

/// Letters, not bytes: "µs" takes two places.
size_t lettersOf(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0U) != 0x80U; }));
}

std::string timeText(const Row& row) {
  if (!row.time) {
    return row.failed ? "failed" : "-";
  }
  return fmt::format("{} [{}..{}]", humanSeconds(row.time->median), humanSeconds(row.time->least),
                     humanSeconds(row.time->most));
}

/// "131 ms (0.98)": the prediction, and measured over predicted.
std::string predictedText(const Row& row) {
  if (!row.predicted) {
    return "";
  }
  return row.time && *row.predicted > 0
             ? fmt::format("{} ({:.2f})", humanSeconds(*row.predicted), row.time->median / *row.predicted)
             : humanSeconds(*row.predicted);
}

std::string ratioText(const Check& check) {
  std::string text = fmt::format("{:.3g}", check.ratio);
  if (check.atMost) {
    text += fmt::format(" <= {:.3g}?", *check.atMost);
  }
  if (check.atLeast) {
    text += fmt::format(" >= {:.3g}?", *check.atLeast);
  }
  return text;
}

void put(const Check& check, Line& line) {
  line[7] = check.against;
  line[8] = !check.property ? ratioText(check) : check.ratio == 0 ? "no" : "yes";
  const auto holds = check.holds();
  line[9] = !holds ? "" : *holds ? "holds" : check.correctness ? "WRONG" : "missed";
}

std::vector<Line> linesOf(const Row& row) {
  std::vector<Line> lines(std::max<size_t>(1, row.checks.size()));
  lines[0][0] = row.key;
  lines[0][1] = bookNumberOf(row.key);
  lines[0][2] = row.program;
  lines[0][3] = row.description;
  lines[0][4] = timeText(row);
  lines[0][5] = predictedText(row);
  lines[0][6] = row.bound ? humanSeconds(*row.bound) : "";
  for (size_t i = 0; i < row.checks.size(); ++i) {
    put(row.checks[i], lines[i]);
  }
  return lines;
}

std::string padded(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, lettersOf(text)), ' ');
}

std::string joined(const Line& line, const std::array<size_t, columns>& widths) {
  std::string text;
  for (size_t i = 0; i < columns; ++i) {
    text += (i == 0 ? "" : "  ") + padded(line[i], widths[i]);
  }
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string remarksOf(const Row& row) {
  std::string text;
  if (!row.reason.empty()) {
    text += fmt::format("    {}: {}\n",
                        row.time     ? "note"
                        : row.failed ? "failed"
                                     : "not measured",
                        row.reason);
  }
  if (row.bytes) {
    text += fmt::format("    device memory: {}\n", humanBytes(static_cast<int64_t>(*row.bytes)));
  }
  for (const std::string& note : row.notes) {
    text += "    " + note + "\n";
  }
  return text;
}

std::string orNone(const std::string& text) { return text.empty() ? "none" : text; }

std::string headOf(const Setting& setting) {
  const HostFacts& host = setting.host;
  std::string text = fmt::format("dfc {}, {}\n{} ({} threads), NVIDIA driver {}, CUDA {}\nmachine '{}'\n",
                                 host.version, host.date, orNone(host.cpu), host.threads, orNone(host.driver),
                                 orNone(host.cuda), setting.machine);
  for (const std::string& device : setting.devices) {
    text += "  " + device + "\n";
  }
  if (setting.gpus == Gpus::Emulated) {
    text +=
        "The GPUs are EMULATED by threads of this host: sizes are small, and times say nothing about GPUs.\n";
  }
  if (setting.quick) {
    text += "--quick: few samples of small work; no numbers to quote.\n";
  }
  return text;
}

constexpr const char* legend =
    "Times are of one step: the median of the samples, with the least and the most. In brackets behind the\n"
    "prediction: measured over predicted. Bound: no schedule of the plan can be shorter. Both count the\n"
    "launches that GPUs make, and feeds as brought while the step before computes. Ratio: the row's time "
    "over\n"
    "that of its reference.\n";

} // namespace

std::string printReport(const Report& report, const Setting& setting) {
  std::array<size_t, columns> widths{};
  for (size_t i = 0; i < columns; ++i) {
    widths[i] = lettersOf(heads[i]);
    for (const Row& row : report.rows()) {
      for (const Line& line : linesOf(row)) {
        widths[i] = std::max(widths[i], lettersOf(line[i]));
      }
    }
  }
  Line head;
  std::copy(heads.begin(), heads.end(), head.begin());
  std::string text = headOf(setting) + "\n" + joined(head, widths);
  for (const Row& row : report.rows()) {
    for (const Line& line : linesOf(row)) {
      text += joined(line, widths);
    }
    text += remarksOf(row);
  }
  return text + "\n" + legend;
}

std::string rowLine(const Row& row) {
  const bool measured = row.time || row.reason.empty();
  std::string text = fmt::format("{} ({}): {}", row.key, row.program, measured ? timeText(row) : row.reason);
  for (const Check& check : row.checks) {
    if (const auto holds = check.holds(); holds == false) {
      text += fmt::format("; {}: {}", check.against, check.correctness ? "WRONG" : "missed");
    }
  }
  return text;
}

} // namespace dfc::bench
