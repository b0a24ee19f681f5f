#pragma once

// The answers of the fake model. They depend only on the request:
//   "answer 7 to: hello ✓ żółć 漢字 🙂"            7 messages seen, the last question was "hello"
//   call:NAME {json} in the question (several)    these tool calls, when the tools are offered;
//                                                 then a text with length and hash of each result
//   rounds:N                                      the calls again, N times in all
//   preface                                       a text before the calls
//   think                                         thinking first
//   long:N                                        N words
//   pause:N                                       N pauses first, in which a tool of its own works

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::fake {

// The contents of a request, independent of the protocol.
struct Turn {
  std::string model;
  bool stream = false;
  bool with_usage = true;
  std::string question;               // the last text of the user
  std::int64_t messages = 0;          // that the model sees
  std::int64_t rounds = 0;            // of tool calls since the question
  std::vector<std::string> results;   // of the last round
  std::vector<std::string> tools;     // the names of available tools
  bool thinks = false;                // the request asks for thinking
  bool shows_proof = true;            // of the thinking
  bool goes_on = false;               // the last message is the model's own, to be continued
  std::int64_t pauses = 0;            // of the answer to the question so far
  std::vector<std::string> searches;  // calls of its own tool that wait for their results
  bool caches = false;                // a part is marked for the cache
  std::int64_t bytes = 0;             // of the body
};

struct Call {
  std::string id;
  std::string name;
  std::string input;  // JSON
};

struct Answer {
  std::string id;
  std::string model;
  std::int64_t created = 0;  // seconds since 1970
  std::string thinking;
  std::string signature;  // proves the thinking
  std::string text;
  std::vector<Call> calls;
  std::vector<std::string> found;  // the results of these calls of its own tool come first
  std::string search;              // a call of its own tool, after which it pauses
  std::int64_t cache_written_tokens = 0;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t thinking_tokens = 0;
  std::string ends;  // the reason for which it ends; "" for the protocol's own
  bool with_usage = true;
  std::size_t piece_characters = 5;  // of a delta
};

// Without ids, signatures and tokens, which the caller sets.
Answer answer_to(const Turn& turn);

// The description of a tool's result in the answer: "5 bytes 3f2a…".
std::string fingerprint(std::string_view bytes);

// Pieces of `characters` whole characters each.
std::vector<std::string> pieces(std::string_view text, std::size_t characters);

std::string hex_of(std::uint64_t value);

}  // namespace reprise::fake
