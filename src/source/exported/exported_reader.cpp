// Reads the format json, line by line.

#include <algorithm>
#include <iterator>

#include "base/encode.h"
#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/text.h"
#include "reprise/export.h"
#include "store/document/sidecar.h"  // IWYU pragma: export
#include "store/stored_session.h"

namespace reprise {
namespace {

using store::kArtefactsHead;
using store::kBlobsHead;
using store::kJsonHead;
using store::kJsonHeadAnyVersion;
using store::kLastLine;
using store::kListEnd;
using store::kMessagesHead;
using store::kSessionKey;
using store::kTodosKey;

constexpr std::size_t kReadBytes = 1 << 18;
constexpr std::size_t kValueBytesMax = std::size_t{1} << 30;

// Tracks whether incrementally fed JSON ends within an object, an array or a string.
class Depth {
 public:
  void feed(std::string_view text) {
    for (const char c : text) {
      if (is_escaped_) {
        is_escaped_ = false;
      } else if (in_string_) {
        is_escaped_ = c == '\\';
        in_string_ = c != '"';
      } else {
        in_string_ = c == '"';
        depth_ += c == '{' || c == '[' ? 1 : (c == '}' || c == ']' ? -1 : 0);
      }
    }
  }
  bool is_within() const { return in_string_ || depth_ > 0; }

 private:
  bool in_string_ = false;
  bool is_escaped_ = false;
  std::int64_t depth_ = 0;
};

// The lines of a file, split at '\n' only.
class Lines {
 public:
  Lines(int fd, const std::filesystem::path& file) : fd_(fd), file_(file) {}

  // Without the '\n'. corrupt at the end of the file.
  Result<std::string> next() {
    std::size_t end = 0;
    while ((end = buffer_.find('\n', scanned_)) == std::string::npos) {
      REPRISE_TRY(read_more());
    }
    ++number_;
    std::string line = buffer_.substr(begin_, end - begin_);
    begin_ = end + 1;
    scanned_ = begin_;
    return line;
  }

  // Like next(), but appends lines until the JSON value ends: raw JSON is stored unchanged and may
  // contain line breaks.
  Result<std::string> next_value() {
    Depth depth;
    REPRISE_ASSIGN(std::string value, next());
    if (std::ranges::find(kHeads, value) != std::end(kHeads)) {
      return value;
    }
    depth.feed(value);
    while (depth.is_within()) {
      REPRISE_ASSIGN(const std::string piece, next());
      if (value.size() > kValueBytesMax) {
        return fail(Code::corrupt, "a value is larger than 1 GiB");
      }
      value += '\n';
      value += piece;
      depth.feed(piece);
    }
    return value;
  }
  std::int64_t number() const { return number_; }

 private:
  static constexpr std::string_view kHeads[] = {kMessagesHead, kArtefactsHead, kBlobsHead};

  Result<> read_more() {
    buffer_.erase(0, std::exchange(begin_, 0));
    scanned_ = buffer_.size();
    const std::size_t before = buffer_.size();
    if (before > kValueBytesMax) {
      return fail(Code::corrupt, "a line is longer than 1 GiB");
    }
    buffer_.resize(before + kReadBytes);
    REPRISE_ASSIGN(const std::size_t count,
                   read_at(fd_, std::span(buffer_).subspan(before), offset_, file_));
    buffer_.resize(before + count);
    offset_ += static_cast<std::int64_t>(count);
    return count == 0 ? fail(Code::corrupt, "the file is truncated here") : Result<>();
  }

  int fd_;
  std::filesystem::path file_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of the next line
  std::size_t scanned_ = 0;
  std::int64_t offset_ = 0;
  std::int64_t number_ = 0;
};

class Reading {
 public:
  Reading(Lines lines, const ExportReader& reader) : lines_(std::move(lines)), reader_(reader) {}

  Result<ExportedSession> run() {
    REPRISE_TRY(head());
    REPRISE_ASSIGN(ExportedSession out, session());
    REPRISE_TRY(todos(out));
    std::int64_t head = 0;
    REPRISE_TRY(list(kMessagesHead, kListEnd, [&](std::string_view item) -> Result<> {
      REPRISE_ASSIGN(Message message, message_from_json(item));
      message.seq = {head++};
      return reader_.on_message ? reader_.on_message(std::move(message)) : Result<>();
    }));
    out.session.info.head = {head};
    REPRISE_TRY(
        list(kArtefactsHead, kListEnd, [&](std::string_view item) { return artefact(item); }));
    REPRISE_TRY(list(kBlobsHead, kLastLine, [&](std::string_view item) { return blob(item); }));
    return out;
  }
  std::int64_t line() const { return lines_.number(); }

