#pragma once

// Reads and writes entries of `conversation`.

#include "reprise/message.h"

namespace reprise::store::sessions {

// A parsed entry.
struct Entry {
  std::optional<Message> native;     // nullopt if it is not a message
  std::optional<Time> at;            // also of entries that are not messages
  std::vector<std::string> reasons;  // the parts that could not be read
  std::string rest;
};
// `raw` is a JSON value.
Entry read_entry(std::string_view raw);

// The entry's message, once its position is known. Parts that cannot be read are added to the
// reasons.
Message finish_message(Message native, Entry& entry, Seq seq);

// Formatted for the depth of entries in the file. The original program requires a time: `time` is
// the message's or, if that is unknown, another one.
std::string write_message(const Message& message, Time time);

// `usage` and `cumulative_usage`: input_tokens, output_tokens, total_cost, with cost 0 for a
// request without one. The object is at depth `depth`.
std::string write_usage(const Usage& usage, int depth);
// nullopt if it is not a usage.
std::optional<Usage> read_usage(std::string_view raw);
// The usage that is read back from these members.
Usage native_usage(const Usage& usage);

}  // namespace reprise::store::sessions
