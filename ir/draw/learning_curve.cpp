// Ticks at 1, 2 or 5 times a power of ten (Heckbert 1990, nice numbers for graph labels).
#include "ir/draw/learning_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace dfc {
namespace {

using Bucket = LearningCurve::Bucket;

constexpr size_t mostBuckets = 2048; // of a series; halved when reached
constexpr double pictureWidth = 760, panelHeight = 230, left = 76, right = 24, top = 30, gap = 44;
constexpr std::string_view evaluationPrefix = "eval.";
constexpr double logarithmicFrom = 30; // factor between the least and the largest value

void join(Bucket& into, const Bucket& next) {
  into = {next.x, into.sum + next.sum, std::min(into.least, next.least), std::max(into.most, next.most),
          into.count + next.count};
}

void halve(std::vector<Bucket>& buckets) {
  const size_t pairs = buckets.size() / 2;
  for (size_t i = 0; i < pairs; ++i) {
    Bucket both = buckets[2 * i];
    join(both, buckets[2 * i + 1]);
    buckets[i] = both;
  }
  if (buckets.size() % 2 == 1) {
    buckets[pairs] = buckets.back();
  }
  buckets.resize(pairs + buckets.size() % 2);
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
    case '<': result += "&lt;"; break;
    case '>': result += "&gt;"; break;
    case '&': result += "&amp;"; break;
    case '"': result += "&quot;"; break;
    default: result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

/// The step between ticks, of which about `wanted` fit.
double niceStep(double range, int wanted) {
  const double rough = range / wanted, power = std::pow(10, std::floor(std::log10(rough)));
  const double factor = rough / power;
  return power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
}

/// Values to places, one way or the other.
class Axis {
 public:
  Axis(double least, double most, bool mayBeLogarithmic, double from, double to) : from_(from), to_(to) {
    logarithmic_ = mayBeLogarithmic && least > 0 && most / least >= logarithmicFrom;
    low_ = logarithmic_ ? std::log10(least) : least;
    high_ = logarithmic_ ? std::log10(most) : most;
    if (!(high_ > low_)) { // one value: in the middle
      const double around = std::max(std::abs(low_) * 0.1, 1e-12);
      low_ -= around;
      high_ += around;
    }
  }
  double place(double value) const {
    const double at = logarithmic_ ? std::log10(std::max(value, 1e-300)) : value;
    return from_ + (std::clamp(at, low_, high_) - low_) / (high_ - low_) * (to_ - from_);
  }
  std::vector<double> ticks(int wanted) const { return logarithmic_ ? decades(wanted) : evenly(wanted); }

 private:
  std::vector<double> evenly(int wanted) const {
    std::vector<double> ticks;
    const double step = niceStep(high_ - low_, wanted);
    for (double i = std::ceil(low_ / step - 1e-9); i * step <= high_ + step * 1e-9 && ticks.size() < 50;
         ++i) {
      ticks.push_back(i == 0 ? 0 : i * step);
    }
    return ticks;
  }
  std::vector<double> decades(int wanted) const {
    std::vector<double> ticks;
    const double stride = std::max(1.0, std::ceil((high_ - low_) / wanted));
    for (double power = std::ceil(low_); power <= high_; power += stride) {
      ticks.push_back(std::pow(10, power));
    }
    for (const double factor : {2.0, 5.0}) { // few decades: their middles too
      for (double power = std::floor(low_); high_ - low_ < 3 && power <= high_; ++power) {
        const double tick = factor * std::pow(10, power), at = std::log10(tick);
        if (at >= low_ && at <= high_) {
          ticks.push_back(tick);
        }
      }
    }
    return ticks;
  }
  double low_ = 0, high_ = 1, from_, to_;
  bool logarithmic_ = false;
};

struct Range {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  void include(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

std::string pathOf(const std::vector<Bucket>& buckets, const Axis& x, const Axis& y) {
  std::string path;
  for (const Bucket& bucket : buckets) {
    path +=
        fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.place(bucket.x), y.place(bucket.mean()));
  }
  return path;
}

/// From the least values to the right, back along the largest.
std::string bandOf(const std::vector<Bucket>& buckets, const Axis& x, const Axis& y) {
  std::string path;
  for (const Bucket& bucket : buckets) {
    path +=
        fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.place(bucket.x), y.place(bucket.least));
  }
  for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
    path += fmt::format("L{:.1f} {:.1f}", x.place(bucket->x), y.place(bucket->most));
  }
  return path + "Z";
}

struct Curve {
  const std::vector<Bucket>* buckets;
  bool evaluation;
};

struct Panel {
  std::string name;
  std::vector<Curve> curves;
};

const char* colourOf(const Curve& curve) { return curve.evaluation ? "#c2410c" : "#1d4ed8"; }

std::string curveSvg(const Curve& curve, const Axis& x, const Axis& y) {
  std::string svg;
  const auto& buckets = *curve.buckets;
  if (buckets.front().count > 1) {
    svg += fmt::format("<path d=\"{}\" fill=\"{}\" fill-opacity=\"0.15\"/>\n", bandOf(buckets, x, y),
                       colourOf(curve));
  }
  svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n",
                     pathOf(buckets, x, y), colourOf(curve));
  for (const Bucket& bucket : buckets) { // few points are seen one by one
    if (buckets.size() <= 40) {
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n", x.place(bucket.x),
                         y.place(bucket.mean()), colourOf(curve));
    }
  }
  return svg;
}

