#include "cli/program/last_list.h"

#include <fcntl.h>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "reprise/types.h"

namespace reprise::cli {
namespace {

constexpr std::string_view kFileName = "last-list.json";
constexpr std::int64_t kFileBytesMax = 1 << 20;

bool read_ids(json::Scanner& scanner, std::vector<SessionId>& ids) {
  return scanner.array([&] {
    std::string text;
    if (!scanner.string(text)) {
      return false;
    }
    auto id = SessionId::parse(text);
    if (!id) {
      return false;
    }
    ids.push_back(*std::move(id));
    return true;
  });
}

}  // namespace

Result<> save_last_list(const std::filesystem::path& state_folder, std::string_view store_url,
                        const std::vector<SessionId>& ids) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("store", store_url).key("ids");
  json::ArrayWriter array(out);
  for (const SessionId& id : ids) {
    array.item();
    json::append_string(out, id.str());
  }
  array.close();
  object.close();
  out += '\n';
  // Not synced and not renamed into place: a torn list only means that there are no numbers, and
  // a sync would cost more than all else that `reprise list` does.
  const std::filesystem::path path = state_folder / kFileName;
  if (const auto before = read_file(path, kFileBytesMax); before && *before == out) {
    return {};
  }
  REPRISE_TRY(make_private_folders(state_folder));
  REPRISE_ASSIGN(Fd file, open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  REPRISE_TRY(write_all(file.get(), out, path));
  return file.close(path);
}

std::vector<SessionId> load_last_list(const std::filesystem::path& state_folder,
                                      std::string_view store_url) {
  const auto text = read_file(state_folder / kFileName, kFileBytesMax);
  if (!text) {
    return {};
  }
  json::Scanner scanner(*text);
  std::string url;
  std::vector<SessionId> ids;
  const bool read = scanner.object([&](std::string_view name) {
    if (name == "store") {
      return scanner.string(url);
    }
    return name == "ids" ? read_ids(scanner, ids) : scanner.skip();
  });
  if (!read || url != store_url) {
    return {};
  }
  return ids;
}

}  // namespace reprise::cli
