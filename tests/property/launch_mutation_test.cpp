// Mutants of launch plans: each damage that changes what a queue computes, or when, is refused by the
// verifier.
#include "compiler/compile.h"
#include "ir/author/gradients.h"
#include "ir/author/optimizers.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "ir/verify/verify.h"
#include "tests/support/catch.h"
#include "tests/support/random_graph.h"
#include "tests/support/repinned.h"
#include "tests/support/tiny_plan.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>

#include <fmt/format.h>

#include <limits>

using namespace dfc;
using namespace dfc::test;

namespace {

/// Sums in two launches each, merged pass by pass, and products with a kernel behind them in one launch with
/// others.
Graph mergedWithWorkspaces() {
  Builder g("workspaces");
  const auto there = g.on("gpu0");
  std::vector<Tensor> all;
  for (const int64_t columns : {32, 64, 96}) {
    const std::string name = fmt::format("tall{}", columns);
    all.push_back(reduceSum(g.parameter(name, f32({4096, columns})), {0}));
  }
  const Tensor one = g.parameter("one", f32({1, 1})), square = g.parameter("square", f32({2, 2}));
  for (int i = 0; i < 4; ++i) {
    const Tensor row = g.parameter(fmt::format("row{}", i), f32({1, 2}));
    all.push_back(reshape(matmul(one, row) + matmul(row, transpose(square)), {2}));
  }
  g.fetch("all", concat(all, 0)); // one copy to the host, behind all launches
  return *std::move(g).finish();
}

/// Plans whose GPUs launch products, convolutions, merged kernels, kernels with workspaces, and peer reads.
std::vector<Executable> plansWithLaunches() {
  std::vector<Executable> plans;
  const auto add = [&](const Graph& graph, uint32_t gpus) {
    auto plan = compile(graph, smallMachine(gpus), RooflineCostModel());
    INFO(render(plan.errors()));
    REQUIRE(plan.ok());
    REQUIRE_FALSE(plan->launches().empty());
    plans.push_back(*std::move(plan));
  };
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Dice dice(seed);
    RandomGraphOptions shape;
    shape.ops = 40;
    const uint32_t gpus = 1 + seed % 3;
    add(repinned(randomGraph(seed, shape), [&](OpId) { return fmt::format("gpu{}", dice.below(gpus)); }),
        gpus);
  }
  Builder g("net");
  const auto there = g.on("gpu0");
  const Tensor image = g.parameter("image", f32({4, 3, 12, 12})),
               filter = g.parameter("filter", f32({8, 3, 3, 3}));
  const Tensor loss = reduceMean(conv2d(image, filter) * conv2d(image, filter));
  const Tensor tall = g.parameter("tall", f32({8192, 32}));
  g.assign(filter, filter - 0.1 * gradients(loss, {filter})[0]);
  g.fetch("sum", reduceSum(tall, {0})); // in two launches
  add(*std::move(g).finish(), 1);
  add(mergedWithWorkspaces(), 1);
  return plans;
}

Diagnostics verdictOn(const Executable& plan, const LaunchPlan& launches) {
  return verifyLaunchPlan(launches, plan.placed(), plan.schedule(), plan.memory(), plan.machine());
}

bool overlap(const LaunchRange& a, const LaunchRange& b) {
  return a.begin.device == b.begin.device && a.begin.offset < b.begin.offset + b.bytes &&
         b.begin.offset < a.begin.offset + a.bytes;
}

bool clash(const LaunchRow& a, const LaunchRow& b) {
  const auto any = [](const auto& some, const auto& others) {
    return llvm::any_of(some, [&](const LaunchRange& one) {
      return llvm::any_of(others, [&](const LaunchRange& other) {
        return !one.begin.inWorkspace() && one.op != other.op && overlap(one, other);
      });
    });
  };
  return any(a.writes, b.reads) || any(a.writes, b.writes) || any(a.reads, b.writes);
}

