// `dfc run --feed`: batches, epochs, shuffling, archives and installed data; and what it says to wrong feeds.
#include "runtime/data/shuffle.h"
#include "runtime/files/npz.h"
#include "tests/support/golden.h"
#include "tests/tools/run_workshop.h"

#include <nlohmann/json.hpp>

using namespace dfc;
using namespace dfc::test;
using Json = nlohmann::json;

TEST_CASE("dfc run: longer files are batches, and begin again after the last") {
  const Bench bench;
  save(bench, "rows.npy", floats({3, 2}, {1, 2, 10, 20, 100, 200}));
  const Outcome outcome = bench.dfc(
      {"run", "counting.dfg", "--feed", "row=rows.npy", "--steps", "4", "--fetch", "sum=sum.npy", "--json"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  // Three rows and the first again: 1 + 10 + 100 + 1 and 2 + 20 + 200 + 2.
  CHECK(load(bench, "sum.npy") == floats({2}, {112, 224}));
  const Json object = Json::parse(outcome.out);
  CHECK(object["stepsPerEpoch"] == 3);
  CHECK(object["fetches"]["seen"]["values"] == std::vector<float>{4});
  CHECK(object["fetches"]["first"]["values"] == std::vector<float>{3}); // of the fourth step: 1 + 2
  const Outcome epochs = bench.dfc({"run", "counting.dfg", "--feed", "row=rows.npy", "--epochs", "2"});
  REQUIRE(epochs.status == 0);
  // Mean of 3, 30 and 300; of the steps counted 1 2 3, then 4 5 6.
  CHECK_THAT(epochs.out, containing("epoch 1: first 111, seen 2 (mean of 3 steps)\n"));
  CHECK_THAT(epochs.out, containing("epoch 2: first 111, seen 5 (mean of 3 steps)\n"));
  CHECK_THAT(epochs.out, containing("6 steps in "));
}

TEST_CASE("dfc run: an incomplete last batch is left out and said") {
  const Bench bench;
  save(bench, "long.npy", floats({9}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  const Outcome outcome =
      bench.dfc({"run", "affine.dfg", "--feed", "x=long.npy", "--feed", "y=y.npy", "--epochs", "1"});
  REQUIRE(outcome.status == 0);
  CHECK(outcome.err ==
        "long.npy: 9 rows make 2 batches of 4; 1 row is left out of each epoch\n"
        "input 'y' has 4 rows, one batch, but 'x' has 9; the same rows are fed at every step\n");
  CHECK_THAT(outcome.out, containing("2 steps in "));
}

TEST_CASE("dfc run: --shuffle draws the rows of each epoch by its seed") {
  const Bench bench;
  save(bench, "rows.npy", floats({5, 2}, {0, 0, 1, 0, 2, 0, 3, 0, 4, 0}));
  for (const int64_t steps : {1, 4, 7}) {
    const Outcome outcome = bench.dfc({"run", "counting.dfg", "--feed", "row=rows.npy", "--steps",
                                       std::to_string(steps), "--shuffle", "11", "--json"});
    REQUIRE(outcome.status == 0);
    const int64_t last = steps - 1;
    const auto order = shuffledRows(5, 11, last / 5);
    CHECK(Json::parse(outcome.out)["fetches"]["first"]["values"][0] == order[static_cast<size_t>(last % 5)]);
  }
}

TEST_CASE("dfc run: bytes in place of floats may be pixels") {
  const Bench bench;
  save(bench, "bytes.npy", Literal(TensorType{ElementType::U8, {4}}));
  CHECK_THAT(bench.dfc({"run", "affine.dfg", "--feed", "x=bytes.npy", "--feed", "y=bytes.npy"}).err,
             containing("convert it in NumPy: array.astype(np.float32), / 255 for pixels\n"));
}

TEST_CASE("dfc run: wrong feeds and fetches come all at once, each with its way out") {
  const Bench bench;
  save(bench, "long.npy", Literal(TensorType{ElementType::Bool, {4}}));
  save(bench, "square.npy", floats({2, 2}, {1, 2, 3, 4}));
  const Outcome outcome =
      bench.dfc({"run", "affine.dfg", "--feed", "x=long.npy", "--feed", "yy=y.npy", "--fetch", "zz=z.npy"});
  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == "long.npy: error: holds bool[4], but input 'x' is f32[4]\n"
                       "  hint: convert it in NumPy: array.astype(np.float32)\n"
                       "error: there is no input 'yy'\n"
                       "  hint: did you mean 'y'? There are: x, y\n"
                       "error: input 'y' (f32[4]) is not fed\n"
                       "  hint: add --feed y=FILE.npy\n"
                       "error: there is no fetch 'zz'\n"
                       "  hint: did you mean 'z'? There are: z, total\n");
  const Outcome shape = bench.dfc({"run", "affine.dfg", "--feed", "x=square.npy", "--feed", "y=y.npy"});
  CHECK(shape.status == 1);
  CHECK(shape.err ==
        "square.npy: error: holds f32[2, 2], but input 'x' is f32[4]\n"
        "  hint: give it the input's shape, or more rows of that shape: a batch of them is fed at each "
        "step\n");
  save(bench, "both.npy", Literal(TensorType{ElementType::Bool, {2, 2}}));
  const Outcome both = bench.dfc({"run", "affine.dfg", "--feed", "x=both.npy", "--feed", "y=y.npy"});
  CHECK(both.err ==
        "both.npy: error: holds bool[2, 2], but input 'x' is f32[4]\n"
        "  hint: convert it in NumPy: array.astype(np.float32); and give it the input's shape, or more rows "
        "of that shape: a batch of them is fed at each step\n");
  const Outcome kind = bench.dfc({"run", "affine.dfg", "--feed", "x=x.jpg", "--feed", "y=y.npy"});
  CHECK(kind.status == 1);
  CHECK_THAT(kind.err, containing("x.jpg: error: is no kind of feed that dfc reads"));
  const Outcome folder = bench.dfc({"run", "affine.dfg", "--feed", "x=.", "--feed", "y=y.npy"});
  CHECK(folder.status == 1);
  CHECK_THAT(folder.err, startingWith(".: error: is a folder, not a file\n  hint: give FILE.npy, "));
}

TEST_CASE("dfc run: a mistake in a file that feeds two inputs is told once") {
  const Bench bench;
  bench.write("broken.csv", "a,b\n1,2\n3\n");
  const Outcome outcome =
      bench.dfc({"run", "affine.dfg", "--feed", "x=broken.csv:a", "--feed", "y=broken.csv:b"});
  CHECK(outcome.status == 1);
  CHECK(outcome.err ==
        "broken.csv:3:1: error: a row of 1 cell, where the first has 2\n"
        "  3\n  ^\n"
        "  hint: give every row as many cells; one that holds the separator stands in quotes\n");
}

TEST_CASE("dfc run: a data set with too few rows for one batch says so, and both ways out") {
  const Bench bench;
  save(bench, "three.npy", floats({3}, {1, 2, 3}));
  save(bench, "none.npy", floats({0}, {}));
  const auto refusal = [&](const std::string& file) {
    const Outcome outcome = bench.dfc({"run", "affine.dfg", "--feed", "x=" + file, "--feed", "y=y.npy"});
    CHECK(outcome.status == 1);
    return outcome.err;
  };
  CHECK(refusal("three.npy") ==
        "three.npy: error: holds f32[3], but input 'x' is f32[4]: it has 3 rows, too few for one batch of 4\n"
        "  hint: give it 4 rows or more, or declare the input with a batch of at most 3\n");
  CHECK_THAT(refusal("none.npy"), containing("it has 0 rows, too few for one batch of 4\n"
                                             "  hint: give it 4 rows or more\n"));
}

TEST_CASE("dfc run: rows and batches must be as many for every input") {
  const Bench bench;
  save(bench, "two.npy", floats({2, 4}, std::vector<float>(8, 1)));
  save(bench, "eight.npy", floats({8}, std::vector<float>(8, 1)));
  save(bench, "eleven.npy", floats({11}, std::vector<float>(11, 1))); // two batches of four, as of eight
  save(bench, "twelve.npy", floats({12}, std::vector<float>(12, 1)));
  const auto run = [&](const std::string& x, const std::string& y,
                       const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"run",    "affine.dfg", "--feed",   "x=" + x,
                                   "--feed", "y=" + y,     "--epochs", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return bench.dfc(words);
  };
  const Outcome steps = run("two.npy", "twelve.npy");
  CHECK(steps.status == 1);
  CHECK(steps.err == "error: input 'x' has data for 2 steps, but 'y' for 3\n"
                     "  hint: feed data for as many steps to both\n");
  const Outcome rows = run("eight.npy", "eleven.npy");
  CHECK(rows.status == 1);
  CHECK(rows.err == "error: input 'x' has 8 rows, but 'y' has 11\n"
                    "  hint: feed as many rows to both: a row of one belongs to the same row of the other\n");
  CHECK(run("two.npy", "eight.npy").status == 0);
  CHECK(run("eight.npy", "eight.npy", {"--shuffle", "1"}).status == 0);
  const Outcome shuffled = run("two.npy", "eight.npy", {"--shuffle", "1"});
  CHECK(shuffled.status == 1);
  CHECK(shuffled.err ==
        "error: --shuffle cannot pair the rows of input 'x' with those of 'y': a step takes 1 of "
        "one and 4 of the other\n  hint: leave --shuffle out, or shuffle the files before\n");
}

TEST_CASE("dfc run: every two files of rows must pair, not only each with the first") {
  const Bench bench;
  bench.write("three.dfg", "graph three {\n  input a: f32[4]\n  input b: f32[4]\n  input c: f32[4]\n"
                           "  y = add(add(a, b), c)\n  fetch y\n}\n");
  save(bench, "two.npy", floats({2, 4}, std::vector<float>(8, 1)));
  save(bench, "eight.npy", floats({8}, std::vector<float>(8, 1)));
  save(bench, "eleven.npy", floats({11}, std::vector<float>(11, 1)));
  // Two steps of each; b and c are cut into rows alike, of which c has three more.
  const Outcome outcome = bench.dfc({"run", "three.dfg", "--feed", "a=two.npy", "--feed", "b=eight.npy",
                                     "--feed", "c=eleven.npy", "--epochs", "1"});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, containing("error: input 'b' has 8 rows, but 'c' has 11\n"));
}

TEST_CASE("dfc run: members of archives feed inputs") {
  const Bench bench;
  REQUIRE(writeNpz(bench.file("in.npz"),
                   {{"x", floats({4}, {1, 2, 3, 4})}, {"other", floats({4}, {10, 20, 30, 40})}})
              .ok());
  const Outcome good = bench.dfc(
      {"run", "affine.dfg", "--feed", "x=in.npz", "--feed", "y=in.npz:other", "--fetch", "z=z.npy"});
  INFO(good.err);
  REQUIRE(good.status == 0);
  CHECK(load(bench, "z.npy") == floats({4}, expectedZ));
  const Outcome bad = bench.dfc({"run", "affine.dfg", "--feed", "x=in.npz", "--feed", "y=in.npz"});
  CHECK(bad.status == 1);
  CHECK_THAT(bad.err, startingWith("in.npz: error: there is no array 'y'\n"));
  CHECK_THAT(bad.err, containing("here are: other, x\n"));
}

TEST_CASE("dfc run: an installed data set feeds an input") {
  const Bench bench;
  bench.write("sum.dfg", "graph sum {\n  input images : f32[1000, 784]\n  input labels : i64[1000]\n"
                         "  fetch brightest = reduceMax(images)\n  fetch label = reduceMax(labels)\n}\n");
  const Outcome slip = bench.dfc({"run", "sum.dfg", "--feed", "images=fashion-mnist/test/image"});
  CHECK(slip.status == 1);
  CHECK_THAT(
      slip.err,
      containing("there is no part of fashion-mnist 'test/image'\n  hint: did you mean 'test/images'?"));
  if (!std::filesystem::is_directory("/usr/share/datasets/fashion-mnist")) {
    DFC_SKIP("the Debian package dataset-fashion-mnist is not installed");
  }
  const Outcome outcome = bench.dfc({"run", "sum.dfg", "--feed", "images=fashion-mnist/test/images", "--feed",
                                     "labels=fashion-mnist/test/labels", "--epochs", "1", "--json"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  const Json object = Json::parse(outcome.out);
  CHECK(object["steps"] == 10); // 10,000 / 1,000
  CHECK(object["fetches"]["brightest"]["values"][0] == 1.0);
  CHECK(object["fetches"]["label"]["values"][0] == 9);
}

TEST_CASE("dfc run: two files that were given to one another's inputs are told as swapped, in one error") {
  const Bench bench;
  bench.write("net.dfg", "graph net {\n  input images : f32[2, 3]\n  input labels : i64[2]\n"
                         "  input scale : f32[]\n"
                         "  fetch y = reduceSum(images) * scale\n  fetch labels\n}\n");
  save(bench, "images.npy", floats({4, 3}, std::vector<float>(12, 1)));
  save(bench, "labels.npy", Literal::of<int64_t>({4}, {0, 1, 0, 1}));
  const std::string told =
      bench.dfc({"run", "net.dfg", "--feed", "images=labels.npy", "--feed", "labels=images.npy"}).err;
  CHECK(told ==
        "error: the files of inputs 'images' and 'labels' are swapped: labels.npy fits 'labels', i64[2], "
        "and images.npy fits 'images', f32[2, 3]\n"
        "  hint: --feed images=images.npy --feed labels=labels.npy\n"
        "error: input 'scale' (f32[]) is not fed\n  hint: add --feed scale=NUMBER\n");
  // One that fits nothing, and one that fits the other's input, are two mistakes.
  save(bench, "odd.npy", floats({7}, std::vector<float>(7, 1)));
  const Outcome two = bench.dfc(
      {"run", "net.dfg", "--feed", "images=labels.npy", "--feed", "labels=odd.npy", "--feed", "scale=2"});
  CHECK(two.status == 1);
  CHECK_THAT(two.err, containing("labels.npy: error: holds i64[4], but input 'images' is f32[2, 3]\n"));
  CHECK_THAT(two.err, containing("odd.npy: error: holds f32[7], but input 'labels' is i64[2]\n"));
}
