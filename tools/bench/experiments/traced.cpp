#include "tools/bench/experiments/traced.h"

#include "ir/base/atomic_file.h"

#include <filesystem>

namespace dfc::bench {

Trace tracedSteps(const Prepared& prepared, int steps) {
  for (int i = 0; i < 2; ++i) {
    prepared.step();
  }
  prepared.session->waitAll();
  prepared.session->takeTrace();
  for (int i = 0; i < steps; ++i) {
    prepared.step();
  }
  prepared.session->waitAll();
  return prepared.session->takeTrace();
}

Status keepTrace(const Harness& harness, const std::string& name, const Prepared& prepared,
                 const Trace& measured, Row& row) {
  if (harness.traces().empty()) {
    return success();
  }
  std::error_code ignored; // writing says what is wrong with the folder
  std::filesystem::create_directories(harness.traces(), ignored);
  const std::string path = (std::filesystem::path(harness.traces()) / (name + ".trace.json")).string();
  const Trace predicted = predictedTrace(*prepared.plan);
  row.notes.push_back("wrote " + path);
  return writeFileAtomically(path, chromeTrace({&predicted, &measured}, *prepared.plan));
}

} // namespace dfc::bench