/// Whether the op accesses the bytes again: in the launch behind this kernel, or in its next launch.
bool isReadBehind(llvm::ArrayRef<LaunchRow> rows, size_t at, const LaunchRange& own, uint32_t kernel) {
  const auto accesses = [&](const LaunchRow& row, uint32_t least) {
    const auto isAgain = [&](const LaunchRange& range) {
      return range.op == own.op && range.kernel >= least && overlap(range, own);
    };
    return llvm::any_of(row.reads, isAgain) || llvm::any_of(row.writes, isAgain);
  };
  const auto later = rows.drop_front(at + 1);
  const auto next =
      llvm::find_if(later, [&](const LaunchRow& row) { return llvm::is_contained(row.ops, own.op); });
  return accesses(rows[at], kernel + 1) || (next != later.end() && accesses(*next, 0));
}

/// Runs `damage` on a copy of each launch's plan; every copy that it changes must be refused.
template <class Damage>
size_t checkRefused(const char* what, const Damage& damage) {
  size_t damaged = 0;
  for (const Executable& plan : plansWithLaunches()) {
    for (size_t i = 0; i < plan.launches().launches.size(); ++i) {
      LaunchPlan mutant = plan.launches();
      if (damage(plan, mutant, i)) {
        ++damaged;
        INFO(what << ", launch " << i << " of " << plan.graph().name() << ", '"
                  << plan.graph().nameOf(plan.launches().launches[i].ops[0]) << "'");
        CHECK_FALSE(verdictOn(plan, mutant).empty());
      }
    }
  }
  return damaged;
}

} // namespace

TEST_CASE("launch plans: expected seconds add up to those of the steps") {
  for (const Executable& plan : plansWithLaunches()) {
    const auto secondsOf = [&](OpId op) { return plan.schedule().steps[plan.schedule().stepOf[op]].alone(); };
    const auto takesTime = [&](OpId op) { return secondsOf(op) > 0; };
    double ofLaunches = 0, ofSteps = 0;
    llvm::DenseSet<OpId> launched;
    for (const LaunchRow& row : plan.launches().launches) {
      CHECK((row.seconds > 0) == llvm::any_of(row.ops, takesTime));
      ofLaunches += row.seconds;
      launched.insert(row.ops.begin(), row.ops.end());
    }
    for (const OpId op : launched) {
      ofSteps += secondsOf(op);
    }
    CHECK(ofLaunches == Approx(ofSteps));
  }
}

TEST_CASE("launch plans: a kernel behind a library's product takes time of its own") {
  Builder g("two_passes");
  const auto there = g.on("gpu0");
  const Tensor a = g.parameter("a", f32({512, 512})), b = g.parameter("b", f32({512, 512}));
  g.fetch("y", abs(matmul(a, b))); // no library ends a product so
  const auto plan = compile(*std::move(g).finish(), smallMachine(1), RooflineCostModel());
  REQUIRE(plan.ok());
  const auto& launches = plan->launches().launches;
  REQUIRE(launches.size() == 2);
  REQUIRE(launches[0].kind == LaunchKind::Product);
  const DeviceRow& gpu = plan->machine().devices[plan->schedule().queues[launches[0].queue].device];
  const double n = 512, bytes = 4 * n * n;
  const double product = std::max(2 * n * n * n / gpu.peakFlops[static_cast<size_t>(ElementType::F32)],
                                  3 * bytes / gpu.memoryBandwidth);
  CHECK(launches[0].seconds == Approx(gpu.launchSeconds + product).epsilon(0.01)); // and the abs
  CHECK(launches[1].seconds == Approx(gpu.launchSeconds + 2 * bytes / gpu.memoryBandwidth));
}

