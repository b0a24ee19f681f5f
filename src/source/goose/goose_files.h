#pragma once

// goose's older files: a line about the session, then its messages.

#include "source/tool_source.h"

namespace reprise::source::goose {

bool is_session_file(const std::filesystem::path& file);
Result<std::shared_ptr<const OpenSession>> open_file_session(const std::filesystem::path& file);

}  // namespace reprise::source::goose
