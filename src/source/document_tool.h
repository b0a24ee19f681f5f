#pragma once

// Tools that store each session in one document, which is read as a whole.

#include "reprise/open_store.h"  // IWYU pragma: export
#include "source/file.h"         // IWYU pragma: export
#include "source/tool_source.h"  // IWYU pragma: export

namespace reprise::source {

// Larger documents are not read.
inline constexpr std::int64_t kDocumentBytesMax = 128 << 20;

struct DocumentForm {
  std::string_view name;  // the tool's
  // The documents at a location, which may itself be a document.
  std::vector<std::filesystem::path> (*files)(const std::filesystem::path& location,
                                              ReadReport& report);
  SessionId (*id_of)(const std::filesystem::path& file);
  Result<std::shared_ptr<OpenSession>> (*open)(const std::filesystem::path& file);
  // Other files that open() reads, whether or not they exist. Null if there are none.
  std::vector<std::filesystem::path> (*sidecar_files)(const std::filesystem::path& file) = nullptr;
  // Whether no session in another folder of the location can have the same id; null if that holds
  // for all. The ids of the others name the folder, too.
  bool (*has_unique_id)(const std::filesystem::path& file,
                        const std::filesystem::path& location) = nullptr;
};

// `options` are the ones that the source was opened with.
std::unique_ptr<Source> open_documents(const std::filesystem::path& location,
                                       const DocumentForm& form, const StoreOptions& options);
// Whether one of the first documents there can be opened.
bool has_documents(const std::filesystem::path& location, const DocumentForm& form);

// The bytes of a file; corrupt if it is too large.
Result<std::shared_ptr<const std::string>> read_document(const std::filesystem::path& file);

// The file's JSON object. If it is truncated or damaged: the members before the damage and, of the
// list `member`, the elements before it; the damage is reported. corrupt if there is no object.
Result<std::shared_ptr<const std::string>> read_json_document(const std::filesystem::path& file,
                                                              std::string_view member,
                                                              ReadReport& report);

// A session in a file; its times are the file's modification time.
Result<Session> session_of_file(const SessionId& id, const std::filesystem::path& file);

}  // namespace reprise::source
