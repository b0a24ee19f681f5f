#pragma once

// What a chat has used, as its steps write it down: the tokens in usage.json; the cost there, or as
// the provider sent it with its last chunks (chunks.jsonl). What we add to a chat is counted by its
// lines; what another program adds, by the files of its steps.

#include <filesystem>

#include "reprise/message.h"
#include "store/chatdir/message_log.h"

namespace reprise::store::chatdir {

std::string step_usage_to_json(const Usage& usage);

// What cannot be read counts nothing.
Usage step_usage_from_json(std::string_view json);

// Of all steps in a chat's folder. io when one cannot be looked at.
Result<Usage> usage_of_steps(const std::filesystem::path& chat);

// Of the answers that another program added behind `from`, a place in the log, and behind the
// newest line of ours. A step has the number of its answer.
Result<Usage> usage_added_by_others(const MessageLog& log, std::int64_t from,
                                    const std::filesystem::path& chat);

}  // namespace reprise::store::chatdir
