#pragma once

// messages.md, where aichat appends turns outside of sessions: a heading with the time, the
// question, the answer. The whole file is one session.

#include "source/tool_source.h"

namespace reprise::source::aichat {

inline constexpr std::string_view kLogFile = "messages.md";

Result<std::shared_ptr<OpenSession>> open_log(const SessionId& id,
                                              const std::filesystem::path& file);

}  // namespace reprise::source::aichat
