// `dfc run --predict`: what becomes of each row of the feeds; and NumPy's own element types as feeds.
#include "runtime/files/npz.h"
#include "tests/tools/run_workshop.h"

#include <nlohmann/json.hpp>

using namespace dfc;
using namespace dfc::test;
using Json = nlohmann::json;

namespace {

constexpr const char* tenfold = R"(graph tenfold {
  input x : f32[4, 2]
  input k : i32[4]
  z = x * 10
  sums = reduceSum(z, axes=[1])
  total = reduceSum(z)
  next = k + 1
  fetch z
  fetch sums
  fetch total
  fetch next
}
)";

/// 0, 1, … in an element type.
Literal counted(ElementType element, const Shape& shape) {
  Literal all({element, shape});
  for (int64_t i = 0; i < shape.elements(); ++i) {
    all.set(i, static_cast<double>(i));
  }
  return all;
}

struct PredictBench : Bench {
  PredictBench() {
    write("tenfold.dfg", tenfold);
    save(*this, "x.npy", counted(ElementType::F64, {5, 2}));
    save(*this, "k.npy", counted(ElementType::I64, {5}));
  }
  Outcome predict(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"run", "tenfold.dfg", "--feed", "x=x.npy", "--feed", "k=k.npy"};
    words.insert(words.end(), more.begin(), more.end());
    return dfc(words);
  }
};

} // namespace

TEST_CASE("dfc run: batches of one row") {
  const PredictBench bench;
  bench.write("one.dfg", "graph one {\n  input x : f32[1, 2]\n  parameter seen : f32[1] = zeros()\n"
                         "  sums = reduceSum(x, axes=[1])\n  fetch sums\n}\n");
  const std::vector<std::string> words = {"run", "one.dfg", "--feed", "x=x.npy"};
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return bench.dfc(more);
  };
  const Outcome all = run({"--predict", "sums=sums.npy"});
  INFO(all.err);
  REQUIRE(all.status == 0);
  CHECK_THAT(all.out, containing("5 rows: 5 batches of 1 in "));
  CHECK(load(bench, "sums.npy") == floats({5}, {1, 5, 9, 13, 17})); // 2 r + 2 r + 1
  REQUIRE(run({"--epochs", "1", "--fetch", "sums=last.npy"}).status == 0);
  CHECK(load(bench, "last.npy") == floats({1}, {17}));
  save(bench, "x.npy", counted(ElementType::F32, {1, 2}));
  REQUIRE(run({"--predict", "sums=sums.npy"}).status == 0);
  CHECK(load(bench, "sums.npy") == floats({1}, {1}));
}

TEST_CASE("dfc run --predict: all rows in their order, the last batch padded and cut") {
  const PredictBench bench;
  const Outcome outcome =
      bench.predict({"--predict", "sums=sums.npy", "--predict", "z=all.npz", "--predict", "next=all.npz"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK_THAT(outcome.out, containing("5 rows: 2 batches of 4 in "));
  CHECK_THAT(outcome.out, containing("sums: f32[5]\n"));
  CHECK(load(bench, "sums.npy") == floats({5}, {10, 50, 90, 130, 170})); // 10 (2 r + 2 r + 1)
  const auto all = readNpz(bench.file("all.npz"));
  REQUIRE(all.ok());
  CHECK(all->at("z") == floats({5, 2}, {0, 10, 20, 30, 40, 50, 60, 70, 80, 90}));
  CHECK(all->at("next").at(4) == 5);
  save(bench, "x.npy", floats({1, 2}, {1, 2})); // fewer rows than a batch
  save(bench, "k.npy", counted(ElementType::I32, {1}));
  const Outcome one = bench.predict({"--predict", "sums=sums.npy", "--json"});
  REQUIRE(one.status == 0);
  CHECK(load(bench, "sums.npy") == floats({1}, {30}));
  CHECK(Json::parse(one.out)["rows"] == 1);
}

TEST_CASE("dfc run --predict: one batch of an input beside more rows of another is an error") {
  const PredictBench bench;
  save(bench, "x.npy", floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})); // k has five rows
  const Outcome outcome = bench.predict({"--predict", "sums=sums.npy"});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, containing("error: input 'x' has 4 rows, one batch, but 'k' has 5\n"));
}

