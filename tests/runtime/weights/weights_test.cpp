// Weights of others: renamed, transposed, cast, and as many of them as fit.
#include "runtime/weights/load_weights.h"

#include "runtime/files/safetensors.h"
#include "tests/runtime/session_support.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

using namespace dfc;
using namespace dfc::test;

namespace {

NamedLiterals renamed(const std::string& rules, const NamedLiterals& tensors) {
  auto result = RenameRules::parse(rules, "rules").orThrow().apply(tensors, "w.safetensors");
  INFO(render(result.errors()));
  REQUIRE(result.ok());
  return *std::move(result);
}

std::vector<std::string> namesOf(const NamedLiterals& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, value] : tensors) {
    names.push_back(name);
  }
  return names;
}

const Literal one = floats({1}, {1});

/// Parameters w f32[2, 3] and b f32[3], and w.velocity where it is trained; all on the last device.
std::unique_ptr<Session> net(bool trained, int gpus = 0) {
  Builder g("net");
  const auto guard = g.on(gpus == 0 ? "cpu0" : "gpu0");
  const Tensor w = g.parameter("w", f32({2, 3})), b = g.parameter("b", f32({3}));
  if (trained) {
    const Tensor v = g.parameter("w.velocity", f32({2, 3})), c = g.parameter("b.velocity", f32({3}));
    g.assign(w, g.assign(v, w * 0.5));
    g.assign(b, g.assign(c, b * 0.5));
  }
  g.fetch("sum", reduceSum(w) + reduceSum(b));
  return opened(tinyPlan(finished(std::move(g)), smallMachine(gpus)));
}

} // namespace

TEST_CASE("rename rules: stars, regular expressions, what is dropped; the first that matches decides") {
  const NamedLiterals tensors{{"model.h.0.mlp.fc.weight", one},
                              {"model.h.12.ln.bias", one},
                              {"model.mask", one},
                              {"q.3", one},
                              {"other", one}};
  CHECK(namesOf(renamed("# of another\ndrop *.mask\nmodel.h.*.mlp.*.weight -> layer*.*.w   # two stars\n"
                        "model.* -> *\n/q\\.(\\d+)/ -> queries[$1]\n",
                        tensors)) ==
        std::vector<std::string>{"h.12.ln.bias", "layer0.fc.w", "other", "queries[3]"});
  CHECK(namesOf(renamed("a+b -> $1\n", {{"a+b", one}, {"aab", one}})) ==
        std::vector<std::string>{"$1", "aab"});
}

TEST_CASE("rename rules: tensors are transposed and cast where asked") {
  const NamedLiterals tensors{{"m", floats({2, 3}, {1, 2, 3, 4, 5, 6})},
                              {"t", floats({1, 2, 3}, {1, 2, 3, 4, 5, 6})},
                              {"h", Literal::of<int64_t>({2}, {3, -1})}};
  const NamedLiterals made =
      renamed("m -> m transposed as f64\nt -> t transposed(2,0,1)\nh -> h as f32", tensors);
  CHECK(made.at("m") == Literal::of<double>({3, 2}, {1, 4, 2, 5, 3, 6}));
  CHECK(made.at("t") == floats({3, 1, 2}, {1, 4, 2, 5, 3, 6}));
  CHECK(made.at("h") == floats({2}, {3, -1}));
}

TEST_CASE("rename rules: a cast that would make a finite number infinite is refused") {
  const auto cast =
      RenameRules::parse("* -> * as f16\n", "r.txt").orThrow().apply({{"a", floats({2}, {1, 1e6F})}}, "w");
  REQUIRE(!cast.ok());
  CHECK(
      render(cast.errors()) ==
      "w: error: tensor 'a': element 1 is 1000000, which f16 cannot hold\n  hint: cast it to a wider type\n");
}

TEST_CASE("rename rules: mistakes of the file, each at its place, and of the tensors that it is for") {
  const auto errors =
      RenameRules::parse("a -> \na -> b*\nx y\ndrop\n/(/ -> c\n a -> b transposed(0,2) as f33\n", "r.txt");
  REQUIRE(!errors.ok());
  const std::string text = render(errors.errors());
  CHECK_THAT(text, containing("r.txt:1:1: error: is no rule\n"));
  CHECK_THAT(text, containing("r.txt:2:6: error: has 1 '*', but the pattern only 0\n  a -> b*\n       ^~\n"));
  CHECK_THAT(text, containing("r.txt:3:1: error: is no rule\n"));
  CHECK_THAT(text, containing("r.txt:4:1: error: 'drop' takes one pattern\n"));
  CHECK_THAT(text, containing("r.txt:5:1: error: is no regular expression"));
  CHECK_THAT(text, containing("r.txt:6:9: error: 'transposed(0,2)' says nothing about a tensor\n"));
  const auto both = RenameRules::parse("* -> same transposed\n", "r.txt").orThrow().apply({{"a", one}}, "w");
  REQUIRE(!both.ok());
  CHECK_THAT(render(both.errors()),
             containing("w: error: tensor 'a' is f32[1], which is not transposed by 2 axes\n"));
  const auto twice =
      RenameRules::parse("* -> same\n", "r.txt").orThrow().apply({{"a", one}, {"b", one}}, "w");
  REQUIRE(!twice.ok());
  CHECK_THAT(render(twice.errors()),
             containing("w: error: tensors 'a' and 'b' are both named 'same' by the rules\n"));
}

