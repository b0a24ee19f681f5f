#include "cli/past.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/output/transcript.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"

namespace reprise::cli {

namespace {

constexpr std::size_t kTranscriptPiece = 1 << 20;
// How far back prompts are looked for in a session of many tool calls.
constexpr std::int64_t kMessagesScanned = 5000;

}  // namespace

Result<Seq> turn_start(Store& store, const SessionId& id, std::int64_t turns) {
  if (turns < 1) {
    return fail(Code::invalid_argument, "at least one turn can be taken back");
  }
  std::int64_t seen = 0;
  Seq start;
  REPRISE_TRY(store.read(id, {.newest_first = true}, [&](const Message& message) {
    if (is_question(message)) {
      ++seen;
      start = message.seq;
    }
    return seen == turns ? Flow::stop : Flow::go_on;
  }));
  if (seen < turns) {
    return fail(Code::invalid_argument, cat("there are only ", seen, " turns to take back"));
  }
  return start;
}

Result<std::vector<std::string>> last_prompts(Store& store, const Session& session,
                                              std::size_t count) {
  std::vector<std::string> prompts;
  const Seq from{std::max<std::int64_t>(0, session.info.head.value - kMessagesScanned)};
  REPRISE_TRY(store.read(session.info.id, {.from = from, .newest_first = true},
                         [&](const Message& message) {
                           if (is_question(message)) {
                             prompts.push_back(plain_text(message));
                           }
                           return prompts.size() >= count ? Flow::stop : Flow::go_on;
                         }));
  for (const std::string& prompt : session.prompt_history) {
    if (prompts.size() < count && std::ranges::find(prompts, prompt) == prompts.end()) {
      prompts.push_back(prompt);
    }
  }
  std::ranges::reverse(prompts);
  return prompts;
}

Result<Exchange> last_exchange(Store& store, const SessionId& id) {
  Exchange last;
  bool newest = true;
  REPRISE_TRY(store.read(id, {.newest_first = true}, [&](const Message& message) {
    if (std::exchange(newest, false)) {
      last.cut = message.state == MessageState::incomplete || message.role == role::kUser;
    }
    if (is_question(message)) {
      last.question = plain_text(message);
      return Flow::stop;
    }
    if (message.role == role::kAssistant && last.answer.empty()) {
      last.answer = plain_text(message);
    }
    return Flow::go_on;
  }));
  return last;
}

Result<Exchange> first_exchange(Store& store, const SessionId& id) {
  Exchange first;
  REPRISE_TRY(store.read(id, {}, [&](const Message& message) {
    if (is_question(message) && first.question.empty()) {
      first.question = plain_text(message);
    } else if (message.role == role::kAssistant && !first.question.empty()) {
      first.answer = plain_text(message);
    }
    return first.answer.empty() ? Flow::go_on : Flow::stop;
  }));
  return first;
}

Result<> write_transcript(Store& store, const Session& session,
                          const std::filesystem::path& named) {
  REPRISE_ASSIGN(const std::filesystem::path file, resolve_folder_of(named));
  auto opened = open_file(file, O_WRONLY | O_CREAT | O_EXCL);
  if (!opened && opened.error().os_errno == EEXIST) {
    return fail(Code::conflict, cat(file.string(), " exists already; name another file"), EEXIST);
  }
  if (!opened) {
    return std::unexpected(std::move(opened).error());
  }
  std::string piece = transcript_head(session);
  Result<> written;
  REPRISE_TRY(store.read(session.info.id, {}, [&](const Message& message) {
    piece += transcript_message(message, Detail::full);
    if (piece.size() >= kTranscriptPiece) {
      written = write_all(opened->get(), std::exchange(piece, ""), file);
    }
    return written ? Flow::go_on : Flow::stop;
  }));
  REPRISE_TRY(written);
  REPRISE_TRY(write_all(opened->get(), piece, file));
  return opened->close(file);
}

}  // namespace reprise::cli
