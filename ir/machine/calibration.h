// Calibration: how long ops take on one model of device, measured (`dfc calibrate`), by signature. The
// signature of an op is its kind, the types of its operands and its attributes as a graph file writes them:
// no names, and no values of operands, so that equal work has equal signatures in every graph. A file holds a
// table for each model of device that was measured; as JSON:
//
//   {"tables": [{"device": "NVIDIA H200", "ops": [
//     {"signature": "matmul(f32[64, 784], f32[784, 256]) precision=tf32", "seconds": 1e-05,
//      "fromMemory": 1.2e-05, "choice": "…"}], "copies": [
//     {"to": "Xeon", "bytes": 4, "seconds": 8e-06}, {"to": "Xeon", "bytes": 67108864, "seconds": 0.00122}]}]}
//
// Copies: a class of links are those from devices of one model to devices of another.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/graph_class.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace DFC_PUBLIC dfc {

enum class OpKind : uint8_t;

/// How long one op takes on a device, measured, and which of several kernels was the quickest.
struct CalibratedOp {
  std::string signature; ///< as signatureOf gives it
  double seconds = 0;    ///< of one run with all that it costs (a launch too); more than 0
  std::string choice;    ///< the backend's description of kernel and epilogue; "" for none
  /// The same with operands and results in memory and none of their bytes in a cache, where `seconds` is of
  /// runs one after another on the same operands; 0 where that was not measured.
  double fromMemory = 0;
  friend bool operator==(const CalibratedOp&, const CalibratedOp&) = default;
};

/// How long a copy of so many bytes takes from a device to one of another model, or of the same.
struct CalibratedCopy {
  std::string to;     ///< as DeviceRow::model; not empty
  int64_t bytes = 0;  ///< at least 1
  double seconds = 0; ///< alone on its links; more than 0
  friend bool operator==(const CalibratedCopy&, const CalibratedCopy&) = default;
};

/// A table of one device model ("NVIDIA H200"). May be read by many threads at once, not while one changes
/// it; sessions share one that nobody changes.
class Calibration {
 public:
  std::string device;                      ///< as DeviceRow::model; not empty
  std::vector<CalibratedOp> ops;           ///< by signature, each once
  std::vector<CalibratedCopy> copies = {}; ///< by destination and bytes, each once

  const CalibratedOp* find(std::string_view signature) const; ///< null when there is none
  /// Adds a measurement; an existing row of the same signature is replaced. The seconds are more than
  /// 0.
  void keep(std::vector<CalibratedOp> measured);
  void keepCopies(std::vector<CalibratedCopy> measured); ///< likewise
  /// Seconds of a copy to a device of this model: linear between two measured sizes and beyond the largest,
  /// those of the smallest below it. None where no copy to it was measured.
  std::optional<double> copySeconds(std::string_view to, int64_t bytes) const;
  friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// Whether ops of this kind take a device's time: not sources, views, assigns, transfers and requests.
bool isTimed(OpKind kind);

/// Whether a calibration times ops of this kind: those that are timed, but for custom, which states its
/// seconds.
bool isMeasured(OpKind kind);

/// "fusedMatmul(f32[64, 784], f32[784, 256], f32[256]) body="add:f32 %0 %1; relu:f32 %2"": for an op that is
/// timed.
std::string signatureOf(const Graph& graph, OpId op);

/// An op alone in a graph, its operands inputs.
struct LoneOp {
  Graph graph; ///< with that op alone
  OpId op;     ///< its id there
};
/// An op with this signature; none where `signatureOf` never gives it.
std::optional<LoneOp> opOfSignature(std::string_view signature);

/// The tables of a file, by device, each device once. All errors at once, located as in a machine file:
/// broken syntax, missing or unknown members, a device or signature twice, a signature that no op has,
/// seconds that are no time.
Result<std::vector<Calibration>> parseCalibrations(std::string_view json, const std::string& fileName);
/// The same of a file.
Result<std::vector<Calibration>> readCalibrations(const std::string& path);
std::string
printCalibrations(const std::vector<Calibration>& tables); ///< JSON that parses to the same tables

/// Whether a table has copies from devices of one model to devices of the other.
bool hasCopies(const std::vector<Calibration>& tables, std::string_view from, std::string_view to);

/// The table of this device; null when there is none.
const Calibration* tableOf(const std::vector<Calibration>& tables, std::string_view device);

} // namespace dfc
