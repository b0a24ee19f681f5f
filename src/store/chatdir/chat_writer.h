#pragma once

// Writes to one chat; the caller holds its lock. A batch takes effect when its last line is
// written; all other changes of the same write are in that line, or follow from it.

#include "reprise/store.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/line.h"
#include "store/chatdir/message_log.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {

// Replaces reprise.json. A file that could not be read is quarantined first.
Result<> write_metadata(const std::filesystem::path& folder, const MetadataFile& metadata);

class ChatWriter {
 public:
  ChatWriter(std::filesystem::path folder, MetadataFile metadata, std::shared_ptr<MessageLog> log,
             std::int64_t messages_max);

  // Like Store::append() if `from` is not set, otherwise like Rewriting::replace_suffix().
  Result<AppendResult> write(std::optional<Seq> from, const std::vector<Message>& messages,
                             const AppendOptions& options);

 private:
  Result<> recover();
  std::optional<AppendResult> find_completed(const OperationId& operation) const;
  Result<> check_length(Seq head) const;
  Result<ToolNames> names_for(Seq before, const std::vector<Message>& messages) const;
  Result<std::string> encode(std::int64_t start, Seq from, const std::vector<Message>& messages,
                             const AppendOptions& options);
  Result<> append(const std::vector<Message>& messages, const AppendOptions& options);
  Result<> note_described();
  Result<> replace(Seq from, const std::vector<Message>& messages, const AppendOptions& options);
  Result<> append_replaced(std::int64_t begin) const;
  Result<std::int64_t> rewrite(int out, Seq to) const;
  Result<std::int64_t> end_batch(Seq to, std::int64_t end, std::string& line) const;

  const std::filesystem::path folder_;
  MetadataFile metadata_;
  const std::shared_ptr<MessageLog> log_;
  const std::int64_t messages_max_;
  StoredSession after_;  // the session after the write
};

}  // namespace reprise::store::chatdir
