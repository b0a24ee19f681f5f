#include "store/document/partial_file.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "store/rules.h"
#include "store/stored_json.h"
#include "store/stored_session.h"

namespace reprise::store {
namespace {

namespace fs = std::filesystem;

std::string line_start(const OperationId& answer) {
  return cat(R"({"answer":)", json::quoted(answer.str()), ",");
}

// The file's size, and whether it begins with a piece of this answer.
struct FileState {
  off_t size = 0;
  bool is_ours = false;
  bool ends_a_line = true;
};
Result<FileState> inspect(int fd, const fs::path& file, std::string_view start) {
  REPRISE_ASSIGN(const struct stat status, status_of(fd, file));
  FileState state{.size = status.st_size};
  std::array<char, 256> first{};  // an id has at most 200 bytes
  REPRISE_ASSIGN(const std::size_t got, read_at(fd, first, 0, file));
  std::array<char, 1> last = {'\n'};
  if (state.size > 0) {
    REPRISE_TRY(read_at(fd, last, state.size - 1, file));
  }
  state.is_ours = std::string_view(first.data(), got).starts_with(start);
  state.ends_a_line = last[0] == '\n';
  return state;
}

Result<> add_line(const fs::path& file, const OperationId& answer, std::string_view member) {
  REPRISE_ASSIGN(Fd out, open_file(file, O_RDWR | O_CREAT | O_APPEND, 0600));
  REPRISE_ASSIGN(FileState state, inspect(out.get(), file, line_start(answer)));
  if (!state.is_ours && state.size > 0) {
    if (::ftruncate(out.get(), 0) != 0) {
      return std::unexpected(os_error("empty", file, errno));
    }
    state = {};
  }
  const std::string line = cat(state.ends_a_line ? "" : "\n", line_start(answer), member, "}\n");
  if (auto written = write_all(out.get(), line, file); !written) {
    // Readers ignore an incomplete line, but the next piece must begin on a new one.
    (void)::ftruncate(out.get(), state.size);
    return written;
  }
  return out.close(file);
}

std::string batch_to_json(const PendingBatch& batch) {
  std::string out;
  json::ObjectWriter object(out);
  if (batch.options.operation) {
    object.field("operation", batch.options.operation->str());
  }
  object.raw("messages", messages_to_json(batch.messages));
  if (batch.options.end_partial) {
    object.field("end", batch.options.end_partial->str());
  }
  if (batch.options.begin_partial) {
    object.raw("begin", answer_to_json(*batch.options.begin_partial));
  }
  object.close();
  return out;
}

class TurnReader {
 public:
  explicit TurnReader(std::string_view line) : scanner_(line) {}

  std::optional<PendingTurn> run() {
    const bool is_valid = scanner_.kind() == json::Kind::object &&
                          scanner_.object([this](std::string_view name) { return member(name); }) &&
                          scanner_.end();
    if (!is_valid || !session_) {
      return std::nullopt;
    }
    return PendingTurn{*std::move(session_), first_, std::move(batches_), std::move(unsaved_)};
  }

 private:
  template <class Id>
  bool id(std::optional<Id>& out) {
    std::string text;
    if (scanner_.kind() != json::Kind::string || !scanner_.string(text)) {
      return false;
    }
    auto parsed = Id::parse(text);
    out = parsed ? std::optional(*std::move(parsed)) : std::nullopt;
    return out.has_value();
  }

  bool member(std::string_view name) {
    if (name == "session") {
      return id(session_);
    }
    if (name == "first") {
      return scanner_.integer(first_.value) && is_valid_head(first_);
    }
    if (std::string_view raw; name == "begun") {
      return scanner_.raw(raw) && !(unsaved_ = raw).empty();
    }
    if (name == "turn") {
      return scanner_.array([this] {
        batches_.emplace_back();
        return scanner_.object([this](std::string_view part) { return part_of_batch(part); });
      });
    }
    return scanner_.skip();
  }

  bool part_of_batch(std::string_view name) {
    PendingBatch& batch = batches_.back();
    if (name == "operation") {
      return id(batch.options.operation);
    }
    if (name == "end") {
      return id(batch.options.end_partial);
    }
    std::string_view raw;
    if (!scanner_.raw(raw)) {
      return false;
    }
    if (name == "messages") {
      auto messages = messages_from_json(raw);
      if (!messages) {
        return false;
      }
      batch.messages = *std::move(messages);
      return true;
    }
    if (name == "begin") {
      auto running = answer_from_json(raw);
      if (!running) {
        return false;
      }
      batch.options.begin_partial = start_of(*running);
    }
    return true;
  }