TEST_CASE("weights: an evaluation reads a training's checkpoint, and a training an evaluation's") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "w.safetensors").string();
  const Literal w = floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = floats({3}, {7, 8, 9}),
                zero = floats({2, 3}, {0, 0, 0, 0, 0, 0});
  REQUIRE(writeSafetensors(path, {{"w", w}, {"b", b}, {"w.velocity", zero}, {"b.velocity", b}}).ok());
  const auto evaluation = net(false);
  CHECK(!loadWeights(*evaluation, path).ok()); // not all of it has a place
  const auto loaded = loadWeights(*evaluation, path, {.partial = true});
  REQUIRE(loaded.ok());
  CHECK(loaded->set == 2);
  CHECK(loaded->unused == 2);
  CHECK(evaluation->state().at("w") == w);
  REQUIRE(writeSafetensors(path, {{"w", w}, {"b", b}}).ok());
  const auto training = net(true);
  CHECK(loadWeights(*training, path, {.partial = true})->set == 2); // half of its parameters, all of the file
  CHECK(training->state().at("b") == b);
}

TEST_CASE("weights: where little matches, one error has the nearest names, and nothing is set") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "w.safetensors").string();
  const Literal w = floats({2, 3}, {1, 2, 3, 4, 5, 6}), turned = floats({3, 2}, {1, 4, 2, 5, 3, 6});
  REQUIRE(writeSafetensors(path, {{"net.w", turned}, {"net.b", floats({3}, {7, 8, 9})}, {"x", one}}).ok());
  const auto session = net(false);
  const auto none = loadWeights(*session, path, {.partial = true});
  REQUIRE(!none.ok());
  CHECK(
      render(none.errors()) ==
      path +
          ": error: fits 0 of the plan's 2 parameters with its 3 tensors; 2 missing: 'w', 'b'\n"
          "  hint: 'w' may be its 'net.w', 'b' may be its 'net.b'; give rules (--rename): PATTERN -> NAME\n");
  WeightOptions options{RenameRules::parse("net.* -> *\n", "r").orThrow(), true};
  const auto unfit = loadWeights(*session, path, options);
  REQUIRE(!unfit.ok());
  CHECK_THAT(render(unfit.errors()), containing("1 of another type: 'w' (f32[3, 2], not f32[2, 3])\n"));
  CHECK(session->state().at("b") == floats({3}, {0, 0, 0}));
  options.rules = RenameRules::parse("net.w -> w transposed\nnet.* -> *\n", "r").orThrow();
  REQUIRE(loadWeights(*session, path, options).ok());
  CHECK(session->state().at("w") == w);
}

TEST_CASE("weights: one session's state is another's, whatever the devices that they lie on") {
  const auto training = net(true, 1), evaluation = net(false), other = net(true);
  const Literal w = floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = floats({3}, {7, 8, 9});
  REQUIRE(training->setState({{"w", w}, {"b", b}, {"w.velocity", w}, {"b.velocity", b}}).ok());
  const auto all = copyState(*training, *other);
  REQUIRE(all.ok());
  CHECK(all->set == 4);
  CHECK(other->state().at("w.velocity") == w);
  const auto whole = copyState(*training, *evaluation);
  REQUIRE(!whole.ok());
  CHECK(
      render(whole.errors()) ==
      "error: the other session's state has values for 2 of the plan's 2 parameters; 2 of its values are of "
      "no parameter: 'b.velocity', 'w.velocity'\n"
      "  hint: take those that the graph has: partial (WeightOptions::partial)\n");
  CHECK(evaluation->state().at("b") == floats({3}, {0, 0, 0}));
  const auto copied = copyState(*training, *evaluation, {.partial = true});
  REQUIRE(copied.ok());
  CHECK(copied->set == 2);
  CHECK(copied->unused == 2);
  CHECK(evaluation->state().at("w") == w);
  REQUIRE(copyState(*evaluation, *training, {.partial = true}).ok());
  CHECK(training->state().at("b.velocity") == b);
}

TEST_CASE("weights: values in memory go through rules, and one error says how little matches") {
  const auto session = net(false);
  const NamedLiterals values{{"net.w", floats({3, 2}, {1, 4, 2, 5, 3, 6})},
                             {"net.b", floats({3}, {7, 8, 9})}};
  const auto none = setWeights(*session, values, {.partial = true});
  REQUIRE(!none.ok());
  CHECK(
      render(none.errors()) ==
      "error: the state given fits 0 of the plan's 2 parameters with its 2 tensors; 2 missing: 'w', 'b'\n"
      "  hint: 'w' may be its 'net.w', 'b' may be its 'net.b'; give rules (WeightOptions::rules): PATTERN -> "
      "NAME\n");
  const WeightOptions options{RenameRules::parse("net.w -> w transposed\nnet.* -> *\n", "r").orThrow()};
  REQUIRE(setWeights(*session, values, options).ok());
  CHECK(session->state().at("w") == floats({2, 3}, {1, 2, 3, 4, 5, 6}));
}