TEST_CASE("launch plans: the launch and the waves of a library's product are priced alike in both") {
  Machine machine = smallMachine(1);
  DeviceRow& gpu = machine.devices[machine.findDevice("gpu0")];
  gpu.launchSeconds = 1e-6;
  gpu.matmulLaunchSeconds.fill(4e-3);
  gpu.multiprocessors = 132;
  gpu.memoryBandwidth = 1e9;
  const auto plan = [&](const Shape& left, const Shape& right, bool withPass) {
    Builder g("product");
    const auto there = g.on("gpu0");
    const Tensor a = g.parameter("a", {ElementType::F32, left}),
                 b = g.parameter("b", {ElementType::F32, right});
    g.fetch("y", withPass ? abs(matmul(a, b)) : matmul(a, b));
    auto compiled = compile(*std::move(g).finish(), machine, RooflineCostModel());
    REQUIRE(compiled.ok());
    return *std::move(compiled);
  };
  const auto check = [&](const Executable& one, double seconds) {
    const Schedule& schedule = one.schedule();
    const LaunchRow& first = one.launches().launches[0];
    CHECK(first.seconds == Approx(seconds));
    if (one.launches().launches.size() == 1) {
      CHECK(schedule.steps[schedule.stepOf[first.ops[0]]].alone() == Approx(seconds));
    }
    CHECK(schedule.bounds.busiestQueue <= schedule.makespan * (1 + 1e-9));
  };
  // 64 tiles on 132 multiprocessors, which 511 elements are too few to split.
  const double peak = gpu.peakFlops[static_cast<size_t>(ElementType::F32)];
  const double product = 4e-3 + 2.0 * 256 * 256 * 511 / peak * 132 / 64;
  for (const bool withPass : {false, true}) {
    const Executable library = plan({256, 511}, {511, 256}, withPass);
    REQUIRE(library.launches().launches[0].kind == LaunchKind::Product);
    check(library, product);
  }
  // A matrix times a vector is a generated kernel: the launch of one, at the memory's bandwidth.
  const Executable vector = plan({512, 512}, {512, 1}, false);
  REQUIRE(vector.launches().launches[0].kind == LaunchKind::Kernel);
  check(vector, 1e-6 + 4.0 * (512 * 512 + 512 + 512) / gpu.memoryBandwidth);
}

TEST_CASE("launch plans: a product of a short inner dimension is priced alike as a step and as a launch") {
  Machine machine = smallMachine(1);
  DeviceRow& gpu = machine.devices[machine.findDevice("gpu0")];
  gpu.matmulHalfInner.fill(512);
  gpu.memoryBandwidth = 1e9; // the product is bound by its arithmetic, the pass by its bytes
  const auto plan = [&](bool withPass) {
    Builder g("product");
    const auto there = g.on("gpu0");
    const Tensor a = g.parameter("a", f32({512, 64})), b = g.parameter("b", f32({64, 512}));
    g.fetch("y", withPass ? abs(matmul(a, b)) : matmul(a, b));
    auto compiled = compile(*std::move(g).finish(), machine, RooflineCostModel());
    REQUIRE(compiled.ok());
    REQUIRE(compiled->launches().launches.size() == (withPass ? 2 : 1));
    REQUIRE(Executable::parse(compiled->serialise(), "plan").ok());
    return *std::move(compiled);
  };
  const Executable alone = plan(false), followed = plan(true);
  const LaunchRow &product = alone.launches().launches[0], &first = followed.launches().launches[0];
  // 64 elements are 256 bytes: a third of the peak rate.
  const double flops = 2.0 * 512 * 512 * 64, third = gpu.peakFlops[static_cast<size_t>(ElementType::F32)] / 3;
  const Schedule& schedule = alone.schedule();
  CHECK(schedule.steps[schedule.stepOf[product.ops[0]]].alone() == Approx(gpu.launchSeconds + flops / third));
  CHECK(product.seconds == Approx(gpu.launchSeconds + flops / third));
  CHECK(first.seconds == Approx(product.seconds));
}

TEST_CASE("launch plans: what compile makes is sound, before and after a file") {
  for (const Executable& plan : plansWithLaunches()) {
    CHECK(render(verdictOn(plan, plan.launches())) == "");
    const auto bytes = plan.serialise();
    const auto read = Executable::parse(bytes, "plan");
    INFO(render(read.errors()));
    REQUIRE(read.ok());
    CHECK(read->launches().launches.size() == plan.launches().launches.size());
    CHECK(read->launches().kernels == plan.launches().kernels);
    CHECK(read->serialise() == bytes);
  }
}

