#include "store/chatdir/step_usage.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "reprise/message.h"
#include "store/usage_sum.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kUsageBytesMax = std::int64_t{1} << 20;

std::int64_t count_in(std::string_view json, std::string_view name) {
  json::Scanner scanner(json::find_member(json, name));
  std::int64_t count = 0;
  return scanner.kind() == json::Kind::number && scanner.integer(count) && count > 0 ? count : 0;
}

}  // namespace

std::string step_usage_to_json(const Usage& usage) {
  std::string out;
  json::ObjectWriter(out)
      .field("inputTokens", usage.input.value)
      .field("reasoningTokens", usage.reasoning.value)
      .field("outputTokens", usage.output.value)
      .field("cachedInputTokens", usage.cached.value)
      .close();
  return out;
}

Usage step_usage_from_json(std::string_view json) {
  Usage usage;
  usage.input.value = count_in(json, "inputTokens");
  usage.reasoning.value = count_in(json, "reasoningTokens");
  usage.output.value = count_in(json, "outputTokens");
  usage.cached.value = count_in(json, "cachedInputTokens");
  return usage;
}

Usage usage_of_steps(const fs::path& chat) {
  Usage sum;
  for (const char* const steps : {"steps", "step"}) {
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(chat / steps, none)) {
      if (const auto json = read_file(entry.path() / "usage.json", kUsageBytesMax); json) {
        add_usage(sum, step_usage_from_json(*json));
      }
    }
  }
  return sum;
}

}  // namespace reprise::store::chatdir
