// A training that dies at random moments, by signals that it can and cannot catch, and is started again with
// the same words, ends with the parameters of one that nothing disturbed, to the bit.
#include "runtime/executable_folder.h"
#include "runtime/files/safetensors.h"
#include "tests/support/golden.h"
#include "tests/tools/training_workshop.h"

#include <sys/wait.h>

using namespace dfc;
using namespace dfc::test;

namespace {

const std::vector<std::string> rest = {
    "--steps", "1200",         "--eval", "noisy_eval.dfg", "--eval-feed", "x=x.npy", "--eval-feed",
    "y=y.npy", "--eval-every", "50",     "--keep-best",    "loss",        "--every", "10"};

std::vector<std::string> wordsFor(const std::string& name) {
  auto words = TrainingShop::training(rest);
  for (const std::string& word : {std::string("--checkpoint"), name + ".safetensors", std::string("--resume"),
                                  name + ".safetensors", std::string("--log"), name + ".csv"}) {
    words.push_back(word);
  }
  return words;
}

/// The exit status of the training, which gets `signal` after so many milliseconds.
int interrupted(const TrainingShop& shop, const std::string& name, const std::string& signal,
                int milliseconds) {
  std::string command = "cd '" + shop.path().string() + "' && timeout -s " + signal + " " +
                        std::to_string(milliseconds / 1000.0) + " '" + (executableFolder() / "dfc").string() +
                        "'";
  for (const std::string& word : wordsFor(name)) {
    command += " '" + word + "'";
  }
  const int status = std::system((command + " >out 2>err").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Interrupts trainings `moments` times, each of which must end like the one that nothing disturbs.
void interruptAt(int moments, uint32_t seed) {
  const TrainingShop shop;
  const Outcome whole = shop.dfc(wordsFor("whole"));
  INFO(whole.err);
  REQUIRE(whole.status == 0);
  std::mt19937 random(seed);
  int hit = 0;
  for (int training = 0; hit < moments; ++training) {
    const std::string name = "broken" + std::to_string(training);
    for (int attempt = 0;; ++attempt) {
      const char* signal = std::array{"KILL", "TERM", "KILL", "INT"}[random() % 4];
      // Later in every attempt, so that a slow host gets on, too.
      const int status = interrupted(shop, name, signal, 20 + int(random() % 200) + 10 * attempt);
      INFO(readText(shop.file("err")));
      if (status == 0) {
        break;
      }
      REQUIRE((status == 124 || status == 130 || status == 137)); // timeout's own, ours, killed
      ++hit;
    }
    CHECK(readText(shop.file(name + ".safetensors")) == readText(shop.file("whole.safetensors")));
    CHECK(readText(shop.file(name + ".best.safetensors")) == readText(shop.file("whole.best.safetensors")));
    CHECK(readText(shop.file(name + ".csv")) == readText(shop.file("whole.csv")));
  }
}

} // namespace

TEST_CASE("dfc run: a training killed at random moments ends with the same bits") { interruptAt(6, 1); }

TEST_CASE("dfc run: a training killed at 100 random moments ends with the same bits", "[heavy]") {
  interruptAt(100, 2);
}
