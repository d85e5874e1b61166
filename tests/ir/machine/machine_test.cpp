// Machines: the questions they answer, and their JSON form in and out.
#include "ir/machine/hockney.h"
#include "ir/machine/machine.h"

#include "ir/verify/verify.h"
#include "runtime/executable_folder.h"
#include "tests/ir/plan/plan_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

#include <nlohmann/json.hpp>

#include <limits>

using namespace dfc;

namespace {

const std::filesystem::path samples = shippedFile("samples/machines");
const std::filesystem::path invalid = shippedFile("tests/invalid/machines");

Machine parsed(const std::string& json) {
  Result<Machine> machine = parseMachine(json, "test.json");
  REQUIRE(machine.ok());
  return *std::move(machine);
}

DeviceId device(Machine& machine, const std::string& name, DeviceKind kind) {
  DeviceRow row;
  row.name = name;
  row.kind = kind;
  return machine.devices.add(std::move(row));
}

LinkId link(Machine& machine, const std::string& name, double latency, double bandwidth) {
  return machine.links.add({name, latency, bandwidth, 1});
}

std::vector<std::string> stops(const Machine& machine, const std::vector<Route>& chain) {
  std::vector<std::string> names;
  for (const Route& route : chain) {
    names.push_back(machine.devices[route.to].name);
  }
  return names;
}

/// a, b, c in a ring both ways with unlike links: a-b and b-c quick, a-c slow.
struct Triangle {
  Machine machine;
  DeviceId a = device(machine, "a", DeviceKind::Cpu);
  DeviceId b = device(machine, "b", DeviceKind::Gpu);
  DeviceId c = device(machine, "c", DeviceKind::Gpu);
  LinkId quick = link(machine, "quick", 1, 100);
  LinkId slow = link(machine, "slow", 0, 10);
  Triangle() {
    machine.routes = {{a, c, {slow}}, {a, b, {quick}}, {b, c, {quick}}, {c, a, {slow}}, {b, a, {quick}}};
  }
};

} // namespace

TEST_CASE("machine: seconds of a route are its latencies plus the bytes over its least bandwidth") {
  Triangle t;
  // 1 s of latency + 300 bytes / 100 bytes a second = 4 s
  CHECK(t.machine.seconds(t.machine.routes[1], 300) == 4);
  const Route both{t.a, t.c, {t.quick, t.slow}};
  CHECK(t.machine.seconds(both, 300) == 1 + 300 / 10.0);
  t.machine.links[t.slow].bandwidth = 0; // no limit
  CHECK(t.machine.seconds(t.machine.routes[0], 1 << 30) == 0);
}

TEST_CASE("machine: the cheapest path depends on the bytes") {
  const Triangle t;
  // 10 bytes: direct 10/10 = 1 s; staged 2 * (1 + 10/100) = 2.2 s
  CHECK(stops(t.machine, *t.machine.path(t.a, t.c, 10)) == std::vector<std::string>{"c"});
  // 100 bytes: direct 10 s; staged 2 * (1 + 1) = 4 s
  CHECK(stops(t.machine, *t.machine.path(t.a, t.c, 100)) == std::vector<std::string>{"b", "c"});
  CHECK(t.machine.path(t.a, t.a, 100)->empty());
}

TEST_CASE("machine: equal cost takes the fewest hops, and no chain is none") {
  Triangle t;
  t.machine.links[t.quick] = {"quick", 0, 20, 1}; // 100 bytes: staged 5 + 5 s, direct 10 s
  CHECK(stops(t.machine, *t.machine.path(t.a, t.c, 100)) == std::vector<std::string>{"c"});
  const DeviceId lonely = device(t.machine, "lonely", DeviceKind::Gpu);
  CHECK_FALSE(t.machine.path(t.a, lonely, 1).has_value());
}

