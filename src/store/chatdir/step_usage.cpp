#include "store/chatdir/step_usage.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/types.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/line.h"
#include "store/chatdir/mark.h"
#include "store/chatdir/message_log.h"
#include "store/paths.h"
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

// What is no such file counts nothing.
Result<> add_step(Usage& sum, const fs::path& step) {
  const auto json = read_file(step / "usage.json", kUsageBytesMax);
  if (json) {
    add_usage(sum, step_usage_from_json(*json));
  } else if (json.error().code == Code::io && json.error().os_errno != ENOTDIR) {
    return std::unexpected(json.error());
  }
  return {};
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

Result<Usage> usage_of_steps(const fs::path& chat) {
  Usage sum;
  for (const char* const steps : {"steps", "step"}) {
    const auto entries = list_if_there(chat / steps);
    if (!entries && entries.error().code == Code::io && entries.error().os_errno != ENOTDIR) {
      return std::unexpected(entries.error());
    }
    if (!entries) {
      continue;  // it is no folder
    }
    for (const fs::directory_entry& entry : *entries) {
      REPRISE_TRY(add_step(sum, entry.path()));
    }
  }
  return sum;
}

Result<Usage> usage_added_by_others(const MessageLog& log, std::int64_t from,
                                    const fs::path& chat) {
  FileWindow window(log.fd(), log.file());
  std::int64_t answers = 0;
  std::vector<Step> added;
  for (const MessageLog::Place& place :
       log.places({}, log.state().head, std::numeric_limits<std::size_t>::max(), false)) {
    REPRISE_ASSIGN(const std::string_view bytes,
                   window.view(place.offset, static_cast<std::size_t>(place.length)));
    const auto line = read_line(bytes);
    const bool is_answer = line && line->message.role == role::kAssistant;
    answers += is_answer ? 1 : 0;
    if (place.offset < from) {
      continue;
    }
    if (find_mark(bytes)) {
      added.clear();
    } else if (is_answer) {
      added.push_back({answers});
    }
  }
  Usage sum;
  for (const Step step : added) {
    for (const char* const steps : {"steps", "step"}) {
      REPRISE_TRY(add_step(sum, chat / steps / step_folder_name(step)));
    }
  }
  return sum;
}

}  // namespace reprise::store::chatdir
