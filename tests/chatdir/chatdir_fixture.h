#pragma once

// Chat directories for tests: empty ones of ours, and one as written by the original program.

#include "base/testing/temporary_folder.h"
#include "reprise/open_store.h"

namespace reprise::test {

inline constexpr std::string_view kOriginalId = "b0416d7c-2e49-4408-9615-e32c41d08738";

class ChatDirectory {
 public:
  ChatDirectory() : root_(folder_.path() / "project") {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path chat(const SessionId& id) const { return root_ / "chat" / id.str(); }
  std::filesystem::path messages(const SessionId& id) const { return chat(id) / "messages.jsonl"; }

  std::unique_ptr<Store> open(const StoreOptions& options = {},
                              const ChatdirOptions& chatdir = {}) const;

  // Writes a file below the root, and creates its folders. Not synced.
  void write(const std::filesystem::path& name, std::string_view bytes) const;
  std::string read(const std::filesystem::path& name) const;

  // A directory with one chat of one step, as written by the original program.
  SessionId write_original() const;

  // Every file below the root with its bytes and modification time: reading must not change them.
  std::vector<std::string> snapshot() const;

 private:
  TemporaryFolder folder_;
  std::filesystem::path root_;
};

// A session with an id made from the number.
SessionId chat_id(int number);
Session chat_session(int number);

std::vector<std::string> texts_of(Store& store, const SessionId& id);

}  // namespace reprise::test
