#include "tools/bench/graphs/task_families.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace dfc::bench {
namespace {

constexpr std::array<std::string_view, 8> families = {"layered", "fork_join", "cholesky", "lu",
                                                      "fft",     "stencil",   "gauss",    "transformer"};
constexpr std::array<std::string_view, 4> machines = {"pcie", "switch", "nvlink", "ideal"};
constexpr double bandwidth = 1e9, latency = 1e-5, meanSeconds = 1e-2;

struct FamilyEdge {
  uint32_t from, to;
  double weight; ///< of its bytes
};

/// A graph without units: weights of tasks and edges.
struct Family {
  std::vector<double> tasks;
  std::vector<FamilyEdge> edges;
  bool shared = false; ///< a tensor a task; else an item an edge

  uint32_t add(double weight) {
    tasks.push_back(weight);
    return static_cast<uint32_t>(tasks.size() - 1);
  }
  void join(uint32_t from, uint32_t to, double weight = 1) { edges.push_back({from, to, weight}); }
};

class FamilyMaker {
 public:
  FamilyMaker(size_t tasks, uint64_t seed) : wanted_(std::max<size_t>(tasks, 4)), random_(seed) {}

  Family layered() {
    const size_t width = std::max<size_t>(2, static_cast<size_t>(std::sqrt(static_cast<double>(wanted_))));
    std::vector<uint32_t> before, layer;
    while (family_.tasks.size() < wanted_) {
      layer.clear();
      for (size_t i = std::max<size_t>(1, width / 2 + draw(width)); i > 0; --i) {
        layer.push_back(family_.add(uniform(0.2, 1.8)));
        const size_t readers = before.empty() ? 0 : 1 + draw(3);
        for (size_t k = 0; k < readers; ++k) {
          family_.join(before[draw(before.size())], layer.back(), uniform(0.2, 1.8));
        }
      }
      before.swap(layer);
    }
    return std::move(family_);
  }

  Family forkJoin() {
    const size_t width = std::clamp<size_t>(wanted_ / 5, 2, 20);
    uint32_t last = family_.add(1);
    while (family_.tasks.size() < wanted_) {
      const uint32_t fork = last;
      std::vector<uint32_t> branches;
      for (size_t i = 0; i < width; ++i) {
        branches.push_back(family_.add(uniform(0.2, 1.8)));
        family_.join(fork, branches.back(), uniform(0.2, 1.8));
      }
      last = family_.add(uniform(0.2, 1.8));
      for (const uint32_t branch : branches) {
        family_.join(branch, last, uniform(0.2, 1.8));
      }
    }
    return std::move(family_);
  }

  /// Tiled, right-looking. Weights are the operations of a tile: 1/3 and 2/3 for a factorisation, 1 for a
  /// triangular solve or a symmetric update, 2 for a product.
  Family cholesky() {
    const uint32_t n = tiles(6);
    std::vector<uint32_t> last(n * n, none);
    for (uint32_t k = 0; k < n; ++k) {
      const uint32_t factor = update(last[k * n + k], 1.0 / 3, {});
      for (uint32_t i = k + 1; i < n; ++i) {
        update(last[i * n + k], 1, {factor});
      }
      for (uint32_t i = k + 1; i < n; ++i) {
        for (uint32_t j = k + 1; j <= i; ++j) {
          i == j ? update(last[i * n + i], 1, {last[i * n + k]})
                 : update(last[i * n + j], 2, {last[i * n + k], last[j * n + k]});
        }
      }
    }
    family_.shared = true;
    return std::move(family_);
  }