TEST_CASE("launch plans: seconds that no launch takes are refused") {
  CHECK(checkRefused("negative", [](const Executable&, LaunchPlan& plan, size_t i) {
          plan.launches[i].seconds = -1;
          return true;
        }) > 50);
  CHECK(checkRefused("no number", [](const Executable&, LaunchPlan& plan, size_t i) {
          plan.launches[i].seconds = std::numeric_limits<double>::quiet_NaN();
          return true;
        }) > 50);
  CHECK(checkRefused("longer than the steps", [](const Executable&, LaunchPlan& plan, size_t i) {
          plan.launches[i].seconds += 1;
          return true;
        }) > 50);
}

TEST_CASE("launch plans: mutants with a launch missing, moved or of another op are refused") {
  CHECK(checkRefused("missing", [](const Executable&, LaunchPlan& plan, size_t i) {
          // What the launches of an op leave for one another, in the workspace or in the op's result, is
          // known to their kernels alone.
          const auto isRewritten = [&](const LaunchRange& range) {
            return llvm::count_if(plan.launches, [&](const LaunchRow& row) {
                     return llvm::any_of(row.writes, [&](const LaunchRange& other) {
                       return other.op == range.op && other.begin == range.begin;
                     });
                   }) > 1;
          };
          const bool seen = llvm::any_of(plan.launches[i].writes, [&](const LaunchRange& range) {
            return !range.begin.inWorkspace() && range.bytes > 0 && !isRewritten(range);
          });
          plan.launches.erase(plan.launches.begin() + static_cast<ptrdiff_t>(i));
          return seen;
        }) > 100);
  CHECK(checkRefused("swapped", [](const Executable&, LaunchPlan& plan, size_t i) {
          if (i + 1 == plan.launches.size() || plan.launches[i].queue != plan.launches[i + 1].queue ||
              plan.launches[i].at != plan.launches[i + 1].at ||
              !clash(plan.launches[i], plan.launches[i + 1])) {
            return false;
          }
          std::swap(plan.launches[i], plan.launches[i + 1]);
          return true;
        }) > 10);
  CHECK(checkRefused("ahead", [](const Executable& sound, LaunchPlan& plan, size_t i) {
          // In the place of the queue's first step, ahead of a wait.
          LaunchRow& row = plan.launches[i];
          const Schedule& schedule = sound.schedule();
          const auto& steps = schedule.queues[row.queue].steps;
          const uint32_t position = schedule.steps[schedule.stepOf[row.at]].position;
          for (uint32_t p = 1; p <= position; ++p) {
            if (!plan.waitsOf(schedule, steps[p]).empty()) {
              row.at = schedule.steps[steps[0]].op;
              return true;
            }
          }
          return false;
        }) > 20);
  CHECK(checkRefused("of another op", [](const Executable&, LaunchPlan& plan, size_t i) {
          const OpId other = plan.launches[(i + 1) % plan.launches.size()].ops[0];
          if (llvm::is_contained(plan.launches[i].ops, other)) {
            return false;
          }
          plan.launches[i].ops = {other};
          return true;
        }) > 100);
}

TEST_CASE("launch plans: ops of one launch that run in the wrong order are refused") {
  CHECK(checkRefused("reversed", [](const Executable&, LaunchPlan& plan, size_t i) {
          LaunchRow& row = plan.launches[i];
          const bool handsOn = llvm::any_of(row.reads, [&](const LaunchRange& read) {
            return llvm::any_of(row.writes, [&](const LaunchRange& write) {
              return read.op != write.op && !write.begin.inWorkspace() && overlap(read, write);
            });
          });
          uint32_t last = 0;
          for (const LaunchRange& range : row.writes) {
            last = std::max(last, range.kernel);
          }
          for (auto* ranges : {&row.reads, &row.writes}) {
            for (LaunchRange& range : *ranges) {
              range.kernel = last - range.kernel;
            }
          }
          return handsOn;
        }) >= 10);
}