std::string legend(const Panel& panel, double y) {
  std::string svg;
  double x = pictureWidth - right;
  for (auto curve = panel.curves.rbegin(); curve != panel.curves.rend(); ++curve) {
    const char* word = curve->evaluation ? "evaluation" : "training";
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"{}\">{}</text>\n", x, y,
                       colourOf(*curve), word);
    x -= curve->evaluation ? 84 : 70;
  }
  return svg;
}

std::string grid(const Axis& x, const Axis& y, double above, double below) {
  std::string svg;
  for (const double tick : y.ticks(5)) {
    svg += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1f}\" "
                       "text-anchor=\"end\">{:.4g}</text>\n",
                       left, y.place(tick), pictureWidth - right, left - 8, y.place(tick) + 4, tick);
  }
  for (const double tick : x.ticks(7)) {
    svg += fmt::format("<path d=\"M{:.1f} {}V{}\" stroke=\"#eee\"/><text x=\"{:.1f}\" y=\"{}\" "
                       "text-anchor=\"middle\">{:.10g}</text>\n",
                       x.place(tick), above, below, x.place(tick), below + 17, tick);
  }
  return svg + fmt::format("<path d=\"M{} {}V{}H{}\" fill=\"none\" stroke=\"#888\"/>\n", left, above, below,
                           pictureWidth - right);
}

std::string panelSvg(const Panel& panel, const Range& steps, double above) {
  Range values;
  for (const Curve& curve : panel.curves) {
    for (const Bucket& bucket : *curve.buckets) {
      values.include(bucket.least);
      values.include(bucket.most);
    }
  }
  const double below = above + panelHeight - gap;
  const Axis x(steps.least, steps.most, false, left, pictureWidth - right);
  const Axis y(values.least, values.most, true, below, above);
  std::string svg = grid(x, y, above, below);
  svg += fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", left, above - 8,
                     escaped(panel.name));
  svg += legend(panel, above - 8);
  for (const Curve& curve : panel.curves) {
    svg += curveSvg(curve, x, y);
  }
  return svg;
}

} // namespace

void LearningCurve::add(const std::string& series, double x, double y) {
  if (!std::isfinite(x) || !std::isfinite(y)) {
    return;
  }
  const auto [found, isNew] = series_.try_emplace(series);
  if (isNew) {
    order_.push_back(series);
  }
  auto& [buckets, perBucket] = found->second;
  const Bucket point{x, y, y, y, 1};
  if (!buckets.empty() && buckets.back().count < perBucket) {
    return join(buckets.back(), point);
  }
  if (buckets.size() == mostBuckets) {
    halve(buckets);
    perBucket *= 2;
  }
  buckets.push_back(point);
}

std::string LearningCurve::svg(std::string_view title) const {
  std::vector<Panel> panels;
  Range steps;
  for (const std::string& name : order_) {
    const bool evaluation = name.starts_with(evaluationPrefix);
    const std::string about = evaluation ? name.substr(evaluationPrefix.size()) : name;
    const auto& buckets = series_.at(name).buckets;
    steps.include(buckets.front().x);
    steps.include(buckets.back().x);
    const auto panel =
        std::find_if(panels.begin(), panels.end(), [&](const Panel& p) { return p.name == about; });
    (panel == panels.end() ? panels.emplace_back(Panel{about, {}}) : *panel)
        .curves.push_back({&buckets, evaluation});
  }
  const double height = top + 16 + panelHeight * static_cast<double>(std::max<size_t>(panels.size(), 1)) + 8;
  std::string svg =
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
                  "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
                  "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
                  "<text x=\"{2}\" y=\"20\" font-size=\"15\">{3}</text>\n",
                  pictureWidth, height, left, escaped(title));
  double above = top + 26;
  for (const Panel& panel : panels) {
    svg += panelSvg(panel, steps, above);
    above += panelHeight;
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n</svg>\n", pictureWidth - right,
                     height - 8, panels.empty() ? "nothing to draw: no scalar" : "step");
  return svg;
}

} // namespace dfc
