#include "cli/program/given_servers.h"

#include <fcntl.h>

#include <cstdint>

#include "base/encode.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/text.h"

namespace reprise::cli {
namespace {

constexpr std::string_view kServersFolder = "given_servers";
constexpr std::int64_t kServerFileBytesMax = 64 << 10;

std::string text_of(const GivenServer& server) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("store", server.store_url).field("base_url", server.base_url).close();
  out += '\n';
  return out;
}

// The text is compared as well, as other servers may have the same hash.
std::filesystem::path path_of(const GivenServer& server, std::string_view text) {
  return server.state_folder / kServersFolder / cat(hex_encode(hash_of_words(text)), ".json");
}

}  // namespace

bool was_given(const GivenServer& server) {
  const std::string text = text_of(server);
  const auto written = read_file(path_of(server, text), kServerFileBytesMax);
  return written && *written == text;
}

Result<> remember_given(const GivenServer& server) {
  if (was_given(server)) {
    return {};
  }
  const std::string text = text_of(server);
  const std::filesystem::path path = path_of(server, text);
  REPRISE_TRY(make_private_folders(path.parent_path()));
  // Not synced and not replaced atomically: a torn file only means that the server is given again.
  REPRISE_ASSIGN(Fd file, open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  REPRISE_TRY(write_all(file.get(), text, path));
  return file.close(path);
}

}  // namespace reprise::cli
