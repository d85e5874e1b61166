// `dfc machine`: this host as a machine file, to compile for and to start one's own from.
#include "ir/base/atomic_file.h"
#include "tools/dfc/io/output_files.h"
#include "tools/dfc/verbs.h"
#include "tools/library/host_machine.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dfc::tool {
namespace {

struct MachineArguments {
  std::string output;
  bool estimate = false, probe = false;
};

constexpr const char* machineExamples = R"(Examples:
  dfc machine -o here.json
  dfc machine --estimate    # no measuring: rates that any laptop reaches
It takes about a second, and a few more where there are GPUs: copies for the memory bandwidth, matmuls for the peak
rates, tiny ops for the launch costs, copies over each link of a GPU, alone and several at once, and tiny ops that
alternate between the host and a GPU for the latency of the links between them.)";

Exit machineVerb(const MachineArguments& arguments, Console& console) {
  OutputFiles files;
  files.writes("-o", arguments.output, {".json"});
  if (const Diagnostics errors = files.check(); !errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  auto machine = arguments.estimate ? Result<Machine>(estimatedHost()) : measuredHost();
  if (!machine) {
    return console.fail(Exit::UserError, machine.errors());
  }
  if (!addGpus(*machine, /*measure=*/!arguments.estimate)) {
    console.note(whyNoGpu());
  }
  const std::string text = printMachine(*machine);
  if (!arguments.output.empty()) {
    if (const Status written = writeFileAtomically(arguments.output, text); !written) {
      return console.fail(Exit::MachineFailure, written.errors());
    }
    console.print(fmt::format("wrote {}\n", arguments.output));
  } else {
    console.print(text);
  }
  nlohmann::ordered_json object{{"machine", nlohmann::ordered_json::parse(text)},
                                {"rates", arguments.estimate ? "estimated" : "measured"}};
  return console.finish(object.dump());
}

} // namespace

void addMachine(CLI::App& program, Verbs& verbs) {
  auto arguments = std::make_shared<MachineArguments>();
  CLI::App* verb = program.add_subcommand("machine", "Print this host as a machine file");
  verb->add_option("-o,--output", arguments->output, "write it here")->type_name("FILE.json");
  CLI::Option* estimate = verb->add_flag("--estimate", arguments->estimate, "do not measure");
  verb->add_flag("--probe", arguments->probe, "measure: what is done anyway, said aloud")->excludes(estimate);
  verb->footer(machineExamples);
  verbs[verb] = [arguments](Console& console) { return machineVerb(*arguments, console); };
}

} // namespace dfc::tool