TEST_CASE("machine: equal cost and hops take the route that is listed first") {
  Machine machine;
  const DeviceId a = device(machine, "a", DeviceKind::Cpu);
  const DeviceId b = device(machine, "b", DeviceKind::Gpu);
  const DeviceId c = device(machine, "c", DeviceKind::Gpu);
  const DeviceId d = device(machine, "d", DeviceKind::Gpu);
  const LinkId bus = link(machine, "bus", 0, 1);
  machine.routes = {{a, c, {bus}}, {a, b, {bus}}, {c, d, {bus}}, {b, d, {bus}}};
  CHECK(stops(machine, *machine.path(a, d, 5)) == std::vector<std::string>{"c", "d"});
  std::swap(machine.routes[2], machine.routes[3]);
  CHECK(stops(machine, *machine.path(a, d, 5)) == std::vector<std::string>{"b", "d"});
}

TEST_CASE("machine: the host is the first cpu") {
  Machine machine;
  device(machine, "gpu0", DeviceKind::Gpu);
  const DeviceId cpu = device(machine, "cpu0", DeviceKind::Cpu);
  device(machine, "cpu1", DeviceKind::Cpu);
  CHECK(machine.host() == cpu);
  CHECK(machine.findDevice("cpu1") == DeviceId(2));
  CHECK_FALSE(machine.findDevice("cpu2").valid());
}

TEST_CASE("machine: the samples are sound and in the layout that dfc prints") {
  const auto files = test::filesIn(samples, ".json");
  CHECK(files.size() >= 3);
  for (const auto& file : files) {
    INFO(file.string());
    const Result<Machine> machine = readMachine(file.string());
    REQUIRE(machine.ok());
    CHECK(machine->name == file.stem().string());
    test::checkAgainstFile(file, printMachine(*machine));
  }
}

TEST_CASE("machine: the eight GPUs reach one another in one hop, the host over its switch") {
  const Result<Machine> machine = readMachine((samples / "cpu-8gpu-nvlink.json").string());
  REQUIRE(machine.ok());
  const DeviceId last = machine->findDevice("gpu7");
  CHECK(machine->path(machine->findDevice("gpu0"), last, 1 << 20)->size() == 1);
  const auto down = machine->path(machine->host(), last, 1 << 20);
  REQUIRE(down->size() == 1);
  CHECK(machine->links[down->front().links[0]].name == "switch1 down");
}