 private:
  Result<> head() {
    REPRISE_ASSIGN(const std::string line, lines_.next());
    if (line == kJsonHead) {
      return {};
    }
    if (line.starts_with(kJsonHead)) {
      return fail(Code::corrupt, "its lines were changed after the export: export it again");
    }
    return line.starts_with(kJsonHeadAnyVersion)
               ? fail(Code::unsupported, "it was exported by a newer version of reprise")
               : fail(Code::corrupt, "no session exported with --format json");
  }

  // The value of this member, which ends with a comma.
  Result<std::string> member(std::string_view key) {
    REPRISE_ASSIGN(const std::string line, lines_.next_value());
    if (!line.starts_with(key) || !line.ends_with(',')) {
      return fail(Code::corrupt, cat("no ", key));
    }
    return line.substr(key.size(), line.size() - key.size() - 1);
  }

  Result<ExportedSession> session() {
    REPRISE_ASSIGN(const std::string members, member(kSessionKey));
    std::string id_text;
    json::Scanner scanner(members);
    const bool is_complete = scanner.object([&](std::string_view name) {
      return name == "id" ? scanner.string(id_text) : scanner.skip();
    });
    if (!is_complete) {
      return std::unexpected(scanner.fault());
    }
    REPRISE_ASSIGN(const SessionId id, SessionId::parse(id_text));
    store::StoredSession stored{.session = {.info = {.id = id}}};
    REPRISE_TRY(store::add_session_sidecar(stored, members));
    return ExportedSession{.session = std::move(stored.session), .todos = {}};
  }

  Result<> todos(ExportedSession& out) {
    REPRISE_ASSIGN(const std::string json, member(kTodosKey));
    REPRISE_ASSIGN(out.todos, todos_from_json(json));
    return {};
  }

  template <class Item>
  Result<> list(std::string_view head, std::string_view end, const Item& item) {
    REPRISE_ASSIGN(std::string line, lines_.next_value());
    if (line != head) {
      return fail(Code::corrupt, cat("no ", head));
    }
    for (;;) {
      REPRISE_ASSIGN(line, lines_.next_value());
      if (line == end) {
        return {};
      }
      if (line.ends_with(',')) {
        line.pop_back();
      }
      REPRISE_TRY(item(line));
    }
  }

  Result<> artefact(std::string_view item) const {
    if (!reader_.on_artefact) {
      return {};
    }
    const auto [step, name, base64] = JsonView(item).members({"step", "name", "base64"});
    std::optional<std::string> bytes = base64_decode(base64.text());
    if (name.text().empty() || !bytes) {
      return fail(Code::corrupt, "an artefact cannot be read");
    }
    return reader_.on_artefact({Step{step.count()}, name.text(), *std::move(bytes)});
  }

  Result<> blob(std::string_view item) const {
    std::string hash_text;
    std::string base64;
    bool is_cut = false;
    json::Scanner scanner(item);
    const bool is_complete = scanner.object([&](std::string_view name) {
      if (name == "cut") {
        return scanner.boolean(is_cut);
      }
      return name == "hash" ? scanner.string(hash_text)
                            : (name == "base64" ? scanner.string(base64) : scanner.skip());
    });
    if (!is_complete || !scanner.end()) {
      return std::unexpected(scanner.fault());
    }
    REPRISE_ASSIGN(const BlobHash hash, BlobHash::parse(hash_text));
    std::optional<std::string> bytes = base64_decode(base64);
    if (!bytes) {
      return fail(Code::corrupt, cat("blob ", hash_text, " is not base64"));
    }
    if (is_cut || !reader_.on_blob) {
      return {};
    }
    return reader_.on_blob({hash, *std::move(bytes)});
  }

  Lines lines_;
  const ExportReader& reader_;
};

}  // namespace

Result<ExportedSession> read_export(const std::filesystem::path& file, const ExportReader& reader) {
  REPRISE_ASSIGN(const std::filesystem::path path, resolve_path(file));
  REPRISE_ASSIGN(const Fd fd, open_named_file(path));
  Reading reading(Lines(fd.get(), path), reader);
  auto read = reading.run();
  if (!read) {
    return fail_with_context(cat("reading ", path.string(), ", line ", reading.line()),
                             std::move(read).error());
  }
  return read;
}

}  // namespace reprise
