#include "store/context/find.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/json_scan.h"
#include "reprise/error.h"
#include "reprise/open_store.h"
#include "store/context/members.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUsual = ".ai/openai.json";
constexpr std::string_view kNewer = ".ai/config.json";

bool is_there(const fs::path& path) {
  std::error_code none;
  return fs::exists(fs::symlink_status(path, none));
}

// The newer name is one that other programs use, too.
fs::path file_in(const fs::path& folder) {
  // One behind a link is found as well: whoever opens it says that it is one.
  const auto real = resolve_path(folder / kNewer);
  if (const auto newer = real ? store::context::is_context_file(*real) : false; newer && *newer) {
    return folder / kNewer;
  }
  return is_there(folder / kUsual) ? folder / kUsual : fs::path();
}

template <class Look>
fs::path nearest(const fs::path& from, const Look& look) {
  for (fs::path at = from; !at.empty(); at = at.parent_path()) {
    if (const fs::path found = look(at); !found.empty()) {
      return found;
    }
    if (at == at.parent_path()) {
      break;
    }
  }
  return {};
}

}  // namespace

Result<bool> store::context::is_context_file(const fs::path& file) {
  std::error_code no_such_file;
  if (!fs::is_regular_file(file, no_such_file)) {
    return false;
  }
  REPRISE_ASSIGN(const std::string bytes, read_file(file));
  json::Scanner scanner(bytes);
  bool has_conversation = false;
  int settings = 0;
  if (scanner.kind() != json::Kind::object) {
    return false;
  }
  const bool whole = scanner.object([&](std::string_view name) {
    has_conversation |= name == kConversation && scanner.kind() == json::Kind::array;
    settings += is_default(name) ? 1 : 0;
    return scanner.skip();
  });
  return whole && scanner.end() && (has_conversation || settings > 2);
}

fs::path find_context_file(const fs::path& folder) {
  std::error_code error;
  fs::path from = fs::absolute(folder, error);
  if (const auto canonical = fs::weakly_canonical(from, error); !error) {
    from = canonical;
  }
  if (fs::path file = nearest(from, file_in); !file.empty()) {
    return file;
  }
  const fs::path root = nearest(from, [](const fs::path& at) {
    return is_there(at / ".git") || is_there(at / "package.json") ? at : fs::path();
  });
  return (root.empty() ? from : root) / kUsual;
}

}  // namespace reprise
