// Calibration tables: signatures, finding and keeping rows, and the JSON form in and out.
#include "ir/machine/calibration.h"

#include "ir/author/dsl.h"
#include "ir/author/text/parse.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/op_samples.h"
#include "tests/support/parsed.h"

using namespace dfc;

namespace {

using test::parsed;

OpId opOf(const Graph& graph, const std::string& value) { return graph[graph.findValue(value)].producer; }

LoneOp aloneOf(const test::OpSample& sample) {
  GraphBuilder builder;
  std::vector<ValueId> operands;
  for (const TensorType& type : sample.operands) {
    ops::Input input;
    input.type = type;
    operands.push_back(builder.result(builder.append(input, {}, {"some name"})));
  }
  const OpId op = builder.append(sample.attributes, operands, {"other", "scope", "gpu*"});
  return {*std::move(builder).finish(), op};
}

std::string signatureIn(const std::string& text, const std::string& value) {
  const Graph graph = parsed(text);
  return signatureOf(graph, opOf(graph, value));
}

std::string errorsOf(const std::string& json) {
  const auto tables = parseCalibrations(json, "t.json");
  return tables ? "" : render(tables.errors());
}

} // namespace

TEST_CASE("calibration: a signature is kind, operand types and attributes, and no name") {
  CHECK(
      signatureIn(
          "graph a {\n input x : f32[2, 3]\n y = matmul(x, x, transposeB=true, precision=tf32)\n fetch y\n}",
          "y") == "matmul(f32[2, 3], f32[2, 3]) transposeB=true, precision=tf32");
  CHECK(signatureIn("graph a {\n input u : f32[4]\n scope \"s\" on gpu0 { r = u * 2 }\n fetch r\n}", "r") ==
        "mul(f32[4], f32[])");
  CHECK(signatureIn("graph b {\n input v : f32[4]\n q = v * 3\n fetch q\n}", "q") == "mul(f32[4], f32[])");
  const std::string fused = "graph c {\n input x : f32[2, 3]\n input w : f32[3, 4]\n input b : f32[4]\n"
                            " y = fusedMatmul(x, w, b, body=\"add:f32 %0 %1; relu:f32 %2\")\n fetch y\n}";
  CHECK(signatureIn(fused, "y") ==
        "fusedMatmul(f32[2, 3], f32[3, 4], f32[4]) body=\"add:f32 %0 %1; relu:f32 %2\"");
}

TEST_CASE("calibration: every op that is timed can be had back from its signature") {
  size_t timed = 0;
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (!isTimed(kind)) {
      continue;
    }
    const LoneOp sample = aloneOf(test::sampleOf(kind));
    const std::string signature = signatureOf(sample.graph, sample.op);
    INFO(signature);
    const auto lone = opOfSignature(signature);
    REQUIRE(lone.has_value());
    CHECK(signatureOf(lone->graph, lone->op) == signature);
    CHECK(sameAttributes(lone->graph[lone->op].attributes, sample.graph[sample.op].attributes));
    CHECK(lone->graph.operandTypesOf(lone->op) == sample.graph.operandTypesOf(sample.op));
    ++timed;
  }
  CHECK(timed > 20);
}

TEST_CASE("calibration: copies are linear between sizes, beyond the largest too, and never below the least") {
  Calibration table{"A", {}};
  table.keepCopies({{"B", 200, 30}, {"B", 100, 10}, {"A", 50, 7}, {"C", 100, 5}});
  table.keepCopies({{"B", 100, 20}}); // the later one counts
  REQUIRE(table.copies.size() == 4);
  CHECK(table.copySeconds("B", 100) == 20);
  CHECK(table.copySeconds("B", 1) == 20);
  CHECK(table.copySeconds("B", 150) == 25);
  CHECK(table.copySeconds("B", 400) == 50);
  CHECK(table.copySeconds("A", 100) == 14); // one size: its rate
  CHECK(table.copySeconds("A", 5) == 7);
  CHECK_FALSE(table.copySeconds("D", 100));
  CHECK(hasCopies({table}, "A", "C"));
  CHECK_FALSE(hasCopies({table}, "C", "A"));
}

