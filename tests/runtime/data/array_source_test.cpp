// Arrays by a word: each kind of file, what is chosen of it, and its mistakes.
#include "runtime/data/array_source.h"
#include "runtime/data/convert_elements.h"

#include "ir/base/atomic_file.h"
#include "runtime/files/npz.h"
#include "runtime/files/safetensors.h"
#include "tests/runtime/session_support.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

using namespace dfc;
using namespace dfc::test;

namespace {

struct Files {
  TemporaryFolder folder;
  std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  std::string write(const std::string& name, std::string_view text) const {
    REQUIRE(writeFileAtomically(path(name), text).ok());
    return path(name);
  }
};

Literal array(const std::string& source, const std::string& preferred = "") {
  auto read = readArray(source, preferred);
  INFO(render(read.errors()));
  REQUIRE(read.ok());
  return *std::move(read);
}

std::string errorOf(const std::string& source) {
  const auto read = readArray(source);
  REQUIRE(!read.ok());
  return render(read.errors());
}

} // namespace

TEST_CASE("array source: columns of a CSV file, by name, in the order asked for") {
  const Files files;
  const std::string csv = files.write("t.csv", "width,kind,count\n1.5,rose,3\n2.5,lily,4\n3.5,rose,5\n");
  CHECK(array(csv + ":count,width") == Literal::of<double>({3, 2}, {3, 1.5, 4, 2.5, 5, 3.5}));
  CHECK(array(csv + ":count") == Literal::of<int64_t>({3}, {3, 4, 5}));
  CHECK(array(csv + ":#kind") == Literal::of<int64_t>({3}, {0, 1, 0}));
  CHECK_THAT(errorOf(csv), containing(csv + ":2:5: error: 'rose' in column 'kind' is not a number\n"));
  CHECK_THAT(errorOf(csv + ":cout"), containing("has no column 'cout'\n  hint: did you mean 'count'?"));
  CHECK_THAT(errorOf(csv + ":count,count"), containing("column 'count' is asked for twice\n"));
  CHECK(array(files.write("n.csv", "1,2\n3,9007199254740993\n")) ==
        Literal::of<int64_t>({2, 2}, {1, 2, 3, 9007199254740993}));
  CHECK(holdsTextNumbers(csv + ":count"));
  CHECK(fileOfArray(csv + ":#kind") == csv);
}

TEST_CASE("array source: numbers of a text in another element type") {
  const Literal numbers = Literal::of<double>({2}, {1, 2.5});
  CHECK(*numbersAs(ElementType::F32, numbers, "t.csv") == floats({2}, {1, 2.5}));
  const auto fraction = numbersAs(ElementType::I64, numbers, "t.csv");
  REQUIRE(!fraction.ok());
  CHECK_THAT(render(fraction.errors()),
             containing("t.csv: error: element 1 is 2.5, which i64 cannot hold\n"));
  CHECK(!numbersAs(ElementType::U8, Literal::of<int64_t>({1}, {256}), "t.csv").ok());
  CHECK(!numbersAs(ElementType::F16, Literal::of<double>({1}, {1e6}), "t.csv").ok());
}

TEST_CASE("array source: a text by its bytes, in rows") {
  const Files files;
  const std::string text = files.write("t.txt", "abcdefgh");
  const Literal rows = array(text + ":3");
  CHECK(rows.type() == TensorType{ElementType::U8, {2, 3}}); // "gh" is left out
  CHECK(rows.data<uint8_t>()[5] == 'f');
  CHECK(array(text).type() == TensorType{ElementType::U8, {8}});
  CHECK(array(text + ":9").type() == TensorType{ElementType::U8, {0, 9}});
  CHECK_THAT(errorOf(text + ":0"), containing("rows of '0' bytes"));
  CHECK(holdsByteRows(text + ":3"));
}

