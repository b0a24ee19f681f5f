#include "engine/request_repairs.h"

#include <array>
#include <cstddef>
#include <vector>

#include "base/text.h"

namespace reprise {
namespace {

// What is counted, and how it was repaired.
struct Text {
  std::string_view subject;
  std::string_view action;
};

constexpr std::array<Text, kRequestRepairKinds> kTexts = {{
    {"stored system message", " not sent: the system prompt is sent instead"},
    {"message", " of an unknown role left out"},
    {"thinking block", " of another provider or model left out"},
    {"block", " unknown to this provider left out"},
    {"unfinished tool call", " of an interrupted answer left out"},
    {"tool call", " without a result given an error as its result"},
    {"repeated tool call", " left out"},
    {"tool result", " without a call left out"},
    {"tool call", " given a valid id or name"},
    {"tool input", " wrapped in a JSON object"},
    {"image", " that cannot be sent left out"},
    {"blob", " that cannot be read left out"},
    {"answer", " without a question: a placeholder was inserted before it"},
    {"damaged message", " left out"},
    {"question", " left out because the request was refused"},
}};

}  // namespace

std::vector<std::string> RequestRepairs::lines() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kRequestRepairKinds; ++i) {
    if (counts_.at(i) > 0) {
      out.push_back(
          cat("request: ", counted(static_cast<std::int64_t>(counts_.at(i)), kTexts.at(i).subject),
              kTexts.at(i).action));
    }
  }
  return out;
}

}  // namespace reprise
