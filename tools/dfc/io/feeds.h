// What `dfc run` feeds to each step: files and data sets, cut into batches where they are longer than the
// input.
#pragma once

#include "ir/graph/graph.h"
#include "runtime/predict/predict.h"
#include "tools/dfc/io/feed_shapes.h"

#include <map>
#include <optional>

namespace dfc::tool {

/// What becomes of rows that do not fill a last batch.
enum class LastBatch : uint8_t {
  LeftOut, ///< of each epoch: a note says so
  Padded,  ///< with copies of the last row; then fewer rows than a batch are a batch, too
};

/// What becomes of labels that name no class and indices that name no slice.
enum class OutOfRange : uint8_t { Refused, Passes };

/// A file for an input has one of three shapes: the input's own (fed at every step); the input's with a
/// longer first dimension (each step takes the next rows; an incomplete last batch is left out); or the
/// input's with one more dimension before it (each step takes the next entry). After the last batch it begins
/// again: an epoch. Data sets and IDX files adapt further: their bytes become the input's elements, and the
/// dimensions of a row may be joined (byte_rows.h).
class Feeds {
 public:
  /// `arguments`: "NAME=SOURCE", where SOURCE is what readArray reads, or a number for a scalar input.
  /// `seed`: draw a new order of the rows for each epoch. `option` has given the arguments. All mistakes at
  /// once: unknown, missing and doubled names, element types, shapes, unequal numbers of rows or batches.
  static Result<Feeds> load(const std::vector<std::string>& arguments, const Graph& graph,
                            std::optional<uint64_t> seed, const std::string& option = "--feed",
                            LastBatch last = LastBatch::LeftOut, OutOfRange indices = OutOfRange::Refused);
  int64_t batchesPerEpoch() const { return batches_; }
  NamedLiterals at(int64_t step);
  /// The pass over all rows once, to predict by. Errors: inputs of which a step takes unequal numbers of
  /// rows.
  Result<DataPass> pass();
  /// What the user should know: rows that no batch takes, files whose numbers were rounded.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Source {
    std::string name;
    TensorType input;
    Literal data;
    int64_t rows = 0;     ///< of the data; 0 where all of it is fed each step
    int64_t perStep = 0;  ///< rows that a step takes
    bool bytes = false;   ///< rows of bytes, turned into the input's elements step by step
    bool entries = false; ///< a step takes one, which has no axis of rows
  };
  void fit(const std::string& argument, const Graph& graph, Diagnostics& errors);
  void fitNumber(Source source, double number, const std::string& argument, Diagnostics& errors);
  /// The mistake of a file that does not fit its input.
  std::optional<Diagnostic> fitBytes(Source source, const std::string& place);
  std::optional<Diagnostic> fitShape(Source source, const std::string& place);
  /// Takes the input's element type, or says which element that cannot hold.
  std::optional<Diagnostic> convert(Source& source, const std::string& place);
  int64_t batchesOf(const Source& source) const;
  void noteLeftOut(const Source& source, const std::string& place);
  /// Of the source that was fitted last.
  void checkIndices(const Graph& graph, const std::string& place, Diagnostics& errors);
  std::optional<Diagnostic> mismatch(const Source& first, const Source& second) const;
  void checkBatches(Diagnostics& errors);
  /// A file of a single batch, which is fed at every step, beside files of more rows.
  void checkSingleBatches(Diagnostics& errors);
  Literal slice(const Source& source, int64_t step);
  std::string option_ = "--feed";
  std::vector<Source> sources_;
  std::vector<Misfit> misfits_;
  std::optional<uint64_t> seed_;
  LastBatch last_ = LastBatch::LeftOut;
  OutOfRange indices_ = OutOfRange::Refused;
  std::vector<std::string> rounded_; ///< "x.npy"
  int64_t batches_ = 1;
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> orders_; ///< by rows and epoch
  std::vector<std::string> notes_;
};

/// The number that a SOURCE is, in place of a file: "0.1", "-3", "1e-4".
std::optional<double> numberOfSource(const std::string& source);

/// The file that a SOURCE reads, for a check that nothing overwrites it; "" for a data set or a number.
std::string fileOfSource(const std::string& source);

} // namespace dfc::tool
