// Learning curves: what is drawn, and how much memory it takes.
#include "ir/draw/learning_curve.h"

#include "tests/support/catch.h"
#include "tests/support/matchers.h"

#include <cmath>

using namespace dfc;
using namespace dfc::test;

namespace {

size_t countOf(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

} // namespace

TEST_CASE("learning curve: a panel for each scalar, its evaluation in the same") {
  LearningCurve curve;
  curve.add("loss", 1, 2);
  curve.add("loss", 2, 1);
  curve.add("eval.loss", 2, 1.5);
  curve.add("a < b", 1, 7);
  const std::string svg = curve.svg("x & y");
  CHECK_THAT(svg, containing(">x &amp; y</text>"));
  CHECK_THAT(svg, containing("font-weight=\"bold\">loss</text>"));
  CHECK_THAT(svg, containing("font-weight=\"bold\">a &lt; b</text>"));
  CHECK(countOf(svg, "font-weight") == 2);
  CHECK(countOf(svg, "<circle") == 4);
  // Steps 1 and 2 at the ends of the axis, 76 and 736; the values at its top and bottom, 56 and 242.
  CHECK_THAT(svg, containing("d=\"M76.0 56.0L736.0 242.0\""));
}

TEST_CASE("learning curve: a million points are some thousand, which keep mean and range; NaN is left out") {
  LearningCurve curve;
  for (int step = 1; step <= 1000000; ++step) {
    curve.add("loss", step, step % 2 == 0 ? 1 : 3);
  }
  curve.add("loss", 1000001, NAN);
  const std::string svg = curve.svg("");
  CHECK(svg.size() < 150000);                  // 2048 points on three lines, some 14 bytes each
  CHECK_THAT(svg, containing("fill-opacity")); // the range
  CHECK_THAT(LearningCurve().svg(""), containing("nothing to draw"));
}

TEST_CASE("learning curve: values that span a factor of 30 stand on a logarithmic axis") {
  LearningCurve curve;
  curve.add("loss", 1, 100);
  curve.add("loss", 2, 10);
  curve.add("loss", 3, 1);
  CHECK_THAT(curve.svg(""), containing("M76.0 56.0L406.0 149.0L736.0 242.0")); // 10 is half way
}
