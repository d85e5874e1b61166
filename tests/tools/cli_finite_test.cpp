// `dfc run` when values stop being finite: a warning, the op by name with --check-finite, and what is saved.
#include "runtime/files/npy.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace dfc;
using namespace dfc::test;

namespace {

// w is 2, 1, 0, -1, …: its logarithm is infinite in step 3 and NaN from step 4 on, and w stays finite.
const char* sinking = R"(graph sinking {
  parameter w : f32[] = constant(2)
  scope "net" {
    y = log(w)
  }
  next = w - 1
  assign(w, next)
  fetch w = next
  fetch loss = y
}
)";

// h is -1, -2, -3, -4; its logarithm, all NaN, may take its place in memory.
const char* overwriting = R"(graph overwriting {
  parameter v : f32[4] = constant(-1)
  h = cumSum(v, axis=0)
  y = log(h)
  z = cumSum(y, axis=0)
  fetch z
}
)";

// w is 1, 0, -inf, NaN, …
const char* diving = R"(graph diving {
  parameter w : f32[] = constant(1)
  loss = log(w)
  assign(w, loss)
  fetch loss
}
)";

// The parameter itself becomes infinite: 1e30, 1e60.
const char* growing = R"(graph growing {
  parameter w : f32[2] = constant(1e30)
  parameter v : f32[2] = constant(1)
  next = w * w
  assign(w, next)
  assign(v, v + 1)
  fetch v
}
)";

} // namespace

TEST_CASE("dfc run: the first step and fetch that is not finite is told in one warning") {
  const Workshop shop;
  shop.write("g.dfg", sinking);
  const Outcome fine = shop.dfc({"run", "g.dfg", "--steps", "2"});
  CHECK(fine.status == 0);
  CHECK(fine.err.empty());
  const Outcome sunk = shop.dfc({"run", "g.dfg", "--steps", "9", "--save-state", "s.safetensors"});
  CHECK(sunk.status == 1);
  CHECK_THAT(sunk.err,
             startingWith("warning: fetch 'loss' is not finite since step 3, counted from 1: 1 of 1 elements "
                          "infinite; --check-finite names the op where it began\n"
                          "g.dfg:4:9: error: fetch 'loss' is NaN in the last step, 9\n  hint: "));
  CHECK_THAT(sunk.out, containing("9 steps in ")); // the parameter itself stays finite: all steps are run
  CHECK_THAT(sunk.out, containing("wrote s.safetensors\n"));
  const Outcome machine = shop.dfc({"run", "g.dfg", "--steps", "9", "--json"});
  CHECK(machine.status == 1);
  const auto json = nlohmann::json::parse(machine.err);
  CHECK(json["notes"].size() == 1);
  CHECK(json["errors"][0]["line"] == 4);
}

TEST_CASE("dfc run: a training whose parameters became NaN ends there with status 1, and replaces no file") {
  const Workshop shop;
  shop.write("g.dfg", diving);
  const std::vector<std::string> words = {"run",          "g.dfg",         "--steps", "1000000",
                                          "--save-state", "s.safetensors", "--log",   "l.csv"};
  shop.write("s.safetensors", "kept");
  for (const char* machine : {"cpu", "cpu-2gpu"}) {
    auto there = words;
    there.insert(there.end(), {"-m", machine});
    const Outcome outcome = shop.dfc(there);
    INFO(outcome.err);
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.err, containing("warning: fetch 'loss' is not finite since step 2, counted from 1: "));
    CHECK_THAT(outcome.err, containing("; written: l.csv; not written: s.safetensors\n"
                                       "g.dfg:3:10: error: the training has failed: 1 of 1 parameters hold "
                                       "NaN behind step "));
    CHECK_THAT(outcome.err, containing("  hint: a check of finite values (--check-finite, "));
  }
  CHECK(readText(shop.file("s.safetensors")) == "kept");
  CHECK_THAT(readText(shop.file("l.csv")), containing("\n3,"));
}

TEST_CASE("dfc run: a graph that trains nothing may give what is not finite") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n  parameter w : f32[] = zeros()\n  fetch y = log(w)\n}\n");
  const Outcome outcome = shop.dfc({"run", "g.dfg", "--steps", "3"});
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.err, startingWith("warning: fetch 'y' is not finite since step 1"));
}

