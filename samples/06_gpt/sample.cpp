// See sample.h.
#include "samples/06_gpt/sample.h"

#include "samples/data/lesson.h"

namespace dfc::gpt {

Literal Sampler::append(int64_t token) {
  if (static_cast<int64_t>(cached_.size()) == sizes_.context) {
    readLaterHalf();
  }
  const auto position = static_cast<int64_t>(cached_.size());
  cached_.push_back(token);
  return lesson::orGiveUp(reader_.run({{"token", Literal::of<int64_t>({1, 1}, {token})},
                                       {"position", Literal::scalar(position)}}))
      .at("logits");
}

void Sampler::readLaterHalf() {
  const std::vector<int64_t> again(cached_.end() - sizes_.context / 2, cached_.end());
  cached_.clear();
  for (const int64_t old : again) {
    append(old);
  }
}

void Sampler::begin(Session& decoder, int64_t token) const {
  lesson::orGiveUp(
      decoder.setState({{"decoding.token", Literal::of<int64_t>({1, 1}, {token})},
                        {"decoding.position", Literal::scalar(static_cast<int64_t>(cached_.size()))}}));
}

std::vector<int64_t> Sampler::generate(Session& decoder, int64_t last, int64_t count) {
  std::vector<int64_t> drawn;
  begin(decoder, last);
  for (int64_t i = 0; i < count; ++i) {
    if (static_cast<int64_t>(cached_.size()) == sizes_.context) {
      readLaterHalf();
      begin(decoder, last);
    }
    cached_.push_back(last); // by the step, which draws the next one
    last = lesson::orGiveUp(decoder.run({})).at("token").data<int64_t>()[0];
    drawn.push_back(last);
  }
  return drawn;
}

} // namespace dfc::gpt
