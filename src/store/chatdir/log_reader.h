#pragma once

// Reads the messages of a log in order.

#include <filesystem>
#include <memory>

#include "reprise/store.h"
#include "store/chatdir/message_log.h"

namespace reprise::store::chatdir {

// Called if bytes follow the end of the record: returns true if they are damage, false if another
// process is writing them.
inline constexpr std::int64_t kExcerptBytesMax = 10'000;

using TornCheck = std::function<Result<bool>(const LogState&)>;
inline Result<bool> ignore_torn(const LogState& /*state*/) {
  return false;
}

// Passes the existing messages of the range to `sink`. Damage reports name the file as `name`.
Result<ReadReport> read_messages(const MessageLog& log, const ReadRange& range,
                                 const TornCheck& torn, std::string_view name,
                                 const MessageSink& sink);

// The same for a file that is not open yet, from its first message up to `to`, in one pass. `log`
// is null if the sink stopped before the end was reached.
struct FirstReading {
  ReadReport report;
  std::shared_ptr<MessageLog> log;
};
Result<FirstReading> read_first(const std::filesystem::path& file, Seq to, const TornCheck& torn,
                                std::string_view name, const MessageSink& sink);

}  // namespace reprise::store::chatdir
