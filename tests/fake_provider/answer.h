#pragma once

// What the fake model says. The answer follows from the request alone:
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

// What a protocol has understood of a request.
struct Turn {
  std::string model;
  bool stream = false;
  bool with_usage = true;
  std::string question;               // the last text of the user
  std::int64_t messages = 0;          // all that the model sees
  std::int64_t rounds = 0;            // of tool calls since the question
  std::vector<std::string> results;   // of the last round
  std::vector<std::string> tools;     // the names on offer
  bool thinks = false;                // was asked to think before it answers
  bool shows_proof = true;            // of the thinking
  bool goes_on = false;               // the last message is the model's own, to be continued
  std::int64_t pauses = 0;            // of the answer to the question so far
  std::vector<std::string> searches;  // calls of its own tool that wait for their results
  bool caches = false;                // something is marked for the cache
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
  bool with_usage = true;
  std::size_t piece_characters = 5;  // of a delta
};

// Ids, signatures and tokens are left to the caller.
Answer answer_to(const Turn& turn);

// "5 bytes 3f2a…": what the answer says of a tool's result.
std::string fingerprint(std::string_view bytes);

// Of so many whole characters each.
std::vector<std::string> pieces(std::string_view text, std::size_t characters);

std::string hex_of(std::uint64_t value);

}  // namespace reprise::fake