TEST_CASE("dfc run --predict: a fetch without the batch, and words that do not go together") {
  const PredictBench bench;
  const Outcome total = bench.predict({"--predict", "total=total.npy"});
  CHECK(total.status == 1);
  CHECK_THAT(total.err,
             containing("error: fetch 'total' is f32[]: its first axis is not the batch, 4 rows, so there is "
                        "no row of it for each row of the data\n"
                        "  hint: fetches with a row for each row of the data: z, sums, next\n"));
  CHECK(!std::filesystem::exists(bench.file("total.npy")));
  const Outcome words = bench.predict({"--predict", "z", "--steps", "3", "--shuffle", "1"});
  CHECK(words.status == 1);
  CHECK(words.err ==
        "error: --predict and --steps do not go together: predictions take each row once, in its "
        "order\n  hint: leave --steps out\n"
        "error: --predict and --shuffle do not go together: predictions take each row once, in "
        "its order\n  hint: leave --shuffle out\n"
        "error: --predict z names no file\n  hint: --predict z=FILE.npy\n");
  const Outcome trains =
      bench.dfc({"run", "counting.dfg", "--feed", "row=rows.npy", "--predict", "sum=sum.npy"});
  CHECK(trains.status == 1);
}

TEST_CASE("dfc run: f64 and i64 of NumPy feed f32 and i32; what would be lost is told") {
  const PredictBench bench;
  Literal x = counted(ElementType::F64, {5, 2});
  x.set(3, 0.1);
  save(bench, "x.npy", x);
  const Outcome rounded = bench.predict({"--predict", "sums=sums.npy"});
  CHECK(rounded.status == 0);
  CHECK(rounded.err == "x.npy: numbers are rounded to the element type of the input\n");
  Literal large(TensorType{ElementType::I64, {5}});
  large.mutableData<int64_t>()[3] = 5'000'000'000;
  save(bench, "k.npy", large);
  const Outcome range = bench.predict({"--predict", "sums=sums.npy"});
  CHECK(range.status == 1);
  CHECK(range.err == "k.npy: error: element 3 is 5000000000, which i32 cannot hold\n"
                     "  hint: declare it as i64, or bring the numbers into the range of i32\n");
  save(bench, "k.npy", counted(ElementType::F64, {5}));
  const Outcome floating = bench.predict({"--predict", "sums=sums.npy"});
  CHECK(floating.status == 1);
  CHECK(floating.err == "k.npy: error: holds f64[5], but input 'k' is i32[4]\n"
                        "  hint: floats become no integers by themselves: round them in NumPy: "
                        "np.rint(array).astype(np.int32)\n");
}

TEST_CASE("dfc run --eval: rows that the evaluation leaves out are told") {
  const PredictBench bench;
  save(bench, "rows.npy", floats({2, 2}, {1, 2, 3, 4}));
  const Outcome outcome = bench.dfc({"run", "counting.dfg", "--feed", "row=rows.npy", "--eval", "tenfold.dfg",
                                     "--eval-feed", "x=x.npy", "--eval-feed", "k=k.npy"});
  CHECK_THAT(outcome.err, containing("x.npy: 5 rows make 1 batch of 4; 1 row is left out of each epoch\n"));
}

TEST_CASE("dfc run: slips in names of fetches are told before a graph is planned") {
  const PredictBench bench;
  // A calibration table that is not there is only looked for when the graph is planned.
  const Outcome fetch = bench.predict({"--fetch", "sum=sums.npy", "--calibration", "absent.json"});
  CHECK(fetch.status == 1);
  CHECK(fetch.err == "error: there is no fetch 'sum'\n"
                     "  hint: did you mean 'sums'? There are: z, sums, total, next\n");
  const Outcome best =
      bench.dfc({"run", "counting.dfg", "--feed", "row=x.npy", "--eval", "affine.dfg", "--checkpoint",
                 "c.safetensors", "--keep-best", "totl", "--calibration", "absent.json"});
  CHECK(best.status == 1);
  CHECK(best.err == "error: there is no fetch 'totl'\n  hint: did you mean 'total'? There are: z, total\n");
}

TEST_CASE("dfc run: a feed or a machine file that is not there has a near name") {
  const PredictBench bench;
  const Outcome feed = bench.dfc({"run", "affine.dfg", "--feed", "x=xx.npy", "--feed", "y=y.npy"});
  CHECK(feed.err == "xx.npy: error: cannot open: No such file or directory\n"
                    "  hint: did you mean 'x.npy'?\n");
  bench.write("train-images.gz", "");
  CHECK(bench.dfc({"run", "affine.dfg", "--feed", "x=train-imges.gz", "--feed", "y=y.npy"}).err ==
        "train-imges.gz: error: cannot be opened: No such file or directory\n"
        "  hint: did you mean 'train-images.gz'?\n");
  bench.write("twins.json", "{}");
  const Outcome machine = bench.predict({"-m", "twin.json"});
  CHECK(machine.status == 1);
  CHECK_THAT(machine.err, containing("did you mean -m twins.json? "));
}