TEST_CASE("launch plans: a workspace that another op overwrites between an op's kernels is refused") {
  size_t damaged = 0;
  for (const Executable& plan : plansWithLaunches()) {
    const std::vector<LaunchRow>& rows = plan.launches().launches;
    for (size_t i = 0; i < rows.size(); ++i) {
      for (const LaunchRange& own : rows[i].writes) {
        for (const LaunchRange& other : rows[i].writes) {
          if (own.begin.inWorkspace() && other.op != own.op && other.kernel > own.kernel &&
              isReadBehind(rows, i, own, other.kernel)) {
            ++damaged;
            INFO("'" << plan.graph().nameOf(other.op) << "' writes what '" << plan.graph().nameOf(own.op)
                     << "' keeps");
            LaunchPlan mutant = plan.launches();
            mutant.launches[i].writes.push_back({own.begin, own.bytes, other.op, other.kernel});
            CHECK_FALSE(verdictOn(plan, mutant).empty());
          }
        }
      }
    }
  }
  CHECK(damaged > 5);
}

TEST_CASE("launch plans: mutants with other bytes, kernels or shapes are refused") {
  CHECK(checkRefused("shifted write", [](const Executable&, LaunchPlan& plan, size_t i) {
          for (LaunchRange& range : plan.launches[i].writes) {
            if (!range.begin.inWorkspace() && range.bytes > 0) {
              range.begin.offset += 256;
              return true;
            }
          }
          return false;
        }) > 100);
  CHECK(checkRefused("pointer", [](const Executable&, LaunchPlan& plan, size_t i) {
          plan.launches[i].pointers[0].offset = int64_t{1} << 40;
          return true;
        }) > 100);
  CHECK(checkRefused("kernel", [](const Executable&, LaunchPlan& plan, size_t i) {
          LaunchRow& row = plan.launches[i];
          row.kernel = static_cast<uint32_t>(plan.kernels.size());
          return row.kind == LaunchKind::Kernel;
        }) > 100);
  CHECK(checkRefused("threads", [](const Executable&, LaunchPlan& plan, size_t i) {
          plan.launches[i].threads = 0;
          return plan.launches[i].kind == LaunchKind::Kernel;
        }) > 100);
  CHECK(checkRefused("product", [](const Executable&, LaunchPlan& plan, size_t i) {
          if (plan.launches[i].product) {
            plan.launches[i].product->transposeA ^= true;
            plan.launches[i].product->a.shape = Shape{1, 1};
          }
          return plan.launches[i].product.has_value();
        }) > 4);
}

TEST_CASE("launch plans: mutants of peer reads are refused") {
  size_t reads = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Dice dice(seed);
    RandomGraphOptions shape;
    shape.ops = 40;
    shape.kinds = {OpKind::Add, OpKind::Mul, OpKind::Relu, OpKind::Neg, OpKind::Select};
    const auto plan =
        compile(repinned(randomGraph(seed, shape), [&](OpId) { return fmt::format("gpu{}", dice.below(2)); }),
                smallMachine(2), RooflineCostModel());
    REQUIRE(plan.ok());
    for (size_t i = 0; i < plan->launches().peers.reads.size(); ++i) {
      ++reads;
      INFO("seed " << seed << ", read " << i);
      LaunchPlan other = plan->launches();
      other.peers.reads[i].operand += 1;
      CHECK_FALSE(verdictOn(*plan, other).empty());
      LaunchPlan twice = plan->launches();
      twice.peers.reads.push_back(twice.peers.reads[i]);
      CHECK_FALSE(verdictOn(*plan, twice).empty());
      LaunchPlan copied = plan->launches(); // the launch still reads the peer
      copied.peers.reads.erase(copied.peers.reads.begin() + static_cast<ptrdiff_t>(i));
      CHECK_FALSE(verdictOn(*plan, copied).empty());
      LaunchPlan unordered = plan->launches();
      for (const StepId step : unordered.peers.waits.ids()) {
        unordered.peers.waits[step].clear();
      }
      CHECK_FALSE(verdictOn(*plan, unordered).empty());
    }
  }
  CHECK(reads > 20);
}
