#pragma once

// Tools that keep each session in a document of its own, which is read as a whole.

#include "reprise/open_store.h"
#include "source/file.h"
#include "source/tool_source.h"

namespace reprise::source {

// A larger document is not read.
inline constexpr std::int64_t kDocumentBytesMax = 128 << 20;

struct DocumentForm {
  std::string_view name;  // of the tool
  // The documents at a place, which may be one itself.
  std::vector<std::filesystem::path> (*files)(const std::filesystem::path& place,
                                              ReadReport& report);
  SessionId (*id_of)(const std::filesystem::path& file);
  Result<std::shared_ptr<OpenSession>> (*open)(const std::filesystem::path& file);
  // What open() reads beside it, there or not. Null: nothing.
  std::vector<std::filesystem::path> (*files_beside)(const std::filesystem::path& file) = nullptr;
};

// `options` are those that it was opened with.
std::unique_ptr<Source> open_documents(const std::filesystem::path& place, const DocumentForm& form,
                                       const StoreOptions& options);
// Whether one of the first documents there can be opened.
bool has_documents(const std::filesystem::path& place, const DocumentForm& form);

// The bytes of a file; corrupt when there are too many.
Result<std::shared_ptr<const std::string>> read_document(const std::filesystem::path& file);

// The file's JSON object. Of one that is cut or damaged, the members before the damage, and of the
// list `member` the elements before it; that is damage in the report. corrupt when there is none.
Result<std::shared_ptr<const std::string>> read_json_document(const std::filesystem::path& file,
                                                              std::string_view member,
                                                              ReadReport& report);

// A session in a file, with the time of the file's last change as its times.
Session session_of_file(const SessionId& id, const std::filesystem::path& file);

}  // namespace reprise::source
