#pragma once

// What the formats with a single file share: the paths (FILE itself, FILE.lock for writers,
// FILE.answer with the text of a running answer, and FILE.trash, whose form depends on the format),
// and the form of objects and times in the file.

#include "base/json_scan.h"
#include "reprise/open_store.h"
#include "reprise/types.h"
#include "store/document/document_format.h"

namespace reprise::store {

class OneFile : public DocumentFormat {
 public:
  // `file` must be absolute and not a link.
  explicit OneFile(std::filesystem::path file) : file_(std::move(file)) {}

  const std::filesystem::path& root() const override { return file_; }
  std::filesystem::path lock_file() const override;
  Result<std::filesystem::path> partial_file(const SessionId& id) const override;
  Result<std::optional<std::filesystem::path>> find_file(const SessionId& id) const override;
  Result<std::vector<std::filesystem::path>> files() const override;
  std::filesystem::path path_of(const Session& session) const override;

 protected:
  // The path of this session in the trash.
  virtual std::filesystem::path trash_of(const SessionId& id) const = 0;
  // All existing files of the trash, in order.
  virtual Result<std::vector<std::filesystem::path>> trashed() const = 0;
  std::filesystem::path trash() const;

 private:
  const std::filesystem::path file_;
};

// When opening for reading only: not_found if neither the file nor a file beside it exists.
Result<> check_file_exists(const OneFile& format, const std::filesystem::path& named,
                           const StoreOptions& options);

// Whether the file exists and is one intact JSON object. `read_member` reads or skips the value of
// each member, as for Scanner::object().
Result<bool> is_object_file(
    const std::filesystem::path& file,
    const std::function<bool(std::string_view name, json::Scanner& scanner)>& read_member);

// Formats objects for files that are also read by people: one member per line, indented by two
// blanks per level, in the order of the calls. Values are written unchanged.
class IndentedObject {
 public:
  // The members are at depth `depth`.
  explicit IndentedObject(int depth);

  void raw(std::string_view name, std::string_view json);
  void text(std::string_view name, std::string_view text);

  // The object; its first line is not indented.
  std::string object() const;

 private:
  std::string line_;
  std::string out_;
};

// Appends the scanner's next value: an object with its members in order, other values unchanged.
// Returns false, with `out` partly written, if it is not valid JSON.
bool append_formatted(std::string& out, json::Scanner& scanner, int depth);

// The formatted object with its members in order; other values unchanged.
std::string formatted(std::string_view json, int depth);

// In the format of JavaScript, always with three digits after the seconds:
// "2025-10-20T18:27:48.503Z"; microseconds are truncated.
std::string format_milliseconds(Time time);
Time truncate_to_milliseconds(Time time);

}  // namespace reprise::store
