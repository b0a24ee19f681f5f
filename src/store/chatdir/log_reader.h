#pragma once

// Reads the messages of a log one after the other.

#include <filesystem>
#include <memory>

#include "reprise/store.h"
#include "store/chatdir/message_log.h"

namespace reprise::store::chatdir {

// Asked when something follows the record's end: true when it is damage, false while somebody is
// writing it.
inline constexpr std::int64_t kExcerptBytesMax = 10'000;

using TornCheck = std::function<Result<bool>(const LogState&)>;
inline Result<bool> ignore_torn(const LogState& /*state*/) {
  return false;
}

// Delivers the messages of the range that are there now. Damage names `name`, the file as people
// know it.
Result<ReadReport> read_messages(const MessageLog& log, const ReadRange& range,
                                 const TornCheck& torn, std::string_view name,
                                 const MessageSink& sink);

// The same for a file that is not open yet, from its first message to before `to`, in one pass.
// `log` is null when the sink stopped before the end was seen.
struct FirstReading {
  ReadReport report;
  std::shared_ptr<MessageLog> log;
};
Result<FirstReading> read_first(const std::filesystem::path& file, Seq to, const TornCheck& torn,
                                std::string_view name, const MessageSink& sink);

}  // namespace reprise::store::chatdir
