#include "tools/bench/graphs/pipeline_tasks.h"

#include "compiler/tasks/file/tasks_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dfc::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string deviceName(size_t stage) { return fmt::format("stage{}", stage); }

} // namespace

double PipelineTasks::oneForwardOneBackward() const {
  return static_cast<double>(microBatches + stages - 1) * (forward + backward + weights);
}

double PipelineTasks::zeroBubbleH1() const {
  return static_cast<double>(microBatches) * (forward + backward + weights) +
         static_cast<double>(stages - 1) * (forward + backward - weights);
}

double PipelineTasks::zeroBubbleH2() const {
  return static_cast<double>(microBatches) * (forward + backward + weights) +
         static_cast<double>(stages - 1) * forward;
}

double PipelineTasks::leastSeconds() const {
  const auto count = static_cast<double>(microBatches);
  double least = 0;
  for (size_t stage = 0; stage < stages; ++stage) {
    const auto before = static_cast<double>(stage);
    // After the forward passes of the stages before it: all of its work.
    least = std::max(least, before * forward + count * (forward + backward + weights));
    // Its last backward pass comes after all of its other passes, and those of the stages before it follow.
    least = std::max(least, before * (forward + backward) + count * (forward + backward) + weights);
  }
  return least;
}

std::string pipelineMachineText(const PipelineTasks& pipeline) {
  Json machine{{"devices", Json::array()},
               {"implicit_comm", true},
               {"default_comm", {{"latency", 0}, {"bandwidth", 1e12}}}};
  for (size_t stage = 0; stage < pipeline.stages; ++stage) {
    machine["devices"].push_back({{"id", deviceName(stage)}});
  }
  return machine.dump();
}

std::string pipelineTasksText(const PipelineTasks& pipeline) {
  Json tasks = Json::array(), edges = Json::array();
  const auto add = [&](char pass, size_t stage, size_t batch, double seconds) {
    std::string id = fmt::format("{}.{}.{}", pass, stage, batch);
    tasks.push_back({{"id", id}, {"dur", {{deviceName(stage), seconds}}}});
    return id;
  };
  const auto join = [&](const std::string& from, const std::string& to) {
    edges.push_back({{"src", from}, {"dst", to}, {"bytes", 0}});
  };
  for (size_t batch = 0; batch < pipeline.microBatches; ++batch) {
    std::string last;
    for (size_t stage = 0; stage < pipeline.stages; ++stage) {
      const std::string id = add('F', stage, batch, pipeline.forward);
      if (stage > 0) {
        join(last, id);
      }
      last = id;
    }
    for (size_t stage = pipeline.stages; stage-- > 0;) {
      const std::string id = add('B', stage, batch, pipeline.backward);
      join(last, id); // the backward pass of the stage behind, or the forward pass of the last
      if (stage + 1 < pipeline.stages) {
        join(fmt::format("F.{}.{}", stage, batch), id);
      }
      join(id, add('W', stage, batch, pipeline.weights));
      last = id;
    }
  }
  return Json{{"name", "pipeline"}, {"tasks", std::move(tasks)}, {"edges", std::move(edges)}}.dump();
}

Result<TaskPlan> plannedPipeline(const PipelineTasks& pipeline) {
  const auto machine = parseTaskMachine(pipelineMachineText(pipeline), "machine.json");
  if (!machine) {
    return machine.errors();
  }
  const auto problem = parseTasks(pipelineTasksText(pipeline), "tasks.json", *machine);
  if (!problem) {
    return problem.errors();
  }
  return planTasks(problem->graph, {});
}

} // namespace dfc::bench
