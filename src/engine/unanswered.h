#pragma once

// Questions that got no answer because the call failed. They stay in the record, which is what
// happened; a request leaves them out once something else was asked:
//  (1) A question directly followed by the same text was asked again: it is sent once.
//  (2) One directly followed by another question is left out when its call is known to have failed.
//      Without that it stays: its answer was cut before the first word, or the record comes from
//      somewhere else, where two messages in a row are two messages.
// That a call failed is noted in the session's unknown field `refused_questions`, the times of the
// questions, which every store with words holds. The last question of a record always stays.

#include <set>

#include "reprise/message.h"

namespace reprise {

// A question that carries no results of tools: a request can begin with it, and leave it out, and
// no call stays without its result.
bool stands_alone(const Message& message);

// The questions whose call failed, by their time.
using RefusedQuestions = std::set<Time>;
RefusedQuestions refused_questions(const Extra& session);

// The session's unknown fields with one refused question more. The oldest of very many go.
Extra with_refused_question(Extra session, Time question);

// Whether a request leaves out `question`, which `next` follows directly.
bool is_given_up(const Message& question, const Message& next, const RefusedQuestions& refused);

}  // namespace reprise
