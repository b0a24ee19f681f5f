#pragma once

// A snapshot of a whole chat directory while others go on writing.

#include <filesystem>

#include "reprise/error.h"

namespace reprise::store::chatdir {

// All files of a chat's folder that are no record, into a folder that is made. Links are left out.
Result<> copy_other_files(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace reprise::store::chatdir