TEST_CASE("calibration: copies are written and read back, and each mistake is said") {
  Calibration table{"A", {}};
  table.keepCopies({{"B \"quoted\"", 4, 1e-6}, {"A", 1 << 20, 0.25}});
  const auto again = parseCalibrations(printCalibrations({table}), "t.json");
  REQUIRE(again.ok());
  CHECK(*again == std::vector<Calibration>{table});
  const auto errorsOfCopies = [](const std::string& rows) {
    return errorsOf("{\"tables\": [{\"device\": \"A\", \"ops\": [], \"copies\": [" + rows + "]}]}");
  };
  const std::string good = "{\"to\": \"B\", \"bytes\": 4, \"seconds\": 1}";
  CHECK(errorsOfCopies(good).empty());
  for (const auto& [rows, said] :
       {std::pair(good + ", " + good, "copies[1].bytes: the same copy a second time"),
        std::pair(std::string("{\"to\": \"\", \"bytes\": 4, \"seconds\": 1}"),
                  "copies[0].to: a copy goes to a model"),
        std::pair(std::string("{\"to\": \"B\", \"bytes\": 0, \"seconds\": 1}"),
                  "copies[0].bytes: a copy is of 1 byte"),
        std::pair(std::string("{\"to\": \"B\", \"bytes\": 4, \"seconds\": 0}"),
                  "copies[0].seconds: a time is more than 0 and at most 1e+30 seconds"),
        std::pair(std::string("{\"to\": \"B\", \"bytes\": 4, \"seconds\": 1e31}"),
                  "copies[0].seconds: a time is more than 0 and at most 1e+30 seconds"),
        std::pair(std::string("{\"to\": \"B\"}"), "bytes"), std::pair(std::string("7"), "copies[0]")}) {
    INFO(rows);
    CHECK(errorsOfCopies(rows).find(said) != std::string::npos);
  }
}

TEST_CASE("calibration: an op with four results can be had back from its signature") {
  const std::string signature = "batchNormGradient(f32[2, 3, 4, 5], f32[3], f32[3], f32[3], f32[2, 3, 4, 5], "
                                "f32[2, 3, 4, 5]) relu=true, addend=true";
  const auto lone = opOfSignature(signature);
  REQUIRE(lone.has_value());
  CHECK(lone->graph[lone->op].resultCount == 4);
  CHECK(signatureOf(lone->graph, lone->op) == signature);
}

TEST_CASE("calibration: what is no signature") {
  for (const std::string text : {"",
                                 "relu",
                                 "relu(",
                                 "relu)(",
                                 "relu()",
                                 "relu(f32[2]",
                                 "relu(f32[2]",
                                 "relu(f32[2],f32[2])",
                                 "relu(f32[2]) ",
                                 "relu(f32[2])x",
                                 " relu(f32[2])",
                                 "relu(f32[ 2])",
                                 "relu(f32[2], f32[2])",
                                 "relo(f32[2])",
                                 "matmul(f32[2, 3], f32[2, 3])",
                                 "matmul(f32[2, 2], f32[2, 2]) precision=unstated",
                                 "matmul(f32[2, 2], f32[2, 2]) transposeB=true, transposeA=true",
                                 "input()",
                                 "reshape(f32[2]) shape=[1, 2]",
                                 "relu(f32[2]) )\n z = neg(x0",
                                 "relu(f32[2]\n input q : f32[1])",
                                 "fused(f32[2]) body=\"\""}) {
    INFO(text);
    CHECK_FALSE(opOfSignature(text).has_value());
  }
}

TEST_CASE("calibration: rows are kept sorted, and a new row takes the place of the old") {
  Calibration table{"D", {}};
  table.keep({{"neg(f32[2])", 3, ""}, {"exp(f32[2])", 1, "a"}});
  table.keep({{"exp(f32[2])", 2, "b"}, {"abs", 5, ""}, {"exp(f32[2])", 4, "c"}});
  REQUIRE(table.ops.size() == 3);
  CHECK(table.ops[0] == CalibratedOp{"abs", 5, ""});
  CHECK(table.ops[1] == CalibratedOp{"exp(f32[2])", 4, "c"}); // the latest of all
  CHECK(table.ops[2] == CalibratedOp{"neg(f32[2])", 3, ""});
  REQUIRE(table.find("neg(f32[2])") != nullptr);
  CHECK(table.find("neg(f32[2])")->seconds == 3);
  CHECK(table.find("neg(f32[3])") == nullptr);
  CHECK(Calibration{}.find("neg(f32[2])") == nullptr);
}

