#pragma once

#include <filesystem>  // IWYU pragma: export

namespace reprise {

// Whether the folder is known to be gone: it does not exist, while its parent does. A folder whose
// parent does not exist either may be on a disk that is not there, or on another machine. A link
// exists, whatever its target.
bool is_gone_folder(const std::filesystem::path& folder);

}  // namespace reprise
