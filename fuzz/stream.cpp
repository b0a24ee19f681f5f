// Responses of the three protocols: the result must not depend on how they are divided into pieces.

#include <algorithm>

#include "base/utf8.h"
#include "fuzzing.h"
#include "provider/codec.h"
#include "provider/sse.h"

using reprise::fuzz::require;

namespace {

namespace provider = reprise::provider;

struct Heard {
  std::string text;
  bool is_good = true;
  friend bool operator==(const Heard&, const Heard&) = default;
};

Heard hear(const provider::Codec& codec, std::string_view bytes, bool in_pieces) {
  Heard heard;
  const reprise::StreamSink sink = [&heard](const reprise::StreamEvent& event) {
    heard.text += static_cast<char>('a' + event.index());
    if (const auto* delta = std::get_if<reprise::TextDelta>(&event); delta != nullptr) {
      require(reprise::utf8::is_valid(delta->text), "text that is not UTF-8");
      heard.text += delta->text;
    }
  };
  provider::ReplyWriter out(sink);
  const auto reader = codec.reader(out);
  provider::SseParser parser;
  const auto take = [&reader](std::string_view name, std::string_view data) {
    return reader->event(name, data);
  };
  for (std::size_t at = 0; at < bytes.size() && heard.is_good;) {
    const std::size_t length =
        in_pieces ? std::min<std::size_t>(bytes.size() - at,
                                          static_cast<unsigned char>(bytes[at]) % 7U + 1U)
                  : bytes.size();
    heard.is_good = parser.feed(bytes.substr(at, length), take).has_value();
    at += length;
  }
  if (heard.is_good) {
    heard.is_good = parser.finish(take).has_value();
  }
  out.end_open_blocks();
  return heard;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto codecs = [] {
    std::vector<std::unique_ptr<provider::Codec>> all;
    for (const reprise::ProviderKind& kind : reprise::provider_kinds()) {
      if (kind.codec != nullptr) {
        all.push_back(kind.codec({}));
      }
    }
    return all;
  }();
  const auto bytes = reprise::fuzz::text_of(data, size);
  for (const auto& codec : codecs) {
    require(hear(*codec, bytes, false) == hear(*codec, bytes, true),
            "the pieces make a difference");
  }
  return 0;
}
