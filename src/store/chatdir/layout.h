#pragma once

// The layout of a chat directory:
//
//   DIR/chat/current, llimo.json            the chat that programs continue, and their model
//   DIR/chat/UUID/                          a chat
//   DIR/archive/SHORT/{chat.zip,chat.json}  an archived chat
//   DIR/trash/UUID/                         a trashed chat, or a trashed archive
//
// Names that begin with a dot are ours and never sessions: locks and temporary folders.

#include <filesystem>
#include <functional>
#include <vector>

#include "reprise/source.h"
#include "reprise/types.h"

namespace reprise::store::chatdir {

inline constexpr std::string_view kMessagesFile = "messages.jsonl";
inline constexpr std::string_view kReplacedFile = "replaced.jsonl";
inline constexpr std::string_view kReplacedFolder = "replaced";  // of steps, outside the numbering
inline constexpr std::string_view kMetadataFile = "reprise.json";
inline constexpr std::string_view kAnswerFile = ".answer.jsonl";
inline constexpr std::string_view kLockFile = ".lock";
inline constexpr std::string_view kCreatingPrefix = ".making-";   // and the id: being created
inline constexpr std::string_view kRemovingPrefix = ".leaving-";  // and the id: being removed
inline constexpr std::string_view kZipFile = "chat.zip";
inline constexpr std::string_view kZipMetadataFile = "chat.json";

// The kind of place where a session was found.
enum class Area : std::uint8_t { chats, trash, archive, trashed_archive };
struct Location {
  std::filesystem::path folder;
  Area area = Area::chats;

  bool is_packed() const { return area == Area::archive || area == Area::trashed_archive; }
  bool is_trashed() const { return area == Area::trash || area == Area::trashed_archive; }
};

// invalid_argument if the id is not a UUID.
Result<> check_id(const SessionId& id);

// The folder name of an archived chat: each group of the UUID, converted from base 16 to base 36.
// nullopt for other ids.
std::optional<std::string> archive_name(const SessionId& id);
// Its inverse.
std::optional<SessionId> parse_archive_name(std::string_view text);

// The name of a step's folder in steps/: "001", "1000".
std::string step_folder_name(Step step);

// The name of a provider in model.json and llimo.json: the original knows no protocols.
std::string provider_for_original(std::string_view provider);

// Whether the folder contains a current chat, a chat or an archive.
Result<bool> is_chat_directory(const std::filesystem::path& folder);

class Layout {
 public:
  explicit Layout(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path chats() const { return root_ / "chat"; }
  std::filesystem::path archives() const { return root_ / "archive"; }
  std::filesystem::path trash() const { return root_ / "trash"; }
  std::filesystem::path chat(const SessionId& id) const { return chats() / id.str(); }
  std::filesystem::path trashed(const SessionId& id) const { return trash() / id.str(); }
  // The id must be a UUID.
  std::filesystem::path archive(const SessionId& id) const;
  std::filesystem::path current_file() const { return chats() / "current"; }
  std::filesystem::path model_file() const { return chats() / "llimo.json"; }
  std::filesystem::path lock_file() const { return chats() / kLockFile; }

  // nullopt if there is no such session. A chat hides an archive with the same id.
  Result<std::optional<Location>> find(const SessionId& id) const;
  // All places of the session, the one that counts first.
  Result<std::vector<Location>> find_all(const SessionId& id, std::size_t limit = 3) const;

  // The sessions of an area, unordered. Empty if the folder does not exist.
  struct Listed {
    SessionId id;
    Location location;
  };
  Result<std::vector<Listed>> list(Area area) const;
  // Those of all areas.
  Result<std::vector<Listed>> list_all() const;
  // The folder of a session of this kind in this directory.
  std::filesystem::path folder_for(const SessionId& id, const Location& location) const;

 private:
  std::filesystem::path root_;
};

// The current chat; nullopt if there is none.
Result<std::optional<SessionId>> find_current(const Layout& layout);

// Copies all files of a chat's folder except the record into a new folder. Links are copied as
// such. What cannot be read is added to `damage`, or fails the copy if there is none.
Result<> copy_other_files(const std::filesystem::path& from, const std::filesystem::path& to,
                          std::vector<Damage>* damage = nullptr);

// The same for all files of a folder; fails if any cannot be read.
Result<> copy_folder(const std::filesystem::path& from, const std::filesystem::path& to);

// What a fork has of a chat: its first messages with that many answers, or all of its messages.
struct ForkedSteps {
  std::int64_t answers = 0;
  bool is_whole = false;
};
// Copies the files of the steps that a fork has, and of the chat's own folder what belongs to them.
Result<> copy_steps(const std::filesystem::path& from, const std::filesystem::path& to,
                    const ForkedSteps& steps);

// Creates a chat directory with the contents that `fill` writes to another one beside it. On
// failure, neither exists. conflict if the target exists.
Result<> create_directory(const std::filesystem::path& target,
                          const std::function<Result<>(const Layout&)>& fill);

// Clears the current chat if it is `id`. The caller holds the store's lock.
Result<> clear_current(const Layout& layout, const SessionId& id);

// Makes a chat the current one, even while it is being moved. The caller holds the store's lock.
Result<> name_current(const Layout& layout, const SessionId& id);

}  // namespace reprise::store::chatdir
