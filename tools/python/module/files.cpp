// Array files whose types NumPy lacks, and data sets.
#include "runtime/data/array_source.h"
#include "runtime/data/batches.h"
#include "runtime/data/fashion_mnist.h"
#include "runtime/data/shuffle.h"
#include "runtime/files/csv.h"
#include "runtime/files/idx.h"
#include "runtime/files/safetensors.h"
#include "tools/python/module/arguments.h"
#include "tools/python/module/arrays/arrays.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/plain.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
using Names = std::vector<std::string>;

void bindBatches(nb::module_& module) {
  nb::class_<Batches> batches(
      module, "Batches",
      "A data set cut into batches of equal size, in its own order or in one drawn anew for "
      "each epoch. What is left over at the end of an epoch is left out.");
  batches.def(
      "__init__",
      [](Batches* self, const FeedsLike& columns, int64_t batch, std::optional<uint64_t> seed) {
        new (self) Batches(orRaise(Batches::of(literalsOf(columns, Sharing::Copied), batch, seed)));
      },
      "columns"_a, "batch"_a, "seed"_a = nb::none(),
      "columns: arrays by name, with first axes of one length; copied once.");
  batches.def(
      "__len__", [](const Batches& self) { return self.count(); }, "Batches in an epoch.");
  batches.def_prop_ro(
      "rows", [](const Batches& self) { return self.rows(); }, "Rows of the data set.");
  batches.def(
      "at", [](Batches& self, int64_t epoch, int64_t index) { return dictOf(self.at(epoch, index), "dfc"); },
      "epoch"_a, "index"_a, nb::sig("def at(self, epoch: int, index: int) -> dict[str, Array]"),
      "Batch `index` of `epoch`, both from 0, by column: what Session.run is fed, without another copy. "
      "Raises "
      "IndexError.");
  batches.def(
      "at_step", [](Batches& self, int64_t step) { return dictOf(self.atStep(step), "dfc"); }, "step"_a,
      nb::sig("def at_step(self, step: int) -> dict[str, Array]"),
      "The batch of a training's step, from 0: epoch after epoch.");
  batches.def_prop_ro(
      "seed", [](const Batches& self) { return self.seed(); },
      "What the orders are drawn from; None: rows in their order.");
}

CsvOptions::Header headerOf(const std::optional<bool>& header) {
  using Header = CsvOptions::Header;
  return !header ? Header::Guess : *header ? Header::Names : Header::None;
}

nb::object tableOf(const PathLike& path, const Names& columns, const Names& words,
                   const std::string& separator, std::optional<bool> header, bool gaps) {
  if (separator.size() != 1) {
    throw nb::value_error(fmt::format("separator '{}' is not one byte", separator).c_str());
  }
  const CsvTable table = orRaise(readCsv(pathOf(path), {.separator = separator[0],
                                                        .header = headerOf(header),
                                                        .columns = columns,
                                                        .words = words,
                                                        .gaps = gaps}));
  nb::dict arrays, meanings;
  for (const CsvColumn& column : table.columns) {
    arrays[column.name.c_str()] = numpyOf(column.values);
    if (!column.words.empty()) {
      meanings[column.name.c_str()] = nb::cast(column.words);
    }
  }
  return plain("CsvTable")(arrays, meanings);
}

void bindTables(nb::module_& module) {
  module.def(
      "read_csv", tableOf, "path"_a, nb::kw_only(), "columns"_a = Names(), "words"_a = Names(),
      "separator"_a = ",", "header"_a = nb::none(), "gaps"_a = false,
      nb::sig("def read_csv(path: str | os.PathLike[str], *, columns: collections.abc.Sequence[str] = (), "
              "words: collections.abc.Sequence[str] = (), separator: str = ',', header: bool | None = None, "
              "gaps: bool = False) -> dfc.plain.CsvTable"),
      "A table of numbers. columns: those that are read, in this order; none: all. words: columns of words, "
      "each of which becomes a number, 0, 1, ... in the order in which they first stand. header: whether the "
      "first row holds names; None: it does where none of its cells is a number. gaps: an empty cell is NaN, "
      "and 'nan' may stand there. "
      "Raises dfc.Error with every mistake, each with its line and column.");
  module.def(
      "read_array",
      [](const std::string& source, const std::string& preferred) {
        return numpyOf(orRaise(readArray(source, preferred)));
      },
      "source"_a, "preferred"_a = "",
      "An array by a word that names a file and what of it, as `dfc run --feed` takes it: 'x.npy', "
      "'x.npz:member', 'w.safetensors:name', 'images.gz' (IDX), 't.csv:a,b', 'book.txt:64' (bytes in rows of "
      "64), 'fashion-mnist/train/images'. preferred: the member where the word does not say.");
}

} // namespace

void bindFiles(nb::module_& module) {
  bindBatches(module);
  bindTables(module);
  module.def(
      "read_safetensors", [](const PathLike& path) { return dictOf(orRaise(readSafetensors(pathOf(path)))); },
      "path"_a, "The arrays of a .safetensors file, by name. Raises dfc.Error for a damaged one.");
  module.def(
      "write_safetensors",
      [](const PathLike& path, const FeedsLike& arrays) {
        orRaise(writeSafetensors(pathOf(path), literalsOf(arrays, Sharing::Shared)));
      },
      "path"_a, "arrays"_a, "Writes arrays by name as a .safetensors file: whole or not at all.");
  module.def(
      "read_idx", [](const PathLike& path) { return numpyOf(orRaise(readIdx(pathOf(path)))); }, "path"_a,
      "The uint8 array of an IDX file, gzipped or plain, the form of MNIST.");
  module.def(
      "fashion_mnist",
      [](const std::string& part) {
        return dictOf(part == "test" ? orRaise(readFashionMnist()).test : orRaise(readFashionMnist()).train);
      },
      "part"_a = "train",
      "Fashion-MNIST of the Debian package dataset-fashion-mnist, 'train' (60,000 rows) or 'test' (10,000): "
      "'images' float32 [n, 784] in [0, 1], 'labels' int64 [n].");
  module.def("shuffled_rows", &shuffledRows, "rows"_a, "seed"_a, "epoch"_a,
             "A permutation of 0 … rows - 1, drawn from seed and epoch; the same on every computer.");
}

} // namespace dfc::python
