#include "store/chatdir/step_usage.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <limits>

#include "base/file.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/message.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/line.h"
#include "store/chatdir/message_log.h"
#include "store/paths.h"
#include "store/usage_sum.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kUsageBytesMax = std::int64_t{1} << 20;
constexpr std::int64_t kAnswerBytesMax = std::int64_t{16} << 20;
constexpr std::int64_t kChunksEndBytes = 64 << 10;

void read_cost(std::string_view json, Usage& usage) {
  if (const auto cost = Money::parse(json::find_member(json, "cost")); cost) {
    usage.cost = cost;
    usage.price_source = "provider";
  }
}

// Missing files, and paths that are not files, count as no usage.
bool is_fault(const Error& error) {
  return error.code == Code::io && error.os_errno != ENOTDIR;
}

// The end of the file, which contains the usage; "" if there is no file.
Result<std::string> end_of(const fs::path& file) {
  const auto fd = open_file(file, O_RDONLY);
  if (!fd) {
    return is_fault(fd.error()) ? Result<std::string>(std::unexpected(fd.error())) : std::string();
  }
  REPRISE_ASSIGN(const struct stat status, status_of(fd->get(), file));
  std::string end(static_cast<std::size_t>(std::min<std::int64_t>(status.st_size, kChunksEndBytes)),
                  '\0');
  const std::int64_t from = status.st_size - static_cast<std::int64_t>(end.size());
  REPRISE_ASSIGN(const std::size_t count, read_at(fd->get(), end, from, file));
  end.resize(count);
  return end;
}

// Reads the cost of the last chunk that has one:
// {"type":"raw","rawValue":{"usage":{"cost":0.001}}}.
Result<> read_cost_of_chunks(const fs::path& file, Usage& usage) {
  REPRISE_ASSIGN(const std::string end, end_of(file));
  for (std::string_view remaining = end; !remaining.empty() && !usage.cost;) {
    const std::size_t before = remaining.find_last_of('\n');
    const std::size_t line = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view chunk = json::find_member(remaining.substr(line), "rawValue");
    read_cost(json::find_member(chunk, "usage"), usage);
    remaining = remaining.substr(0, line == 0 ? 0 : line - 1);
  }
  return {};
}

// Whether the step is that of another conversation, which was in this chat before: its answer is
// not that of the message.
Result<bool> is_of_another(const fs::path& step, const Message& answer) {
  const auto bytes = read_file(step / "answer.md", kAnswerBytesMax);
  if (!bytes) {
    return is_fault(bytes.error()) ? Result<bool>(std::unexpected(bytes.error())) : false;
  }
  const std::string text = plain_text(answer);
  const std::string_view ours = trimmed(text);
  const std::string_view theirs = trimmed(*bytes);
  return !ours.empty() && !theirs.empty() && ours.find(theirs) == std::string_view::npos &&
         theirs.find(ours) == std::string_view::npos;
}

Result<> add_step(Usage& sum, const fs::path& step) {
  Usage usage;
  const auto json = read_file(step / "usage.json", kUsageBytesMax);
  if (json) {
    usage = step_usage_from_json(*json);
  } else if (is_fault(json.error())) {
    return std::unexpected(json.error());
  }
  if (!usage.cost) {
    REPRISE_TRY(read_cost_of_chunks(step / "chunks.jsonl", usage));
  }
  add_usage(sum, usage);
  return {};
}

// Adds the usage of this answer, whose number is that of its step.
Result<> add_answer(Usage& sum, const fs::path& chat, std::int64_t number, const Message& answer) {
  for (const char* const steps : {"steps", "step"}) {
    const fs::path step = chat / steps / step_folder_name({number});
    REPRISE_ASSIGN(const bool is_other, is_of_another(step, answer));
    if (!is_other) {
      REPRISE_TRY(add_step(sum, step));
    }
  }
  return {};
}

Result<std::set<std::string>> names_of_steps(const fs::path& chat) {
  std::set<std::string> names;
  for (const char* const steps : {"steps", "step"}) {
    const auto entries = list_if_exists(chat / steps);
    if (!entries && is_fault(entries.error())) {
      return std::unexpected(entries.error());
    }
    for (const fs::directory_entry& entry : entries.value_or(std::vector<fs::directory_entry>())) {
      names.insert(entry.path().filename());
    }
  }
  return names;
}

// Calls `visit` with the messages of [from, to) that can be read, in order.
Result<> visit_lines(const MessageLog& log, Seq from, Seq to,
                     const std::function<Result<>(const MessageLog::LogEntry&, Line&)>& visit) {
  FileWindow window(log.fd(), log.file());
  for (const MessageLog::LogEntry& entry :
       log.entries(from, to, std::numeric_limits<std::size_t>::max(), false)) {
    REPRISE_ASSIGN(const std::string_view bytes,
                   window.view(entry.offset, static_cast<std::size_t>(entry.length)));
    if (auto line = read_line(bytes); line) {
      REPRISE_TRY(visit(entry, *line));
    }
  }
  return {};
}

}  // namespace

