// `dfc run` as a training: checkpoints, evaluation, the best of them, the log, its picture, numbers as feeds.
#include "runtime/files/safetensors.h"
#include "tests/support/golden.h"
#include "tests/tools/training_workshop.h"

#include <nlohmann/json.hpp>

using namespace dfc;
using namespace dfc::test;

namespace {

const std::vector<std::string> evaluation = {"--eval",  "noisy_eval.dfg", "--eval-feed",
                                             "x=x.npy", "--eval-feed",    "y=y.npy"};

std::vector<std::string> both(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

size_t lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

} // namespace

TEST_CASE("dfc run: parameters that became NaN leave the checkpoint as it was, and end with status 1") {
  const TrainingShop shop;
  shop.write("falls.dfg", R"(graph "falls" {
  parameter w : f32[2] = constant(1)
  next = log(w - 0.4)
  assign(w, next)
  fetch next
})");
  const auto run = [&](const char* steps) {
    return shop.dfc({"run", "falls.dfg", "--steps", steps, "--checkpoint", "c.safetensors", "--every", "1"});
  };
  REQUIRE(run("1").status == 0);
  const std::string saved = readText(shop.file("c.safetensors"));
  const auto outcome = run("6");
  INFO(outcome.err);
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, containing("c.safetensors: error: is left as it was: 1 of 1 parameters hold NaN "
                                     "behind step 2: 'w'\n"));
  CHECK_THAT(outcome.err, containing("2 steps were run; not written: c.safetensors\n"));
  CHECK(readText(shop.file("c.safetensors")) == saved);
}

TEST_CASE("dfc run: 300 + 300 steps are 600 to the bit: parameters, log and best checkpoint") {
  const TrainingShop shop;
  const auto words = [](const std::string& file, const std::string& steps) {
    return both(evaluation, {"--steps", steps, "--eval-every", "100", "--keep-best", "loss", "--checkpoint",
                             file + ".safetensors", "--every", "70", "--log", file + ".csv"});
  };
  const Outcome whole = shop.train(words("whole", "600"));
  INFO(whole.err);
  REQUIRE(whole.status == 0);
  REQUIRE(shop.train(words("half", "300")).status == 0);
  const std::string half = readText(shop.file("half.safetensors"));
  const Outcome rest = shop.train(both(words("half", "600"), {"--resume", "half.safetensors"}));
  INFO(rest.err);
  REQUIRE(rest.status == 0);
  CHECK_THAT(rest.err, containing("half.safetensors: goes on behind step 300\n"));
  CHECK_THAT(rest.out, containing("300 steps in "));
  CHECK(readText(shop.file("half.safetensors")) == readText(shop.file("whole.safetensors")));
  CHECK(readText(shop.file("half.safetensors")) != half);
  CHECK(readText(shop.file("half.best.safetensors")) == readText(shop.file("whole.best.safetensors")));
  CHECK(readText(shop.file("half.csv")) == readText(shop.file("whole.csv")));
  CHECK(lines(readText(shop.file("whole.csv"))) == 601); // the header and a row for each step
  const auto file = readSafetensorsFile(shop.file("whole.safetensors"));
  REQUIRE(file.ok());
  CHECK(file->texts.at("dfc.step") == "600");
  CHECK(file->texts.at("dfc.stepsPerEpoch") == "6");
  CHECK(file->texts.at("dfc.shuffleSeed") == "3");
  CHECK(file->tensors.at("step") == Literal::scalar<int64_t>(600));
}

