#include "tools/dfc/run/progress.h"

#include "ir/author/text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <unistd.h>

namespace dfc::tool {
namespace {

using namespace std::chrono_literals;

constexpr auto quiet = 700ms;          // work that ends before needs no progress
constexpr auto redraw = 100ms;         // of the bar
constexpr auto plainInterval = 2000ms; // the least time between plain lines
constexpr int64_t barWidth = 30;

} // namespace

Progress::Progress(const Console& console, const std::string& title, int64_t total, std::string unit,
                   int64_t begun)
    : stream_(console.json() ? nullptr : console.errorStream()),
      terminal_(stream_ != nullptr && ::isatty(::fileno(stream_)) == 1), title_(visible(title)),
      unit_(std::move(unit)), total_(std::max<int64_t>(total, 1)), tenth_(begun * 10 / total_),
      begin_(Clock::now()), next_(begin_ + quiet) {}

std::string Progress::speedText(int64_t done) const {
  const std::optional<double> rate = rate_.perSecond();
  return rate ? fmt::format("{:.3g} {}/s, {} left", *rate, unit_,
                            humanSeconds(static_cast<double>(total_ - done) / *rate))
              : "";
}

std::string Progress::barText(int64_t done, const std::string& remark) const {
  const auto full = static_cast<size_t>(barWidth * done / total_);
  const std::string speed = speedText(done);
  return fmt::format("{} [{}{}] {}/{} {}{}{}{}{}", title_, std::string(full, '#'),
                     std::string(static_cast<size_t>(barWidth) - full, '.'), done, total_, unit_,
                     remark.empty() ? "" : ", ", remark, speed.empty() ? "" : ", ", speed);
}

void Progress::update(int64_t done, const std::string& remark) {
  if (stream_ == nullptr) {
    return;
  }
  const auto now = Clock::now();
  rate_.add(std::chrono::duration<double>(now - begin_).count(), done);
  if (now < next_) {
    return;
  }
  if (terminal_) {
    next_ = now + redraw;
    shown_ = true;
    fmt::print(stream_, "\r\x1b[K{}", barText(done, visible(remark)));
    std::fflush(stream_);
  } else if (done * 10 / total_ > tenth_) {
    next_ = now + plainInterval;
    tenth_ = done * 10 / total_;
    const std::string speed = speedText(done);
    fmt::print(stream_, "{}: {} of {} {} ({} %){}{}{}{}\n", title_, done, total_, unit_, 100 * done / total_,
               remark.empty() ? "" : ", ", visible(remark), speed.empty() ? "" : ", ", speed);
    std::fflush(stream_);
  }
}

void Progress::clear() {
  if (shown_) {
    fmt::print(stream_, "\r\x1b[K");
    std::fflush(stream_);
    shown_ = false;
  }
}

} // namespace dfc::tool
