#pragma once

// Faulty responses on request. README.md lists the words.

#include <cstddef>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "reprise/error.h"

namespace reprise::fake {

struct Behaviour {
  // Responses instead of the answer.
  int status = 0;                  // an error of this status
  std::optional<int> retry_after;  // seconds, with that error
  bool html = false;               // an HTML page with 502
  bool echo_key = false;           // 401 that repeats the key
  bool gone = false;               // 404: unknown model
  std::string refuse;              // 400 for a body with this member, in its protocol's words
  bool say_key = false;            // the answer repeats the key, in pieces
  bool expired = false;            // the previous response is no longer known
  std::string replay;              // the file of a recorded answer
  bool garbage = false;            // bytes that are not events
  bool plain = false;              // one JSON document although a stream was requested
  bool no_images = false;          // 400 when there is an image in the request
  std::optional<int> too_long;     // 400 when the request has more messages
  bool silent = false;             // not one byte; the connection stays open
  bool drop = false;               // closes without one byte
  // Like other servers of the Responses protocol.
  bool no_previous = false;      // 400 for a previous_response_id
  bool ignore_previous = false;  // takes it and does not look it up
  bool no_store = false;         // 400 for store: true
  bool typed_items = false;      // 400 for input items without a type, answers without an id
  bool wants_reasoning = false;  // openai-chat: 400 for calls without their reasoning_content
  bool no_include = false;       // 400 for the field include
  // Like other servers of openai-chat.
  bool nine_letters = false;        // 400 for call ids other than nine letters and digits
  bool no_user_after_tool = false;  // 400 for a question directly after tool results
  bool no_marks = false;            // 400, in no helpful words, for reasoning in the history
  std::string ends;                 // the reason for which answers end
  // While it streams; the numbers count deltas.
  int slow_ms = 0;                // before each delta
  std::optional<int> cut;         // closes in the middle of the next event
  std::optional<int> cut_char;    // … inside a UTF-8 character
  std::optional<int> hang;        // sends nothing more, keeps the connection
  std::optional<int> overloaded;  // an error event, then the end
  bool no_end = false;            // ends well, but without the last events
  bool no_done = false;           // only the very last event is missing
  bool crlf = false;              // lines end in CR LF
  bool comments = false;          // comment lines and unknown fields between the events
  bool until_close = false;       // no chunked encoding: the body ends with the connection
  bool bad_input = false;         // the tools' inputs are cut short
  std::string endless;            // sent endlessly after the first delta
  std::size_t drip = 0;           // bytes per packet
  std::size_t huge = 0;           // bytes of the text, in one delta
  // When to apply it.
  int first = 0;    // only the first N requests that match
  int every = 0;    // only each Nth
  int chance = 0;   // in percent
  std::string tag;  // no effect; makes a distinct model name
};

// "slow=50,cut=3". invalid_argument names the word.
Result<Behaviour> parse_behaviour(std::string_view text);

struct Rule {
  std::string when;   // "request", "text", "path", "always"
  std::string which;  // the number, or a part of the question or path
  Behaviour behaviour;
  std::optional<std::string> reply;  // the answer's text
};

// A line of a script: "request 3 => cut=2", "text hello => slow=5", "path /v1/messages => 500",
// "always => crlf", "reply capital of France => Paris". nullopt for blank lines and "# comments".
Result<std::optional<Rule>> parse_rule(std::string_view line);

struct Occasion {
  std::int64_t number;  // of the request
  std::string_view path;
  std::string_view question;
  std::string_view model;
};

struct Choice {
  Behaviour behaviour;
  std::optional<std::string> reply;
};

// Decides for each request: the words in the model's name first ("fake:slow=50,cut=3"), then the
// first rule that matches.
class Script {
 public:
  explicit Script(std::uint64_t seed) : random_(seed) {}
  void add(Rule rule) { rules_.push_back(std::move(rule)); }
  Result<Choice> choose(const Occasion& occasion);

 private:
  bool is_due(const Behaviour& behaviour, const std::string& counter);

  std::vector<Rule> rules_;
  std::map<std::string, int> seen_;  // the number of matches of a model name or rule
  std::mt19937_64 random_;
};

}  // namespace reprise::fake
