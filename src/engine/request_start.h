#pragma once

// Where the history of requests begins since a model has refused one with all of it. Noted in the
// session's unknown field `request_start`, which every store with words holds, so that the next
// turn, in whatever process, begins with what fitted instead of being refused again.

#include "reprise/json.h"
#include "reprise/types.h"

namespace reprise {

struct RequestStart {
  Seq seq;               // of a question
  Time question_at;      // when it was asked: another message may stand there by now
  std::string provider;  // another one, or another model, may take more
  std::string model;
};

// nullopt where nothing is noted.
std::optional<RequestStart> request_start(const Extra& session);

// The session's unknown fields with this start instead of an earlier one.
Extra with_request_start(Extra session, const RequestStart& start);

}  // namespace reprise
