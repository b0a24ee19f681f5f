#pragma once

// One entry of `conversation`, both ways.

#include "reprise/message.h"

namespace reprise::store::sessions {

// An entry as it was read.
struct Entry {
  std::optional<Message> native;     // what the format's own members say; nothing: it is no message
  std::optional<Time> at;            // of entries that are no messages, too
  std::vector<std::string> reasons;  // what could not be read of it
  std::string rest;
};
// `raw` is a JSON value.
Entry read_entry(std::string_view raw);

// The message that the entry is, once its place is known. What cannot be read of it joins the
// reasons.
Message finish_message(Message native, Entry& entry, Seq seq);

// At the depth that entries have in the file.
std::string write_message(const Message& message);

// `usage` and `cumulative_usage`: input_tokens, output_tokens, total_cost, where the cost of a
// request without one is 0. The object stands `depth` levels deep.
std::string write_usage(const Usage& usage, int depth);
// nullopt: it is something else.
std::optional<Usage> read_usage(std::string_view raw);
// What is read back.
Usage native_usage(const Usage& usage);

}  // namespace reprise::store::sessions
