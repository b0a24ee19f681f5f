#pragma once

// The source over a tool that writes JSON lines.

#include "source/transcript.h"

namespace reprise::source {

std::unique_ptr<Source> make_transcript_source(std::unique_ptr<JsonlTool> tool);

}  // namespace reprise::source
