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
    {"message", " of an unknown role omitted"},
    {"thinking block", " of another provider or model omitted"},
    {"block", " unknown to this provider omitted"},
    {"unfinished tool call", " of an interrupted answer omitted"},
    {"tool call", " without a result: sent with an error result"},
    {"tool result", " without a call omitted"},
    {"tool call", " given a valid id or name"},
    {"tool input", " wrapped in a JSON object"},
    {"image", " that cannot be sent omitted"},
    {"blob", " that cannot be read omitted"},
    {"answer", " without a question: a placeholder was inserted before it"},
    {"damaged message", " omitted"},
    {"question", " omitted because the request was refused"},
    {"turn", " omitted because the model refused to answer"},
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
