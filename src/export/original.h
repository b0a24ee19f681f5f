#pragma once

// What came from another tool, and can go back as it was.

#include "export/formats.h"

namespace reprise::exporting {

struct Original {
  std::string id;                        // the tool's
  std::string file;                      // its name there
  std::vector<std::string> pieces = {};  // artefacts; none: the source has the file itself
};

// nullopt: the format or the session is another tool's, the session has changed since, or stands in
// several files there, or in none of its own.
Result<std::optional<Original>> find_original(Source& source, const Session& session,
                                              const Format& format);

Result<> write_original(const Job& job, const Original& original);

}  // namespace reprise::exporting
