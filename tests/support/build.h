#pragma once

// Short functions for test values.

#include "reprise/store.h"

namespace reprise::test {

// The text must be valid, otherwise the test ends.
SessionId session_id(std::string_view text);
OperationId operation_id(std::string_view text);
// A running answer of this process.
PartialStart running_answer(std::string_view answer);
RawJson raw(std::string text);

// 2026-01-18 20:00:00 plus the seconds and microseconds.
Time at(int seconds, int microseconds = 0);

// With a title, created and updated at at(0).
Session session(std::string_view id);
Session session(std::string_view id, Time updated_at);
// With every field set that create() stores.
Session full_session(std::string_view id);

Message message(std::string_view role, std::string_view text, Time created_at = at(1));
Message user(std::string_view text, Time created_at = at(1));
Message assistant(std::string_view text, Time created_at = at(2));
// `count` messages, user and assistant in turn, with texts "PREFIX 0", "PREFIX 1"… and times one
// second apart, the first at `start`.
std::vector<Message> messages(int count, std::string_view prefix = "message", Time start = at(1));
// With every field set, and a block of every type.
Message full_message();
// Difficult texts for a store: NUL, U+2028, emoji, control characters, empty…
std::vector<std::string> hard_texts();

// The same messages as returned by a store if the first one's seq is `first`.
std::vector<Message> numbered(std::vector<Message> messages, Seq first = {});
std::vector<std::string> texts(const std::vector<Message>& messages);

Usage usage(std::string_view request_id, std::int64_t input, std::int64_t output);

}  // namespace reprise::test
