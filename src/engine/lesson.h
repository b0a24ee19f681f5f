#pragma once

// What refused requests have taught about a model of a server, for other sessions and processes:
// the form that it requires, and how long a request may be. Each is forgotten after kLessonAge, so
// that what a server no longer requires is not kept for ever.
//
// What is left out because of one session's history (opaque parts, images, old turns) is no lesson:
// it is noted in the session's answers, see maker.h.

#include "engine/maker.h"
#include "reprise/conversation.h"

namespace reprise {

inline constexpr std::chrono::hours kLessonAge{24 * 30};
inline constexpr TokenCount kLimitMin{256};  // smaller numbers are none of a model

struct Lesson {
  RequestForm form = {};
  Time form_at = {};      // when it was learned
  TokenCount limit = {};  // of a request, as estimate_tokens() counts it; 0 if it is unknown
  Time limit_at = {};
};

// The part of a form that other sessions need as well.
RequestForm lasting_part(const RequestForm& form);

// Empty without notes.
Lesson read_lesson(ServerNotes* notes, const Maker& target, Time now);
Result<> write_lesson(ServerNotes& notes, const Maker& target, const Lesson& lesson);

}  // namespace reprise