TEST_CASE("dfc run --check-finite: ends at the op where it began, exit 1, on every backend that computes") {
  const Workshop shop;
  shop.write("g.dfg", sinking);
  for (const std::vector<std::string>& where :
       {std::vector<std::string>{}, {"-m", "cpu-2gpu", "--pin", "*=gpu0", "--backend", "gpu=emulated"}}) {
    std::vector<std::string> words = {"run",          "g.dfg",        "--steps", "9", "--check-finite",
                                      "--save-state", "s.safetensors"};
    words.insert(words.end(), where.begin(), where.end());
    const Outcome outcome = shop.dfc(words);
    INFO(outcome.err);
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.err,
               containing("g.dfg:4:9: error: op 'y' (log) gives a value that is not finite in step 3, "
                          "counted from 1: 1 of 1 elements infinite\n"));
    CHECK_THAT(outcome.err, containing("note: in scope 'net'\n"));
    CHECK_THAT(outcome.err, containing("hint: its operands: 'w' f32[] from 0 to 0\n"));
    CHECK_FALSE(std::filesystem::exists(shop.file("s.safetensors")));
  }
  CHECK(shop.dfc({"run", "g.dfg", "--steps", "2", "--check-finite"}).status == 0);
}

TEST_CASE("dfc run --check-finite: the range of an operand is from before the result overwrote it") {
  const Workshop shop;
  shop.write("g.dfg", overwriting);
  const Outcome outcome = shop.dfc({"run", "g.dfg", "--check-finite"});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err,
             containing("op 'y' (log) gives a value that is not finite in step 1, counted from 1: 4 of 4 "
                        "elements nan\n"));
  CHECK_THAT(outcome.err, containing("hint: its operands: 'h' f32[4] from -4 to -1\n"));
}

TEST_CASE("dfc run --check-finite: of a fused op, the part where it begins is named with what it reads") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n  parameter x : f32[4] = zeros()\n"
                      "  parameter w : f32[4] = constant(3)\n"
                      "  y = reduceMean(log(x - w) * 2)\n  fetch y\n}\n");
  const Outcome outcome = shop.dfc({"run", "g.dfg", "--check-finite"});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, containing("op 'y' (sub, log, mul, mean) gives a value that is not finite"));
  CHECK_THAT(
      outcome.err,
      containing("hint: of the ops fused into it, the first is log (2 of 4) gives f32[4] 4 of 4 elements "
                 "nan, of the result of sub f32[4] from -3 to -3; compiled with --skip-pass "
                 "fuse_elementwise (CompileOptions::skipPasses), each has its line; its operands: "));
  const Outcome apart = shop.dfc({"run", "g.dfg", "--check-finite", "--skip-pass", "fuse_elementwise"});
  CHECK_THAT(apart.err, containing("op 'log' gives a value that is not finite"));
}

TEST_CASE(
    "dfc run --check-finite: of a product and what is fused behind it, the part where it begins is named") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n  parameter x : f32[2, 3] = constant(1)\n"
                      "  parameter w : f32[3, 2] = constant(-2)\n"
                      "  y = log(matmul(x, w))\n  fetch y\n}\n");
  const Outcome body = shop.dfc({"run", "g.dfg", "--check-finite"});
  CHECK(body.status == 1);
  // Each element of the product is 3 * 1 * -2.
  CHECK_THAT(body.err,
             containing("the first is log (2 of 2) gives f32[2, 2] 4 of 4 elements nan, of the result "
                        "of matmul f32[2, 2] from -6 to -6; compiled with --skip-pass fuse_matmul"));
  shop.write("p.dfg", "graph p {\n  parameter x : f32[2, 3] = constant(1)\n"
                      "  parameter big : f32[3, 2] = constant(3e38)\n"
                      "  z = relu(matmul(x, big))\n  fetch z\n}\n");
  const Outcome product = shop.dfc({"run", "p.dfg", "--check-finite"});
  CHECK(product.status == 1);
  CHECK_THAT(product.err,
             containing("the first is matmul (1 of 2) gives f32[2, 2] 4 of 4 elements infinite"));
}

TEST_CASE("dfc run: parameters that are saved as no finite numbers are named") {
  const Workshop shop;
  shop.write("g.dfg", growing);
  const Outcome grown = shop.dfc({"run", "g.dfg", "--save-state", "s.safetensors"});
  CHECK(grown.status == 0);
  CHECK(grown.err == "warning: 1 of 2 parameters saved in s.safetensors is not finite: 'w'\n");
}