  json::Scanner scanner_;
  std::optional<SessionId> session_;
  Seq first_;
  std::vector<PendingBatch> batches_;
  std::string unsaved_;
};

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

// The last lease in the whole lines at the end of `text`.
std::optional<Lease> last_lease(std::string_view text, std::string_view start) {
  while (!text.empty()) {
    const std::size_t before = text.rfind('\n');
    const std::string_view line = text.substr(before == std::string_view::npos ? 0 : before + 1);
    text.remove_suffix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(start)) {
      continue;
    }
    if (const auto lease = lease_from_json(json::find_member(line, "lease")); lease) {
      return lease;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<> add_partial(const fs::path& file, const OperationId& answer,
                     std::span<const Block> delta) {
  const std::vector<Block> blocks(delta.begin(), delta.end());
  return add_line(file, answer, cat(R"("blocks":)", blocks_to_json(blocks)));
}

Result<> add_lease(const fs::path& file, const OperationId& answer, const Lease& lease) {
  return add_line(file, answer, cat(R"("lease":)", lease_to_json(lease)));
}

// It is renewed every few seconds, so only the tail of a long answer has to be read.
Result<std::optional<Lease>> read_lease(const fs::path& file, const OperationId& answer) {
  constexpr std::int64_t kTailBytesMin = 64 << 10;
  REPRISE_ASSIGN(const auto in, if_exists(open_file(file, O_RDONLY)));
  if (!in) {
    return std::nullopt;
  }
  REPRISE_ASSIGN(const struct stat status, status_of(in->get(), file));
  const std::string start = line_start(answer);
  for (std::int64_t bytes = kTailBytesMin;; bytes *= 8) {
    const std::int64_t from = std::max<std::int64_t>(0, status.st_size - bytes);
    std::string text(static_cast<std::size_t>(status.st_size - from), '\0');
    REPRISE_ASSIGN(const std::size_t got, read_at(in->get(), text, from, file));
    text.resize(got);
    if (const auto lease = last_lease(text, start); lease || from == 0) {
      return lease;
    }
  }
}

Result<std::vector<Block>> read_partial(const fs::path& file, const OperationId& answer) {
  REPRISE_ASSIGN(const auto bytes, if_exists(read_file(file)));
  const std::string text = bytes.value_or("");
  const std::string start = line_start(answer);
  std::vector<Block> blocks;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(start)) {
      continue;
    }
    if (const auto delta = blocks_from_json(json::find_member(line, "blocks")); delta) {
      append_delta(blocks, *delta);
    }
  }
  return blocks;
}

bool PendingTurn::has_content() const {
  return std::ranges::any_of(batches,
                             [](const PendingBatch& batch) { return !batch.messages.empty(); });
}

Result<std::optional<PendingTurn>> read_pending_turn(const fs::path& file,
                                                     const SessionId& session) {
  REPRISE_ASSIGN(auto turn, read_pending_turn(file));
  return turn && turn->session == session ? std::move(turn) : std::nullopt;
}

Result<std::optional<PendingTurn>> read_pending_turn(const fs::path& file) {
  REPRISE_ASSIGN(const auto bytes, if_exists(read_file(file)));
  const std::string_view line = first_line(bytes ? std::string_view(*bytes) : "");
  if (json::find_member(line, "turn").empty()) {
    return std::nullopt;  // the file has pieces of an answer whose turn is in the session's file
  }
  auto turn = TurnReader(line).run();
  if (!turn) {
    return fail(Code::corrupt, cat(file.native(), ": its first line cannot be read"));
  }
  return turn;
}

Result<> write_pending_turn(const fs::path& file, const PendingTurn& turn,
                            const OperationId& answer, bool is_started) {
  const std::string start = line_start(answer);
  std::string text = cat(start, R"("session":)", json::quoted(turn.session.str()), R"(,"first":)",
                         turn.first.value);
  if (!turn.unsaved_session.empty()) {
    text += cat(R"(,"begun":)", turn.unsaved_session);
  }
  text += R"(,"turn":)";
  json::ArrayWriter array(text);
  for (const PendingBatch& batch : turn.batches) {
    array.item();
    text += batch_to_json(batch);
  }
  array.close();
  text += "}\n";
  if (const auto before = read_file(file); !is_started && before && before->starts_with(start)) {
    const std::string_view line = first_line(*before);  // the previous version of the turn
    text += std::string_view(*before).substr(std::min(line.size() + 1, before->size()));
  }
  return replace_file(file, text);
}

bool is_in_file(const StoredSession& stored, const PendingTurn& turn) {
  return stored.partial || std::ranges::any_of(turn.batches, [&stored](const PendingBatch& batch) {
           return batch.options.operation && stored.operations.contains(*batch.options.operation);
         });
}

Result<> add_pending_turn(StoredSession& stored, const PendingTurn& turn) {
  if (is_in_file(stored, turn)) {
    return {};
  }
  for (const PendingBatch& batch : turn.batches) {
    const Seq head = stored.session.info.head;
    REPRISE_TRY(write_messages(stored, head, batch.messages, batch.options));
  }
  return {};
}

}  // namespace reprise::store
