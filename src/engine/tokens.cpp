#include <type_traits>

#include "reprise/conversation.h"

namespace reprise {
namespace {

constexpr std::int64_t kMessageTokens = 4;
constexpr std::int64_t kImageTokens = 1000;

struct Counted {
  std::int64_t ascii = 0;
  std::int64_t others = 0;
  std::int64_t images = 0;

  void add(std::string_view text) {
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      ascii += byte < 0x80U ? 1 : 0;
      others += byte >= 0xC0U ? 1 : 0;
    }
  }
};

void count(Counted& counted, const Block& block) {
  std::visit(
      [&counted](const auto& one) {
        using Kind = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Kind, ToolUseBlock>) {
          counted.add(one.name);
          counted.add(one.input.text());
        } else if constexpr (std::is_same_v<Kind, ImageBlock>) {
          ++counted.images;
        } else if constexpr (std::is_same_v<Kind, UnknownBlock>) {
          counted.add(one.json.text());
        } else {
          counted.add(one.text);
        }
      },
      block);
}

}  // namespace

TokenCount estimate_tokens(const Message& message) {
  Counted counted;
  for (const Block& block : message.blocks) {
    count(counted, block);
  }
  return {kMessageTokens + counted.images * kImageTokens + counted.others +
          (counted.ascii + 3) / 4};
}

}  // namespace reprise
