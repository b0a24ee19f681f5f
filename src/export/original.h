#pragma once

// Sessions of another tool that can be written back unchanged.

#include "reprise/source.h"

namespace reprise::exporting {

struct Format;
struct Job;

struct Original {
  std::string id;                        // the tool's id
  std::string file;                      // its name in the tool's folder
  std::vector<std::string> pieces = {};  // artefacts; empty: read the file from the source
};

// nullopt if the format or the session is another tool's, if the session has changed since it was
// imported, or if it is not in exactly one file there.
Result<std::optional<Original>> find_original(Source& source, const Session& session,
                                              const Format& format);

Result<> write_original(const Job& job, const Original& original);

}  // namespace reprise::exporting