TEST_CASE("calibration: JSON and back, to the bit") {
  Calibration gpu{"NVIDIA \"H200\"", {}};
  gpu.keep({{"fused(f32[8]) body=\"add:f32 %0 %0\"", 0.1 + 0.2, "vector of 4, \xC2\xB5"},
            {"matmul(f32[2, 2], f32[2, 2])", 1e-9, "", 1.0 / 3}});
  const std::vector<Calibration> tables = {Calibration{"empty", {}}, gpu}; // 'e' is behind 'N'
  const auto read = parseCalibrations(printCalibrations(tables), "t.json");
  REQUIRE(read.ok());
  CHECK(*read == std::vector<Calibration>{gpu, Calibration{"empty", {}}});
  CHECK(printCalibrations(*read) == printCalibrations({gpu, Calibration{"empty", {}}}));
  CHECK(parseCalibrations(printCalibrations({}), "t.json")->empty());
  CHECK(tableOf(*read, "empty") == &(*read)[1]);
  CHECK(tableOf(*read, "NVIDIA") == nullptr);
}

TEST_CASE("calibration: all errors of a file at once, each at its place") {
  CHECK(errorsOf("{\"tables\": [\n"
                 " {\"device\": \"A\", \"ops\": [\n"
                 "  {\"signature\": \"relu(f32[2])\", \"seconds\": 0},\n"
                 "  {\"signature\": \"relu(f32[2])\", \"seconds\": 1},\n"
                 "  {\"signature\": \"relo(f32[2])\", \"seconds\": \"1\"},\n"
                 "  {\"signatur\": \"exp(f32[2])\", \"seconds\": 1}]},\n"
                 " {\"device\": \"A\", \"ops\": [7]},\n"
                 " {\"device\": \"\"}\n"
                 "]}\n") ==
        R"x(t.json:3:44: error: tables[0].ops[0].seconds: a time is more than 0 and at most 1e+30 seconds
    {"signature": "relu(f32[2])", "seconds": 0},
                                             ^
t.json:4:17: error: tables[0].ops[1].signature: the same op a second time
    {"signature": "relu(f32[2])", "seconds": 1},
                  ^~~~~~~~~~~~~~
  hint: keep one of them
t.json:5:17: error: tables[0].ops[2].signature: no op that a device spends time on has this signature
    {"signature": "relo(f32[2])", "seconds": "1"},
                  ^~~~~~~~~~~~~~
  hint: dfc calibrate writes signatures: kind(operand types) attributes
t.json:5:44: error: tables[0].ops[2].seconds: string where a number belongs
    {"signature": "relo(f32[2])", "seconds": "1"},
                                             ^~~
t.json:6:3: error: tables[0].ops[3]: "signature" is missing
    {"signatur": "exp(f32[2])", "seconds": 1}]},
    ^
t.json:6:4: error: tables[0].ops[3].signatur: no such key
    {"signatur": "exp(f32[2])", "seconds": 1}]},
     ^~~~~~~~~~
  hint: did you mean "signature"?
t.json:7:13: error: tables[1].device: a second table of 'A'
   {"device": "A", "ops": [7]},
              ^~~
  hint: keep one of them
t.json:7:26: error: tables[1].ops[0]: number where an object belongs
   {"device": "A", "ops": [7]},
                           ^
t.json:8:2: error: tables[2]: "ops" is missing
   {"device": ""}
   ^
t.json:8:13: error: tables[2].device: a table is of a model of device
   {"device": ""}
              ^~
  hint: write the model that the machine file has
)x");
  CHECK(errorsOf("[]") == "t.json:1:1: error: a calibration file holds one object\n  []\n  ^\n"
                          "  hint: dfc calibrate writes them\n");
  CHECK(errorsOf("{}") == "t.json:1:1: error: \"tables\" is missing\n  {}\n  ^\n"
                          "  hint: dfc calibrate writes calibration files\n");
  CHECK(errorsOf("{\"tables\": [").starts_with("t.json:1:13: error: unexpected end of input"));
}

TEST_CASE("calibration: a file that is not there") {
  const auto missing = readCalibrations("/nowhere/table.json");
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.errors().front().where.file == "/nowhere/table.json");
}
