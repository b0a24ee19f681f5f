// Finds the context file of a project.

#include <cerrno>
#include <system_error>

#include "base/file.h"
#include "base/json_scan.h"
#include "reprise/open_store.h"
#include "store/context/codec.h"
#include "store/context/members.h"
#include "store/document/one_file.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDefaultFile = ".ai/openai.json";
constexpr std::string_view kNewer = ".ai/config.json";

// Parent folders may belong to others and be unreadable: treat their files as absent.
Result<bool> is_accessible(const fs::path& path) {
  const auto exists = file_exists(path);
  const bool is_denied = !exists && exists.error().os_errno == EACCES;
  return is_denied ? Result<bool>(false) : exists;
}

// Checks the contents of the newer name, because other programs use that name, too.
Result<fs::path> file_in(const fs::path& folder) {
  // Links are followed here, too; opening the file reports them.
  const auto real = resolve_path(folder / kNewer);
  const auto newer = real ? store::context::is_context_file(*real) : std::unexpected(real.error());
  if (!newer && newer.error().code == Code::io && newer.error().os_errno != EACCES) {
    return std::unexpected(newer.error());
  }
  if (newer && *newer) {
    return folder / kNewer;
  }
  REPRISE_ASSIGN(const bool has_default, is_accessible(folder / kDefaultFile));
  return has_default ? folder / kDefaultFile : fs::path();
}

Result<fs::path> project_in(const fs::path& folder) {
  for (const char* const marker : {".git", "package.json"}) {
    REPRISE_ASSIGN(const bool has_marker, is_accessible(folder / marker));
    if (has_marker) {
      return folder;
    }
  }
  return fs::path();
}

template <class Find>
Result<fs::path> nearest(const fs::path& from, const Find& find) {
  for (fs::path at = from; !at.empty(); at = at.parent_path()) {
    REPRISE_ASSIGN(fs::path found, find(at));
    if (!found.empty()) {
      return found;
    }
    if (at == at.parent_path()) {
      break;
    }
  }
  return fs::path();
}

// Whether an element of a conversation is another program's: messages of a context have a text and
// no time.
bool is_foreign_message(json::Scanner& scanner) {
  bool is_foreign = false;
  scanner.object([&](std::string_view name) {
    is_foreign |= name == "created" || (name == "content" && scanner.kind() == json::Kind::array);
    return scanner.skip();
  });
  return is_foreign;
}

bool has_foreign_messages(json::Scanner& scanner) {
  bool is_foreign = false;
  scanner.array([&] {
    if (scanner.kind() == json::Kind::object) {
      is_foreign |= is_foreign_message(scanner);
      return !scanner.failed();
    }
    return scanner.skip();
  });
  return is_foreign;
}

}  // namespace

Result<bool> store::context::is_context_file(const fs::path& file) {
  bool has_conversation = false;
  bool is_foreign = false;  // such as an export of goose
  int settings = 0;
  REPRISE_ASSIGN(const bool is_object,
                 is_object_file(file, [&](std::string_view name, json::Scanner& scanner) {
                   settings += is_default(name) ? 1 : 0;
                   is_foreign |= name == "working_dir" || name == "session_type";
                   if (name != kConversation || scanner.kind() != json::Kind::array) {
                     return scanner.skip();
                   }
                   has_conversation = true;
                   is_foreign |= has_foreign_messages(scanner);
                   return !scanner.failed();
                 }));
  return is_object && !is_foreign && (has_conversation || settings > 2);
}

Result<fs::path> find_context_file(const fs::path& folder) {
  std::error_code error;
  const fs::path from = fs::weakly_canonical(folder, error);
  if (error) {
    return std::unexpected(os_error("find", folder, error.value()));
  }
  REPRISE_ASSIGN(fs::path file, nearest(from, file_in));
  if (!file.empty()) {
    return file;
  }
  REPRISE_ASSIGN(const fs::path root, nearest(from, project_in));
  return (root.empty() ? from : root) / kDefaultFile;
}

}  // namespace reprise
