#pragma once

// Two versions of one conversation: what we wrote, and what a program that does not know our lock
// has put in its place.

#include "store/context/codec.h"
#include "store/document/document_format.h"

namespace reprise::store::context {

// The common beginning once, then the turns of both sides by the time of their questions, each
// turn in one piece; a last turn that both have, once. Nothing that is in `found` is left out, and
// all of `written` that was not taken back on purpose is there. `found` as it is when it follows
// from what was written, or holds another conversation.
Document merge(const Origin& origin, const Document& written, Document found);

}  // namespace reprise::store::context
