#pragma once

#include "source/transcript.h"

namespace reprise::source::gemini {

std::unique_ptr<Indexer> make_indexer(Transcript& into);
Message message_of(const Node& node, JsonView source);
Usage usage_of(JsonView message);

}  // namespace reprise::source::gemini