  Family lu() {
    const uint32_t n = tiles(3);
    std::vector<uint32_t> last(n * n, none);
    for (uint32_t k = 0; k < n; ++k) {
      const uint32_t factor = update(last[k * n + k], 2.0 / 3, {});
      for (uint32_t i = k + 1; i < n; ++i) {
        update(last[i * n + k], 1, {factor});
        update(last[k * n + i], 1, {factor});
      }
      for (uint32_t i = k + 1; i < n; ++i) {
        for (uint32_t j = k + 1; j < n; ++j) {
          update(last[i * n + j], 2, {last[i * n + k], last[k * n + j]});
        }
      }
    }
    family_.shared = true;
    return std::move(family_);
  }

  /// Recursive calls as a binary tree, then butterflies (Topcuoglu et al. 2002, section 5.3).
  Family fft() {
    uint32_t points = 2, stages = 1;
    while ((2 * points - 1) + points * stages < wanted_) {
      points *= 2;
      ++stages;
    }
    std::vector<uint32_t> row = {family_.add(1)};
    while (row.size() < points) {
      std::vector<uint32_t> next;
      for (const uint32_t parent : row) {
        for (int child = 0; child < 2; ++child) {
          next.push_back(family_.add(uniform(0.8, 1.2)));
          family_.join(parent, next.back());
        }
      }
      row.swap(next);
    }
    for (uint32_t distance = 1; distance < points; distance *= 2) {
      std::vector<uint32_t> next;
      for (uint32_t i = 0; i < points; ++i) {
        next.push_back(family_.add(uniform(0.8, 1.2)));
        family_.join(row[i], next.back());
        family_.join(row[i ^ distance], next.back());
      }
      row.swap(next);
    }
    return std::move(family_);
  }

  /// One dimension, three points.
  Family stencil() {
    const size_t width = std::max<size_t>(3, static_cast<size_t>(std::sqrt(static_cast<double>(wanted_))));
    std::vector<uint32_t> before;
    while (family_.tasks.size() < wanted_) {
      std::vector<uint32_t> row;
      for (size_t i = 0; i < width; ++i) {
        row.push_back(family_.add(uniform(0.9, 1.1)));
        for (size_t from = i == 0 ? 0 : i - 1; from <= std::min(i + 1, width - 1) && !before.empty();
             ++from) {
          family_.join(before[from], row.back());
        }
      }
      before.swap(row);
    }
    family_.shared = true;
    return std::move(family_);
  }

  /// Gaussian elimination by columns (Topcuoglu et al. 2002, section 5.3).
  Family gauss() {
    const auto n =
        std::max<uint32_t>(3, static_cast<uint32_t>(std::sqrt(2.0 * static_cast<double>(wanted_))));
    std::vector<uint32_t> last(n, none);
    for (uint32_t k = 0; k + 1 < n; ++k) {
      const double length = static_cast<double>(n - k) / n;
      const uint32_t pivot = update(last[k], length, {});
      for (uint32_t j = k + 1; j < n; ++j) {
        update(last[j], 2 * length, {pivot});
      }
    }
    return std::move(family_);
  }

  /// Layers x micro-batches forward and backward, and an update of each layer behind its gradients.
  Family transformer() {
    const size_t batches = 8, layers = std::max<size_t>(2, wanted_ / (2 * batches + 1));
    std::vector<uint32_t> forward(layers * batches), gradients;
    for (size_t batch = 0; batch < batches; ++batch) {
      for (size_t layer = 0; layer < layers; ++layer) {
        forward[layer * batches + batch] = family_.add(1);
        if (layer > 0) {
          family_.join(forward[(layer - 1) * batches + batch], forward[layer * batches + batch]);
        }
      }
    }
    std::vector<uint32_t> backward(forward.size());
    for (size_t batch = 0; batch < batches; ++batch) {
      for (size_t layer = layers; layer-- > 0;) {
        const uint32_t task = backward[layer * batches + batch] = family_.add(2);
        family_.join(forward[layer * batches + batch], task);
        if (layer + 1 < layers) {
          family_.join(backward[(layer + 1) * batches + batch], task);
        }
      }
    }
    for (size_t layer = 0; layer < layers; ++layer) {
      const uint32_t task = family_.add(0.5);
      for (size_t batch = 0; batch < batches; ++batch) {
        family_.join(backward[layer * batches + batch], task);
      }
    }
    family_.shared = true;
    return std::move(family_);
  }

