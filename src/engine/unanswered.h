#pragma once

// Questions without an answer because the call failed. They remain in the record; requests leave
// them out once something else was asked:
//  (1) A question directly followed by the same text was asked again: it is sent once.
//  (2) A question directly followed by another one is left out if its call is known to have failed.
//      Otherwise it is sent: its answer was interrupted before the first word, or the record is
//      from another program, where two consecutive messages are both meant.
// Failed calls are recorded in the session's unknown field `refused_questions`, as the times of the
// questions, which every store with messages supports. The last question of a record is always
// sent.

#include <set>

#include "reprise/message.h"

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

}  // namespace reprise
