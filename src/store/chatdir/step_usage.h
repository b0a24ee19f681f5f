#pragma once

// The usage recorded in the steps of a chat: the tokens in usage.json; the cost there, or in the
// last chunks of the provider (chunks.jsonl). Turns that we append are counted by their lines,
// those of other programs by the files of their steps.

#include <filesystem>

#include "reprise/message.h"
#include "store/chatdir/message_log.h"

namespace reprise::store::chatdir {

std::string step_usage_to_json(const Usage& usage);

// All zero if the JSON cannot be read.
Usage step_usage_from_json(std::string_view json);

// The usage of all steps in a chat's folder. io if one cannot be read.
Result<Usage> usage_of_steps(const std::filesystem::path& chat);

// The usage of the answers that another program appended after `from`, an offset in the log, and
// after our last line. The number of a step is that of its answer.
Result<Usage> usage_added_by_others(const MessageLog& log, std::int64_t from,
                                    const std::filesystem::path& chat);

}  // namespace reprise::store::chatdir