 private:
  static constexpr uint32_t none = static_cast<uint32_t>(-1);

  size_t draw(size_t count) { return random_() % count; }
  double uniform(double least, double most) { // the library's distributions differ between implementations
    return least + (most - least) * static_cast<double>(random_() >> 11) / 9007199254740992.0;
  }

  /// Tiles a side, for tiles³ / part tasks.
  uint32_t tiles(double part) const {
    return std::max<uint32_t>(2, static_cast<uint32_t>(std::cbrt(part * static_cast<double>(wanted_))));
  }

  /// A task that replaces `tile`, and reads it and others.
  uint32_t update(uint32_t& tile, double weight, std::initializer_list<uint32_t> others) {
    const uint32_t task = family_.add(weight * uniform(0.9, 1.1));
    if (tile != none) {
      family_.join(tile, task);
    }
    for (const uint32_t other : others) {
      family_.join(other, task);
    }
    tile = task;
    return task;
  }

  size_t wanted_;
  std::mt19937_64 random_;
  Family family_;
};

Family familyOf(const TaskFamilyOptions& options) {
  FamilyMaker maker(options.tasks, options.seed);
  const auto is = [&](std::string_view name) { return options.family == name; };
  return is("layered")     ? maker.layered()
         : is("fork_join") ? maker.forkJoin()
         : is("cholesky")  ? maker.cholesky()
         : is("lu")        ? maker.lu()
         : is("fft")       ? maker.fft()
         : is("stencil")   ? maker.stencil()
         : is("gauss")     ? maker.gauss()
                           : maker.transformer();
}

/// Devices, links and routes as JSON.
struct MachineText {
  std::string devices, links, routes;

  static void separate(std::string& text) { text += text.empty() ? "" : ",\n  "; }
  void device(const std::string& name, std::string_view kind) {
    separate(devices);
    devices += fmt::format(R"({{"id": "{}", "class": "{}"}})", name, kind);
  }
  void link(const std::string& name, double times = 1) {
    separate(links);
    links +=
        fmt::format(R"({{"id": "{}", "latency": {}, "bandwidth": {}}})", name, latency, times * bandwidth);
  }
  void route(const std::string& from, const std::string& to, const std::string& quotedLinks) {
    separate(routes);
    routes += fmt::format(R"({{"from": "{}", "to": "{}", "links": [{}]}})", from, to, quotedLinks);
  }
};

MachineText behindHost(int gpus, int perSwitch) {
  MachineText text;
  text.device("cpu0", "cpu");
  for (int i = 0; i < gpus; ++i) {
    const std::string gpu = fmt::format("gpu{}", i);
    text.device(gpu, "gpu");
    std::string down = fmt::format("\"down{}\"", i), up = fmt::format("\"up{}\"", i);
    text.link(fmt::format("down{}", i));
    text.link(fmt::format("up{}", i));
    if (perSwitch > 1) {
      const int which = i / perSwitch;
      if (i % perSwitch == 0) {
        text.link(fmt::format("host_down{}", which));
        text.link(fmt::format("host_up{}", which));
      }
      down += fmt::format(", \"host_down{}\"", which);
      up += fmt::format(", \"host_up{}\"", which);
    }
    text.route("cpu0", gpu, down);
    text.route(gpu, "cpu0", up);
  }
  return text;
}

MachineText withPorts(int gpus) {
  MachineText text = behindHost(gpus, gpus);
  for (int i = 0; i < gpus; ++i) {
    text.link(fmt::format("out{}", i), 4);
    text.link(fmt::format("in{}", i), 4);
  }
  for (int from = 0; from < gpus; ++from) {
    for (int to = 0; to < gpus; ++to) {
      if (from != to) {
        text.route(fmt::format("gpu{}", from), fmt::format("gpu{}", to),
                   fmt::format("\"out{}\", \"in{}\"", from, to));
      }
    }
  }
  return text;
}

std::vector<std::string> deviceKinds(std::string_view machine) {
  std::vector<std::string> kinds(machine == "pcie" ? 5 : machine == "ideal" ? 8 : 9, "gpu");
  if (machine != "ideal") {
    kinds.front() = "cpu";
  }
  return kinds;
}

} // namespace