TEST_CASE("dfc run: evaluation means, the best checkpoint, the log and its curve") {
  const TrainingShop shop;
  const Outcome run = shop.train(
      both(evaluation, {"--steps", "40", "--eval-every", "10", "--keep-best", "loss", "--checkpoint",
                        "c.safetensors", "--log", "log.csv", "--curve", "curve.svg", "--json"}));
  INFO(run.err);
  REQUIRE(run.status == 0);
  const auto object = nlohmann::json::parse(run.out);
  const std::string log = readText(shop.file("log.csv"));
  CHECK_THAT(log, startingWith("step,epoch,loss,eval.loss\n1,1,"));
  CHECK_THAT(log, containing("\n7,2,")); // 6 batches an epoch
  const std::string last = log.substr(log.find("\n40,7,") + 1);
  const double logged = std::stod(last.substr(last.rfind(',') + 1));
  CHECK(object["evaluation"]["loss"] == logged);
  CHECK(object["best"]["value"].get<double>() <= logged);
  // The same evaluation by itself: 50 rows in 5 batches of 10, whose means are averaged.
  REQUIRE(readSafetensors(shop.file("c.best.safetensors")).ok());
  CHECK(shop.dfc({"view", "log.csv", "-o", "again.svg"}).status == 0);
  const auto curves = [&](const std::string& name) {
    const std::string text = readText(shop.file(name));
    return text.substr(text.find("</text>")); // behind the title, which names the file
  };
  CHECK(curves("again.svg") == curves("curve.svg"));
  CHECK_THAT(curves("curve.svg"), containing(">evaluation</text>"));
}

TEST_CASE("dfc run: the graph that is trained is no evaluation: it would train on the evaluation's data") {
  const TrainingShop shop;
  const Outcome outcome =
      shop.train({"--eval", "noisy.dfg", "--eval-feed", "x=x.npy", "--eval-feed", "y=y.npy"});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, containing("error: the graph of the evaluation changes 4 of its parameters: 'w1', "
                                     "'w2', 'w1.velocity', 'w2.velocity': it would train on the data that is "
                                     "to judge the training\n"));
}

TEST_CASE("dfc run: a checkpoint is refused where the rows would be others") {
  const TrainingShop shop;
  REQUIRE(shop.train({"--steps", "8", "--checkpoint", "c.safetensors"}).status == 0);
  const Outcome other = shop.dfc({"run", "noisy.dfg", "--feed", "x=x.npy", "--feed", "y=y.npy", "--feed",
                                  "rate=0.01", "--steps", "9", "--resume", "c.safetensors"});
  CHECK(other.status == 1);
  CHECK_THAT(
      other.err,
      containing(
          "c.safetensors: error: was trained with another order of the rows: 6 steps an epoch, shuffled by "
          "seed 3; now: 6 steps an epoch, not shuffled\n"
          "  hint: resume with the data, the batches and the seed of before, or start from its parameters "
          "alone\n"));
  REQUIRE(shop.train({"--steps", "2", "--save-state", "s.safetensors"}).status == 0);
  const Outcome bare = shop.train({"--steps", "9", "--resume", "s.safetensors"});
  CHECK(bare.status == 1);
  CHECK_THAT(bare.err,
             containing("s.safetensors: error: holds parameters, but not the step of a training\n"));
  const Outcome done = shop.train({"--steps", "8", "--resume", "c.safetensors"});
  CHECK(done.status == 0);
  CHECK_THAT(
      done.err,
      containing("\nc.safetensors: nothing is left to do: it is behind step 8, and the whole training is "
                 "to have 8 steps; a larger --steps or --epochs goes on\n"));
  const Outcome absent = shop.train({"--steps", "8", "--resume", "absent.safetensors"});
  CHECK(absent.status == 1);
  const Outcome first =
      shop.train({"--steps", "8", "--resume", "new.safetensors", "--checkpoint", "new.safetensors"});
  CHECK(first.status == 0);
  CHECK_THAT(first.err, containing("new.safetensors: is not there yet: the training begins\n"));
  CHECK(readText(shop.file("new.safetensors")) == readText(shop.file("c.safetensors")));
}

