#include "engine/request_repairs.h"

#include <array>
#include <cstddef>
#include <vector>

#include "base/text.h"

namespace reprise {
namespace {

constexpr std::array<std::string_view, kRequestRepairKinds> kTexts = {
    "stored system message(s) not sent: the system prompt stands apart",
    "message(s) of an unknown role left out",
    "thinking block(s) of another provider or model left out",
    "block(s) this provider does not know left out",
    "unfinished tool call(s) of a cut answer left out",
    "tool call(s) without a result sealed with an error",
    "repeated tool call(s) left out",
    "tool result(s) without a call left out",
    "tool call id(s) or name(s) replaced by acceptable ones",
    "tool input(s) that are no JSON object wrapped",
    "image(s) that cannot be sent left out",
    "blob(s) that cannot be read left out",
    "answer(s) without a question before: a placeholder put first",
    "damaged message(s) left out",
    "question(s) left out whose request was refused",
};

}  // namespace

std::vector<std::string> RequestRepairs::lines() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kRequestRepairKinds; ++i) {
    if (counts_.at(i) > 0) {
      out.push_back(cat("request: ", counts_.at(i), " ", kTexts.at(i)));
    }
  }
  return out;
}

}  // namespace reprise
