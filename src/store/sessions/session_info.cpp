// Reads parts of a session file for its list entry.
//
// The keys of a file are in byte order: closed_at and config come first, then the conversation, and
// after it only small members. In a file with our formatting, each top-level member is on a line
// that begins with two blanks and a quotation mark, and no text can contain such a line. So the
// beginning and the end of a file are sufficient for its list entry if they fit together; otherwise
// the whole file is read.

#include <fcntl.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "reprise/session.h"
#include "store/document/document_format.h"
#include "store/document/sidecar.h"
#include "store/sessions/ours.h"
#include "store/sessions/parts_json.h"
#include "store/sessions/session_json.h"
#include "store/sessions/spelling.h"

namespace reprise::store::sessions {
namespace {

namespace fs = std::filesystem;

// The number of bytes read at an end: more for files with long prompts, settings or todos.
constexpr std::array<std::size_t, 3> kEndBytes = {4096, 16'384, 65'536};
// The first line after the conversation, except for unknown members.
constexpr std::string_view kTailLine = "\n  \"created_at\": ";
constexpr std::string_view kPromptsLine = "\n  \"prompt_history\": ";
constexpr std::string_view kMemberLine = "\n  \"";

Result<std::string> read_at(int fd, std::size_t bytes, off_t offset, const fs::path& file) {
  std::string out(bytes, '\0');
  REPRISE_ASSIGN(const std::size_t bytes_read, reprise::read_at(fd, out, offset, file));
  out.resize(bytes_read);
  return out;
}

// The raw members before the conversation, up to its colon; "" if there is no conversation.
std::string_view before_conversation(std::string_view head) {
  json::Scanner scanner(head);
  std::string_view found;
  scanner.object([&](std::string_view name) {
    if (name == "conversation") {
      found = head.substr(0, scanner.position());
      return false;
    }
    return scanner.skip();
  });
  return found;
}

// The members without the prompt history, which may be by far the longest and is not in a list.
std::string without_prompts(std::string_view members) {
  const std::size_t from = members.find(kPromptsLine);
  const std::size_t to =
      from == std::string_view::npos ? from : members.find(kMemberLine, from + kPromptsLine.size());
  return to == std::string_view::npos ? std::string(members)
                                      : cat(members.substr(0, from), members.substr(to));
}

Result<SessionInfo> info_from_json(const Location& location, std::string_view json,
                                   const fs::path& file_of_ours) {
  // What cannot be read there is reported with the session.
  const auto ours = read_ours(file_of_ours, location, json).value_or(std::nullopt);
  REPRISE_ASSIGN(const FileSession session,
                 ours ? read_session_with(*ours, location, json, Spelling::ignored)
                      : read_session(location, json, Spelling::ignored));
  return session.stored.session.info;
}

}  // namespace

std::optional<SessionInfo> info_from_ends(const Location& location, std::string_view head,
                                          std::string_view tail) {
  const std::string_view before = before_conversation(head);
  const std::size_t after = tail.find(kTailLine);
  if (before.empty() || after == std::string_view::npos) {
    return std::nullopt;
  }
  // The braces match only if the tail began among the root's members.
  const std::string json = cat(before, "[],", without_prompts(tail.substr(after)));
  const auto session = read_session(location, json, Spelling::ignored);
  if (!session) {
    return std::nullopt;
  }
  std::string sidecar;
  json::Scanner(json::find_member(json, kSidecar)).string(sidecar);
  const auto messages = stored_message_count(sidecar);
  if (!messages) {
    return std::nullopt;
  }
  SessionInfo info = session->stored.session.info;
  info.head = {*messages};
  return info;
}

Result<std::optional<Ours>> read_ours(const fs::path& ours, const Location& location,
                                      std::string_view json) {
  if (!json::find_member(json, kSidecar).empty()) {
    return std::nullopt;
  }
  REPRISE_ASSIGN(const auto bytes, if_exists(read_file(ours, kFileBytesMax)));
  if (!bytes) {
    return std::nullopt;
  }
  REPRISE_ASSIGN(Ours read, Ours::read(location, *bytes));
  return read;
}

Result<SessionInfo> read_info(const fs::path& file, const Location& location,
                              const fs::path& ours) {
  REPRISE_ASSIGN(const Fd fd, open_file(file, O_RDONLY));
  REPRISE_ASSIGN(const struct stat status, status_of(fd.get(), file));
  if (status.st_size > kFileBytesMax) {
    return fail(Code::invalid_argument, cat("it is larger than ", kFileBytesMax, " bytes"));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  REPRISE_ASSIGN(std::string head, read_at(fd.get(), std::min(size, kEndBytes.front()), 0, file));
  if (before_conversation(head).empty()) {
    REPRISE_ASSIGN(head, read_at(fd.get(), std::min(size, kEndBytes.back()), 0, file));
  }
  for (const std::size_t end : kEndBytes) {
    const std::size_t part = std::min(size, end);
    REPRISE_ASSIGN(const std::string tail,
                   read_at(fd.get(), part, static_cast<off_t>(size - part), file));
    if (auto info = info_from_ends(location, head, tail); info) {
      return *std::move(info);
    }
    if (part == size) {
      return info_from_json(location, tail, ours);
    }
  }
  REPRISE_ASSIGN(const std::string bytes, read_at(fd.get(), size, 0, file));
  return info_from_json(location, bytes, ours);
}

}  // namespace reprise::store::sessions
