#pragma once

// What later turns, in any process, must know of earlier requests. It is in unknown fields of the
// session and its answers, which every store with messages supports.
//
// `refused_questions` are the times of questions without an answer because the call failed. They
// remain in the record; requests leave them out once something else was asked:
//  (1) A question directly followed by the same text was asked again: it is sent once.
//  (2) A question directly followed by another one is left out if its call is known to have failed.
//      Otherwise it is sent: its answer was interrupted before the first word, or the record is
//      from another program, where two consecutive messages are both meant.
// The last question of a record is always sent.
//
// And the start of the history in requests after a model has rejected a request with all of it,
// which each answer has (maker.h).

#include <set>

#include "base/json_view.h"
#include "reprise/message.h"
#include "reprise/types.h"

namespace reprise {

// A question without tool results: a request can start with it or leave it out without separating a
// call from its result.
bool is_plain_question(const Message& message);

// The times of questions whose call failed.
using RefusedQuestions = std::set<Time>;
RefusedQuestions refused_questions(const Extra& session);

// The session's unknown fields with one more refused question. Limited to the newest kRefusedMax.
Extra with_refused_question(Extra session, Time question);

// Whether a request leaves out `question`, which is directly followed by `next`.
bool is_abandoned(const Message& question, const Message& next, const RefusedQuestions& refused);

struct RequestStart {
  Seq seq;               // of a question
  Time question_at;      // another message may be there now
  std::string provider;  // other providers and models may accept more
  std::string model;
};

// nullopt if there is none.
std::optional<RequestStart> request_start(JsonView json);
std::string json_of(const RequestStart& start);

// Whether a request may start with it: a question, or a summary of what was before it, which other
// tools store.
bool is_possible_start(const Message& message);
bool is_summary(const Message& message);

}  // namespace reprise
