#pragma once

// The three forms in which opencode stores sessions.

#include <functional>
#include <memory>

#include "source/opencode/opencode_record.h"  // IWYU pragma: export

namespace reprise::source::opencode {

struct StoredSession {
  Session session;
  std::string id;  // the tool's id
  bool is_child = false;
  std::string reverted_from = {};  // the first undone message; "" if none is
  std::string reverted_part = {};  // the first undone part of it; "" for all
};

// Reads one message by its key. May outlive the storage.
using MessageLoader = std::function<Result<RawMessage>(std::int64_t key)>;

class Storage {
 public:
  virtual ~Storage() = default;
  // Each with its number of messages, or a lower bound.
  virtual Result<std::vector<StoredSession>> sessions(ReadReport& report) = 0;
  // nullopt if there is no such session.
  virtual Result<std::optional<StoredSession>> find(const SessionId& id) = 0;
  virtual Result<std::vector<Todo>> todos(const std::string& session) = 0;
  // Calls `each` with all messages in order and their keys.
  virtual Result<MessageLoader> each_message(
      const std::string& session, ReadReport& report,
      const std::function<void(const RawMessage&, std::int64_t key)>& each) = 0;
  // Changes when something there may have changed.
  virtual std::string state() = 0;
};

std::unique_ptr<Storage> open_database_storage(const std::filesystem::path& file);
// `folder` is the one named "storage".
Result<std::unique_ptr<Storage>> open_folder_storage(const std::filesystem::path& folder);
std::unique_ptr<Storage> open_export_storage(const std::filesystem::path& file);

Result<bool> is_opencode_database(const std::filesystem::path& file);
bool is_opencode_export(const std::filesystem::path& file);

}  // namespace reprise::source::opencode