TEST_CASE("array source: members of archives, chosen, preferred, or alone") {
  const Files files;
  const Literal a = floats({2}, {1, 2}), b = floats({1}, {3});
  REQUIRE(writeSafetensors(files.path("w.safetensors"), {{"a", a}, {"b", b}}).ok());
  REQUIRE(writeSafetensors(files.path("one.safetensors"), {{"a", a}}).ok());
  CHECK(array(files.path("w.safetensors:b")) == b);
  CHECK(array(files.path("w.safetensors"), "a") == a);
  CHECK(array(files.path("one.safetensors"), "x") == a);
  CHECK_THAT(errorOf(files.path("w.safetensors:c")),
             containing("there is no array 'c'\n  hint: there are: a, b"));
  CHECK_THAT(errorOf(files.path("x.jpg")), containing("is no kind of feed that dfc reads\n"));
}

TEST_CASE("elements: floats are rounded, integers are kept or refused") {
  const auto half = convertedTo(ElementType::F32, Literal::of<double>({2}, {0.5, 1}), "a");
  REQUIRE(half.ok());
  CHECK(half->values == Literal::of<float>({2}, {0.5F, 1}));
  CHECK(!half->rounded);
  CHECK(convertedTo(ElementType::F32, Literal::of<double>({1}, {0.1}), "a")->rounded);
  CHECK(!convertedTo(ElementType::F64, Literal::of<float>({1}, {0.1F}), "a")->rounded);
  CHECK(!convertedTo(ElementType::F16, Literal::of<double>({1}, {1e6}), "a").ok()); // would be infinite
  CHECK(convertedTo(ElementType::I64, Literal::of<int32_t>({1}, {-7}), "a")->values ==
        Literal::of<int64_t>({1}, {-7}));
  CHECK(!convertedTo(ElementType::U8, Literal::of<int64_t>({1}, {256}), "a").ok());
  CHECK(convertedTo(ElementType::F32, Literal::of<int64_t>({1}, {16777216}), "a").ok()); // 2^24
  const auto odd = convertedTo(ElementType::F32, Literal::of<int64_t>({2}, {1, 16777217}), "a.npy");
  REQUIRE(!odd.ok());
  CHECK(odd.errors()[0].message == "element 1 is 16777217, which f32 cannot hold");
  CHECK(odd.errors()[0].where.file == "a.npy");
  // 2^53 + 1, which a double cannot hold either, and the largest i64, which would round to 2^63.
  CHECK(!convertedTo(ElementType::F64, Literal::of<int64_t>({1}, {9007199254740993}), "a").ok());
  CHECK(!convertedTo(ElementType::F64, Literal::of<int64_t>({1}, {9223372036854775807}), "a").ok());
}

TEST_CASE("elements: the first that a float type would make infinite, and no infinity that is one already") {
  const double inf = std::numeric_limits<double>::infinity();
  const Literal wide = Literal::of<double>({6}, {inf, -inf, 65519.99, 65520, 3.4e38, 3.5e38});
  CHECK(firstBeyond(ElementType::F16, wide) == 3);  // from 65504 + 16 on, half of f16's last step there
  CHECK(firstBeyond(ElementType::BF16, wide) == 4); // its largest is 3.39e38
  CHECK(firstBeyond(ElementType::F32, wide) == 5);
  CHECK(!firstBeyond(ElementType::F64, wide));
  CHECK(!firstBeyond(ElementType::I32, wide));
  CHECK(firstBeyond(ElementType::F16, Literal::of<int64_t>({2}, {7, -70000})) == 1);
  CHECK(firstBeyond(ElementType::F16, Literal::of<float>({2}, {std::nanf(""), 1e5F})) == 1);
}

TEST_CASE("elements: floats become no integers, bytes no floats by themselves") {
  CHECK(!convertsTo(ElementType::I32, ElementType::F64));
  CHECK(!convertsTo(ElementType::F32, ElementType::U8));
  CHECK(!convertsTo(ElementType::F32, ElementType::Bool));
  CHECK(!convertsTo(ElementType::Bool, ElementType::I32));
  CHECK(convertsTo(ElementType::I64, ElementType::U8));
  CHECK(convertsTo(ElementType::BF16, ElementType::F64));
}
