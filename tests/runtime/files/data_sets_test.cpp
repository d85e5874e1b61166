// Data sets: IDX files, Fashion-MNIST, batches.
#include "runtime/data/batches.h"
#include "runtime/data/fashion_mnist.h"
#include "runtime/data/shuffle.h"
#include "runtime/files/idx.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <filesystem>

using namespace dfc;

namespace {

std::vector<std::byte> dataBytes(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(),
                 [](char letter) { return static_cast<std::byte>(letter); });
  return bytes;
}

std::string idxError(const std::string& text) {
  const auto result = parseIdx(dataBytes(text), "x.gz");
  REQUIRE_FALSE(result.ok());
  return render(result.errors());
}

NamedLiterals sevenRows() {
  Literal images(f32({7, 784})), labels(i64({7}));
  for (int64_t row = 0; row < 7; ++row) {
    labels.set(row, static_cast<double>(row));
    images.set(row * 784 + 783, static_cast<double>(row) / 8);
  }
  return {{"images", images}, {"labels", labels}};
}

const std::string cutShort = "\n  hint: the file is damaged or cut short: install or copy it again\n";

} // namespace

TEST_CASE("idx: dimensions are big-endian, data are bytes") {
  const auto read = parseIdx(dataBytes(std::string("\0\0\x08\x02\0\0\0\x02\0\0\0\x03"
                                                   "abcdef",
                                                   18)),
                             "x");
  REQUIRE(read.ok());
  CHECK(read->type() == TensorType{ElementType::U8, {2, 3}});
  CHECK(read->at(5) == 'f');
}

TEST_CASE("idx: broken files are refused to the letter") {
  CHECK(idxError("PNG") == "x.gz: error: is not an IDX file: it does not begin with two zero bytes\n"
                           "  hint: name a file like train-images-idx3-ubyte.gz\n");
  CHECK(idxError(std::string("\0\0\x0d\x01\0\0\0\0", 8)) ==
        "x.gz: error: has element code 0x0d; only 0x08, unsigned bytes, is read\n"
        "  hint: convert the data to bytes first\n");
  CHECK(idxError(std::string("\0\0\x08\x03\0\0\0\x02", 8)) ==
        "x.gz: error: the header of 3 dimensions is not in its 8 bytes" + cutShort);
  CHECK(idxError(std::string("\0\0\x08\x09\0\0\0\x01", 8)) ==
        "x.gz: error: has 9 dimensions, more than 8\n  hint: reshape the data before saving\n");
  CHECK(idxError(std::string("\0\0\x08\x02\0\0\0\x02\0\0\0\x03"
                             "abcde",
                             17)) ==
        "x.gz: error: has 5 bytes of data, which is not the product of its dimensions (2 x 3)" + cutShort);
  CHECK(idxError(std::string("\0\0\x08\x02\xff\xff\xff\xff\xff\xff\xff\xff", 12)) ==
        "x.gz: error: has 0 bytes of data, which is not the product of its dimensions (4294967295 x "
        "4294967295)" +
            cutShort);
}

TEST_CASE("Fashion-MNIST: a missing folder names the package") {
  const auto result = readFashionMnist("/nowhere/at/all");
  REQUIRE_FALSE(result.ok());
  CHECK(render(result.errors()) ==
        "/nowhere/at/all: error: the Fashion-MNIST images are not installed here\n"
        "  hint: install the Debian package: sudo apt-get install dataset-fashion-mnist\n");
}

TEST_CASE("Fashion-MNIST: 60,000 + 10,000 images with labels") {
  if (!std::filesystem::is_directory(fashionMnistFolder)) {
    DFC_SKIP("the Debian package dataset-fashion-mnist is not installed");
  }
  const auto data = readFashionMnist();
  REQUIRE(data.ok());
  CHECK(data->train.at("images").type() == f32({60000, 784}));
  CHECK(data->test.at("labels").type() == i64({10000}));
  const auto pixels = data->test.at("images").data<float>();
  CHECK(*std::max_element(pixels.begin(), pixels.end()) == 1.0F); // 255 / 255
  CHECK(*std::min_element(pixels.begin(), pixels.end()) == 0.0F);
  std::vector<int64_t> ofClass(10);
  for (const int64_t label : data->test.at("labels").data<int64_t>()) {
    ++ofClass[static_cast<size_t>(label)];
  }
  CHECK(ofClass == std::vector<int64_t>(10, 1000)); // the set has as many of each class
  CHECK(data->test.at("labels").at(0) == 9);        // the first test image is an ankle boot
}

TEST_CASE("shuffledRows: a number of rows below zero is the caller's mistake, none is no row") {
  CHECK_THROWS_AS(shuffledRows(-1, 0, 0), std::invalid_argument);
  CHECK(shuffledRows(0, 0, 0).empty());
}

TEST_CASE("batches: every image once an epoch, another order each epoch, the same for the same seed") {
  const NamedLiterals data = sevenRows();
  Batches batches = *Batches::of(data, 2, 5), same = *Batches::of(data, 2, 5);
  CHECK(batches.count() == 3); // 7 / 2, one left over
  std::vector<std::vector<double>> orders;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<double> labels;
    for (int64_t index = 0; index < 3; ++index) {
      const NamedLiterals batch = batches.at(epoch, index);
      CHECK(batch == same.at(epoch, index));
      for (int64_t row = 0; row < 2; ++row) {
        labels.push_back(batch.at("labels").at(row));
        CHECK(batch.at("images").at(row * 784 + 783) == batch.at("labels").at(row) / 8);
      }
    }
    orders.push_back(labels);
    std::sort(labels.begin(), labels.end());
    CHECK(std::adjacent_find(labels.begin(), labels.end()) == labels.end());
  }
  CHECK((orders[0] != orders[1] || orders[1] != orders[2]));
}

TEST_CASE("batches: without a seed, the rows of the file in turn") {
  Batches batches = *Batches::of(sevenRows(), 3);
  CHECK(batches.rows() == 7);
  CHECK(batches.count() == 2); // 7 / 3
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    CHECK(batches.at(epoch, 1) == rowsOf(sevenRows(), 3, 3));
  }
  CHECK(rowsOf(sevenRows(), 5, 2).at("labels").at(1) == 6);
  CHECK_THROWS_AS(batches.at(0, 2), std::out_of_range);
  CHECK_THROWS_AS(rowsOf(sevenRows(), 5, 3), std::out_of_range);
}

TEST_CASE("batches: columns that do not belong together are refused, all at once") {
  const auto message = [](NamedLiterals columns, int64_t batch) {
    const auto refused = Batches::of(std::move(columns), batch);
    REQUIRE_FALSE(refused.ok());
    return refused.errors();
  };
  CHECK(message({}, 1)[0].message == "a data set without columns");
  CHECK(message(sevenRows(), 8)[0].message == "the data set has 7 rows, too few for one batch of 8");
  CHECK(message(sevenRows(), 0)[0].message == "batches of 0 rows");
  NamedLiterals wrong = sevenRows();
  wrong.emplace("more", Literal(f32({6})));
  wrong.emplace("scalar", Literal(f32({})));
  const Diagnostics errors = message(wrong, 1);
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].message == "column 'more' has 6 rows, column 'images' 7");
  CHECK(errors[1].message == "column 'scalar' is a scalar");
}