TEST_CASE("machine: printing and parsing keep every double and every field") {
  Machine machine;
  machine.name = "odd \"quotes\" and \\ and \u00e9";
  DeviceRow row;
  row.name = "cpu0";
  row.model = "tab\there";
  row.memoryBytes = std::numeric_limits<int64_t>::max() / 4096 * 2048 + 1; // odd and beyond 2^53
  row.computeQueues = 3;
  row.threads = 7;
  row.multiprocessors = 78;
  row.threadsPerMultiprocessor = 1536;
  row.sharedBytesPerBlock = 232448;
  row.architecture = "sm_90";
  row.peakFlops = {1.0 / 3, 1.2345678901234567e-30, 1.7976931348623157e308, 0, 2, 0.1,
                   1e22,    123456789012345680.0};
  row.tf32Flops = 2.0 / 3;
  row.matmulHalfInner = {512, 64.5, 0, 1.0 / 3, 0, 0, 0, 1};
  row.tf32HalfInner = 1e9;
  row.matmulHalfTile = {48, 0, 0.1, 64, 0, 0, 0, 1};
  row.tf32HalfTile = 96;
  row.convolutionFlops = {0, 3, 0.7, 0, 0, 0, 0, 1e15};
  row.tf32ConvolutionFlops = 5e14;
  row.stridedFlops = {0, 0, 0.3, 0, 0, 0, 0, 4e15};
  row.tf32StridedFlops = 3e14;
  row.memoryBandwidth = 4.8e12;
  row.cacheBytes = 50 << 20;
  row.launchSeconds = 2.5e-6;
  row.matmulLaunchSeconds = {4.1e-6, 0, 1.0 / 3, 0, 0, 0, 0, 2};
  row.tf32LaunchSeconds = 4.4e-6;
  row.stepOverheadSeconds = 6.6e-6;
  machine.devices.add(row);
  device(machine, "gpu0", DeviceKind::Gpu);
  const LinkId unlimited = link(machine, "nul", 5e-324, 0);
  machine.links[unlimited].slots = 0;
  machine.routes = {{DeviceId(0), DeviceId(1), {unlimited}}, {DeviceId(1), DeviceId(0), {unlimited}}};
  const Machine again = parsed(printMachine(machine));
  CHECK(printMachine(again) == printMachine(machine));
  CHECK(again.name == machine.name);
  const DeviceRow& read = again.devices[DeviceId(0)];
  CHECK(read.memoryBytes == row.memoryBytes);
  CHECK(read.peakFlops == row.peakFlops);
  CHECK(read.tf32Flops == row.tf32Flops);
  CHECK(read.matmulHalfInner == row.matmulHalfInner);
  CHECK(read.tf32HalfInner == row.tf32HalfInner);
  CHECK(read.matmulHalfTile == row.matmulHalfTile);
  CHECK(read.tf32HalfTile == row.tf32HalfTile);
  CHECK(read.convolutionFlops == row.convolutionFlops);
  CHECK(read.tf32ConvolutionFlops == row.tf32ConvolutionFlops);
  CHECK(read.stridedFlops == row.stridedFlops);
  CHECK(read.tf32StridedFlops == row.tf32StridedFlops);
  CHECK(std::tuple(read.model, read.computeQueues, read.threads, read.memoryBandwidth, read.launchSeconds) ==
        std::tuple(row.model, row.computeQueues, row.threads, row.memoryBandwidth, row.launchSeconds));
  CHECK(read.matmulLaunchSeconds == row.matmulLaunchSeconds);
  CHECK(read.tf32LaunchSeconds == row.tf32LaunchSeconds);
  CHECK(read.stepOverheadSeconds == row.stepOverheadSeconds);
  CHECK(read.cacheBytes == 50 << 20);
  CHECK(read.multiprocessors == 78);
  CHECK(read.threadsPerMultiprocessor == 1536);
  CHECK(read.sharedBytesPerBlock == 232448);
  CHECK(read.architecture == "sm_90");
  CHECK(again.links[unlimited].latencySeconds == 5e-324);
  CHECK(again.links[unlimited].slots == 0);
}

TEST_CASE("machine: what a file leaves out has no limit, and one rate stands for all element types") {
  const Machine machine = parsed(R"({"devices": [{"id": "cpu0"}, {"id": "gpu3", "flops": 5}],
    "default_comm": {"latency": 2, "bandwidth": 4}, "implicit_comm": true})");
  const DeviceRow& cpu = machine.devices[DeviceId(0)];
  CHECK(cpu.kind == DeviceKind::Cpu);
  CHECK(std::tuple(cpu.memoryBytes, cpu.memoryBandwidth, cpu.computeQueues, cpu.threads) ==
        std::tuple(0, 0.0, 1U, 1U));
  CHECK(machine.devices[DeviceId(1)].kind == DeviceKind::Gpu);
  CHECK(machine.devices[DeviceId(1)].peakFlops[7] == 5);
  REQUIRE(machine.routes.size() == 2); // default_comm: one each way
  CHECK(machine.seconds(machine.routes[0], 8) == 2 + 8 / 4.0);
  CHECK(machine.links[LinkId(0)].slots == 0);
}

TEST_CASE("machine: one half inner dimension stands for all precisions") {
  const Machine machine = parsed(R"({"devices": [{"id": "cpu0"}, {"id": "gpu0", "matmulHalfInner": 512}],
    "default_comm": {"latency": 2, "bandwidth": 4}})");
  const DeviceRow &cpu = machine.devices[DeviceId(0)], &gpu = machine.devices[DeviceId(1)];
  CHECK((cpu.hasOneHalfInner() && cpu.tf32HalfInner == 0));
  CHECK((gpu.hasOneHalfInner() && gpu.matmulHalfInner[3] == 512));
  CHECK(printMachine(machine).find("\"matmulHalfInner\": 512}") != std::string::npos);
  CHECK(printMachine(parsed(printMachine(machine))) == printMachine(machine));
}

