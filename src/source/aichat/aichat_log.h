#pragma once

// messages.md, where aichat writes what was asked without a session: a heading with the time, the
// question, the answer. Each is a turn of one session, which is the file.

#include "source/tool_source.h"

namespace reprise::source::aichat {

inline constexpr std::string_view kLogFile = "messages.md";

Result<std::shared_ptr<OpenSession>> open_log(const SessionId& id,
                                              const std::filesystem::path& file);

}  // namespace reprise::source::aichat
