#pragma once

// The start of the history in requests after a model has rejected a request with all of it. Stored
// in the session's unknown field `request_start`, which every store with messages supports, so that
// the next turn, in any process, starts with what was accepted.

#include "reprise/types.h"

namespace reprise {

struct RequestStart {
  Seq seq;               // of a question
  Time question_at;      // another message may be there now
  std::string provider;  // other providers and models may accept more
  std::string model;
};

// nullopt if there is none.
std::optional<RequestStart> request_start(const Extra& session);

// The session's unknown fields with this start replacing an earlier one.
Extra with_request_start(Extra session, const RequestStart& start);

}  // namespace reprise
