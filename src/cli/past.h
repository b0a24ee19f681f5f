#pragma once

// What a session already holds, read for those who talk in it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"

namespace reprise::cli {

// Where the turn `turns` before the end begins. invalid_argument when there are fewer, or none is
// asked for.
Result<Seq> turn_start(Store& store, const SessionId& id, std::int64_t turns);

// The last prompts, oldest first, at most `count`.
Result<std::vector<std::string>> last_prompts(Store& store, const Session& session,
                                              std::size_t count);

struct Exchange {
  std::string question;  // "" when there is none
  std::string answer;    // "" when there is none
  bool cut = false;      // the answer is incomplete or missing: it can be continued
};
Result<Exchange> last_exchange(Store& store, const SessionId& id);
// The first question and its answer.
Result<Exchange> first_exchange(Store& store, const SessionId& id);

// The transcript as Markdown into a new file. conflict when it exists.
Result<> write_transcript(Store& store, const Session& session, const std::filesystem::path& named);

}  // namespace reprise::cli