TEST_CASE("dfc run: options of a training that need another say which, all at once") {
  const TrainingShop shop;
  const Outcome alone = shop.train({"--eval-every", "3", "--every", "2", "--keep-best", "loss", "--resume",
                                    "c.safetensors", "--state", "c.safetensors"});
  CHECK(alone.status == 1);
  for (const std::string line :
       {"--eval-every without a graph to evaluate", "--every without a checkpoint to write",
        "--keep-best without a checkpoint to keep", "--keep-best without an evaluation",
        "--resume and --state both say what to start from"}) {
    CHECK_THAT(alone.err, containing(line));
  }
  const Outcome best = shop.train(both(evaluation, {"--keep-best", "los", "--checkpoint", "c.safetensors"}));
  CHECK(best.status == 1);
  CHECK_THAT(best.err, containing("there is no fetch 'los'\n  hint: did you mean 'loss'?"));
  std::string other = noisyEvaluation;
  other.replace(other.find("w1 :"), 2, "v1");
  other.replace(other.find(", w1))"), 4, ", v1");
  shop.write("noisy_eval.dfg", other);
  const Outcome lacks = shop.train(evaluation);
  CHECK(lacks.status == 1);
  CHECK_THAT(lacks.err, containing("lacks 1 of the evaluation's 2 parameters: 'v1'"));
}

TEST_CASE("dfc run: a number feeds a scalar input") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n  input rate : f32[]\n  input n : i64[]\n  input row : f32[2]\n"
                      "  fetch a = rate * 2\n  fetch b = n + 1\n  fetch c = row * 1\n}\n");
  save(shop, "row.npy", floats({2}, {1, 2}));
  const Outcome good =
      shop.dfc({"run", "g.dfg", "--feed", "rate=0.25", "--feed", "n=-3", "--feed", "row=row.npy"});
  INFO(good.err);
  CHECK(good.status == 0);
  CHECK_THAT(good.out, containing("a: f32[] = 0.5\n"));
  CHECK_THAT(good.out, containing("b: i64[] = -2\n"));
  const Outcome bad = shop.dfc({"run", "g.dfg", "--feed", "n=1.5", "--feed", "row=3"});
  CHECK(bad.status == 1);
  CHECK_THAT(bad.err, containing("--feed n=1.5: input 'n' is i64[], which cannot hold it"));
  CHECK_THAT(bad.err, containing("--feed row=3: a number feeds a scalar, but input 'row' is f32[2]"));
  CHECK_THAT(bad.err, containing("input 'rate' (f32[]) is not fed\n  hint: add --feed rate=NUMBER"));
}

TEST_CASE("dfc run: an evaluation graph takes its part of a training's checkpoint, under other names too") {
  const TrainingShop shop;
  REQUIRE(shop.train({"--steps", "40", "--checkpoint", "c.safetensors"}).status == 0);
  const auto evaluated = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "noisy_eval.dfg", "--feed", "x=x.npy", "--feed", "y=y.npy"});
    return shop.dfc(more);
  };
  const Outcome whole = evaluated({"--state", "c.safetensors"});
  CHECK(whole.status == 1);
  CHECK_THAT(whole.err, containing(" of its values are of no parameter: ") &&
                            containing("  hint: take those that the graph has: --partial "));
  const Outcome part = evaluated({"--state", "c.safetensors", "--partial", "--epochs", "1"});
  INFO(part.err);
  CHECK(part.status == 0);
  CHECK_THAT(part.err,
             containing("c.safetensors: gives 2 of 2 parameters their values; 3 tensors of no parameter\n"));
  std::string other = noisyEvaluation;
  for (size_t at = other.find("w1"); at != std::string::npos; at = other.find("w1", at + 5)) {
    other.replace(at, 2, "net.1");
  }
  shop.write("noisy_eval.dfg", other);
  shop.write("rules.txt", "w1 -> net.1\n");
  const Outcome renamed =
      evaluated({"--state", "c.safetensors", "--partial", "--rename", "rules.txt", "--epochs", "1"});
  INFO(renamed.err);
  CHECK(renamed.status == 0);
  CHECK(renamed.out.substr(renamed.out.find("loss:")) == part.out.substr(part.out.find("loss:")));
  shop.write("rules.txt", "w1 = net.1\n");
  const Outcome bad = evaluated({"--state", "c.safetensors", "--rename", "rules.txt"});
  CHECK(bad.status == 1);
  CHECK_THAT(bad.err, containing("rules.txt:1:1: error: is no rule\n"));
  CHECK_THAT(evaluated({"--partial"}).err, containing("--partial without a state to take parts of\n"));
}