std::span<const std::string_view> taskFamilies() { return families; }
std::span<const std::string_view> taskMachines() { return machines; }

std::string taskMachineText(std::string_view machine) {
  MachineText text;
  if (machine == "ideal") {
    for (int i = 0; i < 8; ++i) {
      text.device(fmt::format("gpu{}", i), "gpu");
    }
    return fmt::format("{{\"devices\": [{}], \"implicit_comm\": true,\n"
                       "\"default_comm\": {{\"latency\": {}, \"bandwidth\": {}}}}}\n",
                       text.devices, latency, bandwidth);
  }
  text = machine == "pcie" ? behindHost(4, 1) : machine == "switch" ? behindHost(8, 4) : withPorts(8);
  return fmt::format("{{\"devices\": [{}],\n\"links\": [{}],\n\"routes\": [{}]}}\n", text.devices, text.links,
                     text.routes);
}

std::string taskFamilyText(const TaskFamilyOptions& options) {
  constexpr double slowerCpu = 8;
  const Family family = familyOf(options);
  const std::vector<std::string> kinds = deviceKinds(options.machine);
  std::mt19937_64 random(options.seed + 1);
  double taskSum = 0, edgeSum = 0;
  for (const double weight : family.tasks) {
    taskSum += weight;
  }
  for (const FamilyEdge& edge : family.edges) {
    edgeSum += edge.weight;
  }
  const double perTask = meanSeconds * static_cast<double>(family.tasks.size()) / taskSum;
  const double perEdge = options.ratio * meanSeconds * bandwidth * static_cast<double>(family.edges.size()) /
                         std::max(edgeSum, 1e-9);
  std::string text = fmt::format("{{\"name\": \"{}\",\n\"tasks\": [", options.family);
  const auto out = std::back_inserter(text);
  for (size_t task = 0; task < family.tasks.size(); ++task) {
    fmt::format_to(out, "{}\n{{\"id\": \"t{}\", \"dur\": ", task == 0 ? "" : ",", task);
    const double seconds = family.tasks[task] * perTask;
    if (family.shared) {
      kinds.front() == "cpu"
          ? fmt::format_to(out, "{{\"gpu\": {:.6g}, \"cpu\": {:.6g}}}}}", seconds, slowerCpu * seconds)
          : fmt::format_to(out, "{{\"gpu\": {:.6g}}}}}", seconds);
      continue;
    }
    for (size_t i = 0; i < kinds.size(); ++i) {
      const double factor = 0.5 + static_cast<double>(random() >> 11) / 9007199254740992.0;
      fmt::format_to(out, "{}{:.6g}", i == 0 ? "[" : ", ",
                     seconds * factor * (kinds[i] == "cpu" ? slowerCpu : 1));
    }
    text += "]}";
  }
  text += "],\n\"edges\": [";
  for (size_t i = 0; i < family.edges.size(); ++i) {
    const FamilyEdge& edge = family.edges[i];
    fmt::format_to(out, "{}\n{{\"src\": \"t{}\", \"dst\": \"t{}\", \"bytes\": {}{}}}", i == 0 ? "" : ",",
                   edge.from, edge.to, std::llround(edge.weight * perEdge),
                   family.shared ? ", \"tensor\": \"out\"" : "");
  }
  return text + "]}\n";
}

} // namespace dfc::bench