TEST_CASE("machine: one launch of products stands for all precisions, an object for each") {
  const Machine machine = parsed(R"({"devices": [{"id": "cpu0", "matmulLaunch": 2e-6},
    {"id": "gpu0", "matmulLaunch": {"f32": 2e-6, "tf32": 4e-6}}], "default_comm": {"latency": 2, "bandwidth": 4}})");
  const DeviceRow &one = machine.devices[DeviceId(0)], &each = machine.devices[DeviceId(1)];
  CHECK((one.hasOneMatmulLaunch() && one.tf32LaunchSeconds == 2e-6 && one.matmulLaunchSeconds[3] == 2e-6));
  CHECK(each.matmulLaunchSeconds[static_cast<size_t>(ElementType::F32)] == 2e-6);
  CHECK(each.matmulLaunchSeconds[static_cast<size_t>(ElementType::F64)] == 0);
  CHECK(each.tf32LaunchSeconds == 4e-6);
  const std::string printed = printMachine(machine);
  CHECK(printed.find("\"matmulLaunch\": 2e-06}") != std::string::npos);
  CHECK(printed.find("\"matmulLaunch\": {\"f32\": 2e-06, \"tf32\": 4e-06}}") != std::string::npos);
  CHECK(printMachine(parsed(printed)) == printed);
}

TEST_CASE("hockney: two rates give back the law that they follow") {
  const Hockney law{800, 512};
  CHECK(law.rate(512) == 400);
  const Hockney found = hockneyOf(1024, law.rate(1024), 16384, law.rate(16384));
  CHECK(found.peak == Approx(800));
  CHECK(found.half == Approx(512));
}

TEST_CASE("hockney: a short length that is no slower gives the peak at any length") {
  const Hockney same = hockneyOf(1024, 700, 16384, 700), faster = hockneyOf(1024, 750, 16384, 700);
  CHECK((same.half == 0 && same.peak == Approx(700)));
  CHECK((faster.half == 0 && faster.peak == Approx(700)));
}

TEST_CASE("hockney: the half length is at most the large one, whatever the noise") {
  const Hockney found = hockneyOf(1024, 1e-3, 16384, 700);
  CHECK(found.half == Approx(16384));
  CHECK(found.peak == Approx(1400));
}

TEST_CASE("machine: the scorer's machines load as they are") {
  const std::filesystem::path folder = shippedFile("shared/sched_examples");
  if (!std::filesystem::exists(folder)) {
    DFC_SKIP("shared/sched_examples is absent");
  }
  int loaded = 0;
  for (const auto& file : test::filesIn(folder, ".json")) {
    const auto instance = nlohmann::json::parse(test::readText(file));
    if (instance.contains("machine")) {
      INFO(file.string());
      const Machine machine = parsed(instance["machine"].dump());
      CHECK(machine.devices.size() == instance["machine"]["devices"].size());
      CHECK(machine.devices[machine.host()].memoryBytes == 0);
      ++loaded;
    }
  }
  CHECK(loaded >= 12);
}

TEST_CASE("machine: every broken file gives its errors to the letter") {
  const auto files = test::filesIn(invalid, ".json");
  CHECK(files.size() >= 10);
  for (const auto& file : files) {
    INFO(file.string());
    const Result<Machine> machine = parseMachine(test::readText(file), file.filename().string());
    REQUIRE_FALSE(machine.ok());
    auto expected = file;
    test::checkAgainstFile(expected.replace_extension(".expected"), render(machine.errors()));
  }
}

TEST_CASE("machine: a file that is not there, or is a folder, is said so") {
  const Result<Machine> absent = readMachine("/nowhere/machine.json");
  REQUIRE_FALSE(absent.ok());
  CHECK(render(absent.errors()) == "/nowhere/machine.json: error: cannot open: No such file or directory\n"
                                   "  hint: check the name and the permissions\n");
  const Result<Machine> folder = readMachine(samples.string());
  REQUIRE_FALSE(folder.ok());
  CHECK(folder.errors().front().message == "is a folder, not a file");
}

