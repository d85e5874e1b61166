// Machine: the devices, links and routes that a plan is made for; plain data. Times in seconds, sizes in
// bytes, rates in bytes or operations a second; a capacity or rate of 0 means no limit. The JSON form
// (samples/machines/README.md) extends that of the reference scorer (devices, links, routes).
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/ids.h"
#include "ir/base/table.h"
#include "ir/base/visibility.h"
#include "ir/graph/tensor_type.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace DFC_PUBLIC dfc {

struct ProductShape;

/// The kinds of device.
enum class DeviceKind : uint8_t { Cpu, Gpu };
std::string_view name(DeviceKind kind); ///< "cpu", "gpu"

/// A figure for each ElementType.
using ByElementType = std::array<double, allElementTypes.size()>;

/// A device: its memory, queues and rates.
struct DeviceRow {
  std::string name; ///< "cpu0", "gpu1"
  /// Which backends may play it.
  DeviceKind kind = DeviceKind::Cpu;
  std::string model;                     ///< free text, e.g. "NVIDIA H200"; may be empty
  int64_t memoryBytes = 0;               ///< capacity for a plan; 0 means unlimited
  uint32_t computeQueues = 1;            ///< how many ops run at once
  uint32_t threads = 1;                  ///< of the device as a whole (cpu and emulated devices)
  uint32_t multiprocessors = 0;          ///< of a GPU, by which its launches are sized; 0: not stated
  uint32_t threadsPerMultiprocessor = 0; ///< resident at once; 0: not stated
  uint32_t sharedBytesPerBlock = 0;      ///< shared memory that a launch may ask for; 0: not stated
  ByElementType peakFlops{};             ///< for matmul-like ops, of the device as a whole
  double tf32Flops = 0;                  ///< of f32 matmuls in tf32; 0 means as f32
  /// Bytes of the inner dimension at which matmul-like ops reach half their peak rate:
  /// Hockney's n_1/2 (Hockney and Jesshope 1981, "Parallel Computers"). 0: the peak rate at any length.
  ByElementType matmulHalfInner{};
  double tf32HalfInner = 0; ///< of f32 matmuls in tf32, where they have a rate of their own
  /// Side, in elements, of a square tile of the result at which the matrix units of a GPU reach half of their
  /// rate: n_1/2 in the other two dimensions (`tiles.h`). 0: tiles of any size have the same rate.
  ByElementType matmulHalfTile{};
  double tf32HalfTile = 0; ///< of f32 matmuls in tf32, where they have a rate of their own
  /// In place of `peakFlops`, of convolutions with windows of more than a pixel; 0 means as matmuls.
  ByElementType convolutionFlops{};
  double tf32ConvolutionFlops = 0; ///< of those of f32 in tf32; 0 means as f32 matmuls in tf32
  /// In place of `peakFlops`, of matmuls whose inner dimension is contiguous in neither operand
  /// (ProductShape::strided); 0 means as other matmuls.
  ByElementType stridedFlops{};
  double tf32StridedFlops = 0; ///< of those of f32 in tf32; 0 means as f32 matmuls in tf32
  double memoryBandwidth = 0;  ///< bytes a second, reads plus writes
  int64_t cacheBytes = 0;      ///< of the cache that all multiprocessors of a GPU share; 0: not stated
  double launchSeconds = 0;    ///< fixed cost of one op
  /// Fixed cost of a product or convolution by a library of a GPU, by ElementType; 0 means as
  /// `launchSeconds`.
  ByElementType matmulLaunchSeconds{};
  double tf32LaunchSeconds = 0; ///< of those of f32 in tf32; 0 means as f32
  /// Fixed cost of a step: its queues do nothing before so many seconds of it have passed (a GPU's commands
  /// of a step are launched as one).
  double stepOverheadSeconds = 0;
  std::string architecture = {}; ///< of a GPU: "sm_90"; empty: not stated

  /// Operations a second of a matmul-like op (inner dimension 0: of another op): by Hockney's law peak *
  /// inner / (inner + n_1/2) (a convolution's own rate is of any inner dimension), times the part of a GPU's
  /// multiprocessors that tiles keep busy (NVIDIA, "Matrix Multiplication Background User's Guide": wave
  /// quantization): tiles of 32 x 32, or, where `matmulHalfTile` is given, those that take least (`tiles.h`).
  /// `tf32`: f32 operands may be rounded to it. 0 means no limit.
  double matmulRate(ElementType element, bool tf32, const ProductShape& product) const;
  /// Seconds of the launch of an op: the library's of its precision where it is a product that a library may
  /// compute and the device has that figure, else `launchSeconds`.
  double launchOf(ElementType element, bool tf32, const ProductShape& product) const;
  /// Whether every precision has the same `matmulHalfInner`; the same library's launch.
  bool hasOneHalfInner() const;
  /// Whether every precision has the same `matmulHalfTile`.
  bool hasOneHalfTile() const;
  /// Whether every precision has the same `matmulLaunchSeconds`.
  bool hasOneMatmulLaunch() const;
};

/// Whether an op takes the same time on both, and both hold the same; their names and links may differ.
bool alike(const DeviceRow& a, const DeviceRow& b);

/// Something that copies occupy: a bus direction, an NVLink, a switch port.
struct LinkRow {
  std::string name;          ///< "nvlink0", "bus"
  double latencySeconds = 0; ///< before the first byte
  double bandwidth = 0;      ///< bytes a second
  uint32_t slots = 1;        ///< copies at once; 0 means any number
};

/// A transfer from `from` to `to` holds a slot of every link for sum(latency) + bytes / min(bandwidth).
struct Route {
  DeviceId from;             ///< where the bytes are
  DeviceId to;               ///< where they go
  std::vector<LinkId> links; ///< held at once
};

/// The devices of a plan and the links between them.
class Machine {
 public:
  /// For messages and pictures.
  std::string name = "machine";
  /// Every device.
  Table<DeviceId, DeviceRow> devices;
  /// Every link.
  Table<LinkId, LinkRow> links;
  /// Every direct route.
  std::vector<Route> routes;

  /// The device that feeds, results and staging use: the first cpu. Asserts that there is one (`verify`
  /// checks).
  DeviceId host() const;
  DeviceId findDevice(std::string_view name) const; ///< invalid id when there is none
  /// The route without a stop between; null when there is none.
  const Route* directRoute(DeviceId from, DeviceId to) const;
  /// Seconds that `bytes` take over one route, contention aside.
  double seconds(const Route& route, int64_t bytes) const;
  /// The cheapest chain of routes from one device to another for `bytes` (Dijkstra; fewest hops on a tie);
  /// empty when `from == to`, none when unreachable. Intermediate devices are where a transfer is staged.
  std::optional<std::vector<Route>> path(DeviceId from, DeviceId to, int64_t bytes) const;
};

/// Reads and checks a machine file. `fileName` is for messages. All errors at once, each located by its JSON
/// path and, where the text itself is broken, by line and column.
Result<Machine> parseMachine(std::string_view json, const std::string& fileName);
/// The same of a file.
Result<Machine> readMachine(const std::string& path);
std::string printMachine(const Machine& machine); ///< JSON that parses to the same machine

} // namespace dfc
