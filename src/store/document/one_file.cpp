#include "store/document/one_file.h"

#include <algorithm>
#include <cstddef>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "reprise/types.h"
#include "store/document/document_format.h"
#include "store/paths.h"

namespace reprise::store {

namespace fs = std::filesystem;

namespace {

// The beginning of a member's line.
std::string line_of(int depth) {
  return "\n" + std::string(static_cast<std::size_t>(depth) * 2, ' ');
}

// The line end and indentation before the closing brace.
std::string_view last_line(std::string_view line) {
  return line.substr(0, line.size() - 2);
}

void append_member(std::string& out, std::string_view line, std::string_view name,
                   std::string_view json) {
  out += line;
  json::append_string(out, name);
  out.append(": ").append(json);
}

}  // namespace

fs::path OneFile::lock_file() const {
  return beside(file_, ".lock");
}

Result<fs::path> OneFile::partial_file(const SessionId& /*id*/) const {
  return beside(file_, ".answer");
}

fs::path OneFile::trash() const {
  return beside(file_, ".trash");
}

fs::path OneFile::path_of(const Session& session) const {
  return session.info.state == SessionState::trashed ? trash_of(session.info.id) : file_;
}

// A session that is in both places was being moved when its process died; its original place
// counts.
Result<std::optional<fs::path>> OneFile::find_file(const SessionId& id) const {
  const fs::path trash = trash_of(id);
  REPRISE_ASSIGN(const bool in_trash, file_exists(trash));
  REPRISE_ASSIGN(const bool has_file, file_exists(file_));
  if (!has_file) {
    return in_trash ? std::optional(trash) : std::nullopt;
  }
  if (!in_trash) {
    return file_;
  }
  REPRISE_ASSIGN(const std::string bytes, read_file(file_));
  REPRISE_ASSIGN(const Document document, decode(file_, bytes));
  return find_session(document, id) != document.sessions.end() ? file_ : trash;
}

Result<std::vector<fs::path>> OneFile::files() const {
  REPRISE_ASSIGN(std::vector<fs::path> files, trashed());
  REPRISE_ASSIGN(const bool has_file, file_exists(file_));
  if (has_file) {
    files.insert(files.begin(), file_);
  }
  return files;
}

Result<> check_file_exists(const OneFile& format, const fs::path& named,
                           const StoreOptions& options) {
  REPRISE_ASSIGN(const bool has_file, file_exists(format.root()));
  const fs::path pending = format.pending_file();
  REPRISE_ASSIGN(const bool has_pending,
                 pending.empty() ? Result<bool>(false) : file_exists(pending));
  if (options.access == Access::read && !has_file && !has_pending) {
    return fail(Code::not_found, cat("there is no file ", named.string()));
  }
  return {};
}

Result<bool> is_object_file(
    const fs::path& file,
    const std::function<bool(std::string_view name, json::Scanner& scanner)>& read_member) {
  REPRISE_ASSIGN(const FileKind kind, kind_of_target(file));
  if (kind != FileKind::file) {
    return false;
  }
  REPRISE_ASSIGN(const std::string bytes, read_file(file));
  json::Scanner scanner(bytes);
  const bool is_valid =
      scanner.kind() == json::Kind::object &&
      scanner.object([&](std::string_view name) { return read_member(name, scanner); });
  return is_valid && scanner.end();
}

IndentedObject::IndentedObject(int depth) : line_(line_of(depth)) {}

void IndentedObject::raw(std::string_view name, std::string_view json) {
  out_ += out_.empty() ? "" : ",";
  append_member(out_, line_, name, json);
}

void IndentedObject::text(std::string_view name, std::string_view text) {
  raw(name, json::quoted(text));
}

std::string IndentedObject::object() const {
  return out_.empty() ? "{}" : cat("{", out_, last_line(line_), "}");
}

bool append_formatted(std::string& out, json::Scanner& scanner, int depth) {
  std::string_view raw;
  if (scanner.kind() != json::Kind::object) {
    const bool is_valid = scanner.raw(raw);
    out += raw;
    return is_valid;
  }
  const std::string line = line_of(depth);
  bool is_empty = true;
  out += '{';
  const bool is_valid = scanner.object([&](std::string_view name) {
    if (!scanner.raw(raw)) {
      return false;
    }
    out += std::exchange(is_empty, false) ? "" : ",";
    append_member(out, line, name, raw);
    return true;
  });
  out.append(is_empty ? "" : last_line(line)).append("}");
  return is_valid;
}

std::string formatted(std::string_view json, int depth) {
  std::string out;
  json::Scanner scanner(json);
  return append_formatted(out, scanner, depth) ? out : std::string(json);
}

std::string format_milliseconds(Time time) {
  std::string text = format_time(truncate_to_milliseconds(time));
  if (text.find('.') == std::string::npos) {
    text.insert(text.size() - 1, ".000");
  }
  return text;
}

Time truncate_to_milliseconds(Time time) {
  return std::chrono::floor<std::chrono::milliseconds>(time);
}

}  // namespace reprise::store