TEST_CASE("machine: a zero byte does not end a file") {
  const std::string text = printMachine(test::handMachine());
  REQUIRE(parseMachine(text, "zero.json").ok());
  REQUIRE(text.ends_with('\n'));
  const auto lines = static_cast<uint32_t>(std::count(text.begin(), text.end(), '\n'));
  const Result<Machine> machine = parseMachine(text + std::string("\0]", 2), "zero.json");
  REQUIRE_FALSE(machine.ok());
  CHECK(machine.errors().size() == 1);
  CHECK(machine.errors()[0].message == "a byte that is zero, which no JSON holds");
  CHECK(machine.errors()[0].where == SourceLocation{"zero.json", lines + 1, 1});
}

TEST_CASE("machine: every prefix and every altered byte of a file gives a machine or errors, never a crash") {
  const std::string text = test::readText(samples / "cpu-2gpu.json");
  size_t refused = 0;
  const size_t end = text.find_last_of('}'); // a prefix with it is the whole object
  for (size_t length = 0; length <= end; length += 7) {
    refused += parseMachine(text.substr(0, length), "cut.json").ok() ? 0 : 1;
  }
  CHECK(refused == end / 7 + 1);
  for (size_t at = 0; at < text.size(); at += 5) {
    for (const char wrong : {'\0', '\xff', '{', '"', '-', ',', '9'}) {
      std::string altered = text;
      altered[at] = wrong;
      const Result<Machine> machine = parseMachine(altered, "altered.json");
      CHECK((machine.ok() || !render(machine.errors()).empty()));
    }
  }
}

TEST_CASE("verifyMachine: refuses times and rates that make predictions overflow") {
  Triangle t;
  t.machine.devices[t.a].memoryBandwidth = 1e-300;
  t.machine.devices[t.b].launchSeconds = 1e300;
  t.machine.devices[t.c].memoryBandwidth = 1e-30;
  t.machine.devices[t.c].launchSeconds = 1e30;
  t.machine.links[t.slow].bandwidth = 1e-300;
  CHECK(render(verifyMachine(t.machine)) ==
        "error: machine 'machine': devices[0].memoryBandwidth: 1e-300 is too slow to plan with\n"
        "  hint: give at least 1e-30 bytes a second\n"
        "error: machine 'machine': devices[1].launch: 1e+300 is too long to plan with\n"
        "  hint: give 1e+30 seconds at most\n"
        "error: machine 'machine': links[1].bandwidth: 1e-300 is too slow to plan with\n"
        "  hint: give at least 1e-30 bytes a second\n");
}

TEST_CASE("verifyMachine: finds what no file can say") {
  Triangle t;
  CHECK(verifyMachine(t.machine).empty());
  t.machine.devices[t.b].launchSeconds = std::numeric_limits<double>::quiet_NaN();
  t.machine.devices[t.c].memoryBandwidth = std::numeric_limits<double>::infinity();
  t.machine.links[t.slow].latencySeconds = -1;
  t.machine.routes.push_back({t.a, DeviceId(9), {t.slow}});
  t.machine.routes.push_back({t.c, t.b, {LinkId(7)}});
  CHECK(render(verifyMachine(t.machine)) ==
        "error: machine 'machine': devices[1].launch: nan is no duration\n"
        "  hint: give seconds, 0 or more\n"
        "error: machine 'machine': devices[2].memoryBandwidth: inf is no rate\n"
        "  hint: give bytes a second, or leave it out for no limit\n"
        "error: machine 'machine': links[1].latency: -1 is no duration\n"
        "  hint: give seconds, 0 or more\n"
        "error: machine 'machine': routes[5].to: there is no such device\n"
        "  hint: devices: a, b, c\n"
        "error: machine 'machine': routes[6].links[0]: there is no such link\n"
        "  hint: name a row of \"links\"\n");
}
