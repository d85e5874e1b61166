// Inputs and parameters that are parts or copies of an author's: what makes up the whole, and what does not.
#include "ir/verify/verify.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"
#include "tests/support/parsed.h"

namespace dfc::test {
namespace {

std::string faultOf(const std::string& statements) {
  return render(verifyWholeState(parsed("graph g {\n" + statements + "\n}")));
}

} // namespace

TEST_CASE("parts of an input: runs one behind the other") {
  CHECK(faultOf(R"(input a : f32[3, 4] = part(of="x", starts=[0, 0], whole=[5, 4])
                   input b : f32[2, 4] = part(of="x", starts=[3, 0], whole=[5, 4])
                   fetch a
                   fetch b)") == "");
  CHECK_THAT(faultOf(R"(input a : f32[3] = part(of="x", starts=[0], whole=[5])
                        fetch a)"),
             containing("the parts of 'x' end at 3 of axis 0, which has 5 elements"));
  CHECK_THAT(faultOf(R"(input a : f32[3] = part(of="x", starts=[0], whole=[5])
                        input b : f32[3] = part(of="x", starts=[2], whole=[5])
                        fetch a)"),
             containing("'b' begins at 2 of axis 0 of 'x', and the parts before it end at 3"));
  CHECK_THAT(faultOf(R"(input a : f32[2, 2] = part(of="x", starts=[0, 0], whole=[2, 4])
                        input b : f32[2, 2] = part(of="x", starts=[0, 2], whole=[2, 4])
                        fetch a)"),
             containing("input 'a' is no run of neighbouring elements of 'x'"));
}

TEST_CASE("parts of one tensor have its element type and shape") {
  CHECK_THAT(faultOf(R"(input a : f32[4] = part(of="x", starts=[0], whole=[8])
                        input b : f64[4] = part(of="x", starts=[4], whole=[8])
                        fetch a)"),
             containing("'b' is of a 'x' of f64[8], and 'a' of one of f32[8]"));
  CHECK_THAT(faultOf(R"(parameter p : f32[4] = zeros(starts=[0], whole=[8], of="w")
                        parameter q : f32[4] = zeros(starts=[4], whole=[9], of="w")
                        fetch p)"),
             containing("'q' is of a 'w' of f32[9], and 'p' of one of f32[8]"));
  CHECK_THAT(faultOf(R"(parameter p : f32[1, 8] = zeros(starts=[0, 0], whole=[2, 8], of="w")
                        parameter q : f32[2, 4] = zeros(starts=[0, 4], whole=[2, 8], of="w")
                        fetch p)"),
             containing("the parts 'p' and 'q' of 'w' overlap"));
}

TEST_CASE("parts along two axes fill the whole, and may have copies") {
  const std::string quarters = R"(parameter p : f32[1, 4] = zeros(starts=[0, 0], whole=[2, 8], of="w")
                                  parameter q : f32[1, 4] = zeros(starts=[0, 4], whole=[2, 8], of="w")
                                  parameter r : f32[1, 4] = zeros(starts=[1, 0], whole=[2, 8], of="w")
                                  )";
  CHECK(faultOf(quarters + R"(parameter s : f32[1, 4] = zeros(starts=[1, 4], whole=[2, 8], of="w")
                              fetch p)") == "");
  CHECK(faultOf(quarters + R"(parameter s : f32[1, 4] = zeros(starts=[1, 4], whole=[2, 8], of="w")
                              parameter t : f32[1, 4] = zeros(starts=[1, 4], whole=[2, 8], of="w")
                              fetch p)") == "");
  CHECK_THAT(faultOf(quarters + "fetch p"), containing("the parts of 'w' have 12 of its 16 elements"));
  CHECK_THAT(faultOf(quarters + R"(parameter s : f32[1, 4] = zeros(starts=[1, 4], whole=[2, 8], of="w")
                                   parameter t : f32[1, 4] = constant(1, starts=[1, 4], whole=[2, 8], of="w")
                                   fetch p)"),
             containing("the copies 's' and 't' of 'w' start with other values"));
}

TEST_CASE("copies of a parameter start alike and are assigned alike") {
  CHECK(faultOf(R"(parameter p : f32[4] = normal(0, 1, seed=3)
                   parameter q : f32[4] = normal(0, 1, seed=3, of="p")
                   fetch q)") == "");
  CHECK_THAT(faultOf(R"(parameter p : f32[4] = normal(0, 1, seed=3)
                        parameter q : f32[4] = normal(0, 1, seed=4, of="p")
                        fetch q)"),
             containing("the copies 'p' and 'q' of 'p' start with other values"));
  CHECK_THAT(faultOf(R"(parameter p : f32[4] = zeros()
                        parameter q : f32[4] = zeros(of="p")
                        next = assign(p, add(p, 1)))"),
             containing("the copies 'p' and 'q' of 'p' are not both assigned"));
  CHECK_THAT(faultOf(R"(parameter p : f32[8] = zeros()
                        parameter q : f32[4] = zeros(starts=[0], whole=[8], of="p")
                        fetch q)"),
             containing("of 'p' 'q' is a part, and 'p' is all"));
}

TEST_CASE("an input that is a part names its whole") {
  CHECK_FALSE(
      parseGraph("graph g {\n  input a : f32[4] = part(starts=[4], whole=[8])\n  fetch a\n}", "g.dfg").ok());
}

} // namespace dfc::test