AnswerUsages::~AnswerUsages() {
  if (log_ != nullptr) {
    log_->remember_answers(count_);
  }
}

void AnswerUsages::begin_in(const MessageLog& log, bool newest_first) {
  log_ = &log;
  newest_first_ = newest_first;
  count_ = log.counted_answers();
}

// Ours has its usage in its line.
Result<bool> AnswerUsages::may_have_step(const Line& line) {
  if (line.message.role != role::kAssistant || line.is_ours) {
    return false;
  }
  if (!has_listed_) {
    REPRISE_ASSIGN(steps_, names_of_steps(chat_));
    has_listed_ = true;
  }
  return !steps_.empty();
}

Result<> AnswerUsages::count_to(Seq to) {
  if (to.value < count_.to.value - to.value) {
    count_ = {};
  }
  const bool is_later = count_.to <= to;
  std::int64_t between = 0;
  REPRISE_TRY(visit_lines(*log_, is_later ? count_.to : to, is_later ? to : count_.to,
                          [&between](const MessageLog::LogEntry& /*entry*/, Line& line) {
                            between += line.message.role == role::kAssistant ? 1 : 0;
                            return Result<>();
                          }));
  count_ = {to, count_.answers + (is_later ? between : -between)};
  return {};
}

Result<> AnswerUsages::add_to(Line& line) {
  REPRISE_ASSIGN(const bool may_have, may_have_step(line));
  const std::int64_t own = line.message.role == role::kAssistant ? 1 : 0;
  const Seq seq = line.message.seq;
  const Seq here = newest_first_ ? seq.next() : seq;
  if (log_ == nullptr) {
    count_.to = here;  // nothing is left out
  }
  if (may_have && count_.to != here) {
    REPRISE_TRY(count_to(here));
  }
  if (count_.to != here) {
    return {};
  }
  const std::int64_t number = count_.answers + (newest_first_ ? 0 : own);
  count_ = newest_first_ ? MessageLog::AnswerCount{seq, count_.answers - own}
                         : MessageLog::AnswerCount{seq.next(), count_.answers + own};
  if (!may_have || !steps_.contains(step_folder_name({number}))) {
    return {};
  }
  Usage usage;
  REPRISE_TRY(add_answer(usage, chat_, number, line.message));
  if (usage != Usage{}) {
    line.message.usage = std::move(usage);
  }
  return {};
}

std::string step_usage_to_json(const Usage& usage) {
  return json::object_of("inputTokens", usage.input.value, "reasoningTokens", usage.reasoning.value,
                         "outputTokens", usage.output.value, "cachedInputTokens",
                         usage.cached.value);
}

Usage step_usage_from_json(std::string_view json) {
  Usage usage;
  const JsonView view(json);
  usage.input.value = view["inputTokens"].count();
  usage.reasoning.value = view["reasoningTokens"].count();
  usage.output.value = view["outputTokens"].count();
  usage.cached.value = view["cachedInputTokens"].count();
  read_cost(json, usage);
  return usage;
}

Result<Usage> usage_of_steps(const fs::path& chat) {
  Usage sum;
  for (const std::string_view steps :
       {std::string_view("steps"), std::string_view("step"), kReplacedFolder}) {
    const auto entries = list_if_exists(chat / steps);
    if (!entries && is_fault(entries.error())) {
      return std::unexpected(entries.error());
    }
    if (!entries) {
      continue;  // not a folder
    }
    for (const fs::directory_entry& entry : *entries) {
      REPRISE_TRY(add_step(sum, entry.path()));
    }
  }
  return sum;
}

Result<Usage> usage_added_by_others(const MessageLog& log, std::int64_t from,
                                    const fs::path& chat) {
  REPRISE_ASSIGN(const std::set<std::string> steps, names_of_steps(chat));
  if (steps.empty()) {
    return Usage{};
  }
  std::int64_t answers = 0;
  std::vector<std::pair<std::int64_t, Message>> added;
  const auto visit = [&](const MessageLog::LogEntry& entry, Line& line) -> Result<> {
    const bool is_answer = line.message.role == role::kAssistant;
    answers += is_answer ? 1 : 0;
    if (entry.offset < from) {
      return {};
    }
    if (line.is_ours) {
      added.clear();
    } else if (is_answer && steps.contains(step_folder_name({answers}))) {
      added.emplace_back(answers, std::move(line.message));
    }
    return {};
  };
  REPRISE_TRY(visit_lines(log, {}, log.state().head, visit));
  Usage sum;
  for (const auto& [number, answer] : added) {
    REPRISE_TRY(add_answer(sum, chat, number, answer));
  }
  return sum;
}

}  // namespace reprise::store::chatdir
