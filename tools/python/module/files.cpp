// Array files whose types NumPy lacks, and data sets.
#include "runtime/data/batches.h"
#include "runtime/data/fashion_mnist.h"
#include "runtime/data/shuffle.h"
#include "runtime/files/idx.h"
#include "runtime/files/safetensors.h"
#include "tools/python/module/arguments.h"
#include "tools/python/module/arrays.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/errors.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

nb::dict dictOf(const NamedLiterals& literals) {
  nb::dict dict;
  for (const auto& [name, literal] : literals) {
    dict[name.c_str()] = numpyOf(literal);
  }
  return dict;
}

NamedLiterals namedOf(const FeedsLike& arrays, Sharing sharing) {
  NamedLiterals named;
  for (const nb::handle name : arrays) {
    std::string text = nb::cast<std::string>(name);
    Literal literal = literalOf(arrays[name], sharing, std::nullopt, text.c_str());
    named.emplace(std::move(text), std::move(literal));
  }
  return named;
}

void bindBatches(nb::module_& module) {
  nb::class_<Batches> batches(
      module, "Batches",
      "A data set cut into batches of equal size, in its own order or in one drawn anew for "
      "each epoch. What is left over at the end of an epoch is left out.");
  batches.def(
      "__init__",
      [](Batches* self, const FeedsLike& columns, int64_t batch, std::optional<uint64_t> seed) {
        new (self) Batches(orRaise(Batches::of(namedOf(columns, Sharing::Copied), batch, seed)));
      },
      "columns"_a, "batch"_a, "seed"_a = nb::none(),
      "columns: arrays by name, with first axes of one length; copied once.");
  batches.def(
      "__len__", [](const Batches& self) { return self.count(); }, "Batches in an epoch.");
  batches.def_prop_ro(
      "rows", [](const Batches& self) { return self.rows(); }, "Rows of the data set.");
  batches.def(
      "at",
      [](Batches& self, int64_t epoch, int64_t index) {
        nb::dict batch;
        for (auto& [name, literal] : self.at(epoch, index)) {
          batch[name.c_str()] = nb::cast(literal);
        }
        return batch;
      },
      "epoch"_a, "index"_a, nb::sig("def at(self, epoch: int, index: int) -> dict[str, Array]"),
      "Batch `index` of `epoch`, both from 0, by column: what Session.run is fed, without another copy. "
      "Raises "
      "IndexError.");
}

} // namespace

void bindFiles(nb::module_& module) {
  bindBatches(module);
  module.def(
      "read_safetensors", [](const PathLike& path) { return dictOf(orRaise(readSafetensors(pathOf(path)))); },
      "path"_a, "The arrays of a .safetensors file, by name. Raises dfc.Error for a damaged one.");
  module.def(
      "write_safetensors",
      [](const PathLike& path, const FeedsLike& arrays) {
        orRaise(writeSafetensors(pathOf(path), namedOf(arrays, Sharing::Shared)));
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
