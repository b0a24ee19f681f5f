#include "cli/session/server_notes.h"

#include <utility>

#include "base/encode.h"
#include "base/file.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"

namespace reprise::cli {
namespace {

constexpr std::int64_t kNoteBytesMax = 64 << 10;

class ServerNoteFiles final : public ServerNotes {
 public:
  explicit ServerNoteFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::string read(std::string_view name) override {
    const auto text = read_file(file_of(name), kNoteBytesMax);
    if (!text || !is_json_object(*text)) {
      return {};  // without the note a request is refused once more
    }
    const auto [server, note] = JsonView(*text).members({"server", "note"});
    return server.text() == name ? std::string(note.raw()) : std::string();
  }

  Result<> write(std::string_view name, std::string_view note) override {
    REPRISE_TRY(make_private_folders(folder_));
    std::string out;
    json::ObjectWriter object(out);
    object.field("server", name).raw("note", note).close();
    return replace_file(file_of(name), cat(out, "\n"));
  }

 private:
  std::filesystem::path file_of(std::string_view name) const {
    return folder_ / cat(hex_encode(hash_of_words(name)), ".json");
  }

  std::filesystem::path folder_;
};

}  // namespace

std::unique_ptr<ServerNotes> make_server_notes(std::filesystem::path folder) {
  return std::make_unique<ServerNoteFiles>(std::move(folder));
}

}  // namespace reprise::cli
