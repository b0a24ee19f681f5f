#pragma once

// The table of formats. Unchanged sessions of another tool can be written back as they were.

#include <memory>  // IWYU pragma: export

#include "export/writer.h"    // IWYU pragma: export
#include "reprise/export.h"   // IWYU pragma: export
#include "reprise/message.h"  // IWYU pragma: export
#include "reprise/session.h"  // IWYU pragma: export
#include "reprise/source.h"

namespace reprise::exporting {

struct Format {
  ExportFormat info;
  Parts losses = {};
  std::unique_ptr<Writer> (*make)(Job& job) = nullptr;
  // Whether unchanged sessions of this tool are written back as they were read.
  bool accepts_originals = false;
  // The name of a session's file without the extension. Null: made from time, title and short id.
  std::string (*stem)(const Session& session) = nullptr;
  // Where the tool looks for the file. Null: the tool imports it with a command.
  std::filesystem::path (*folder)(const Session& session,
                                  const EnvironmentLookup& variables) = nullptr;
};

const Format& format_of(const ExportFormat& info);

// Each is defined in its own file.
std::unique_ptr<Writer> make_claude(Job& job);
std::unique_ptr<Writer> make_codex(Job& job);
std::unique_ptr<Writer> make_copilot(Job& job);
std::unique_ptr<Writer> make_gemini(Job& job);
std::unique_ptr<Writer> make_html(Job& job);
std::unique_ptr<Writer> make_json(Job& job);
std::unique_ptr<Writer> make_markdown(Job& job);
std::unique_ptr<Writer> make_opencode(Job& job);
std::unique_ptr<Writer> make_pi(Job& job);
std::unique_ptr<Writer> make_training(Job& job);

std::filesystem::path claude_folder(const Session& session, const EnvironmentLookup& variables);
std::filesystem::path codex_folder(const Session& session, const EnvironmentLookup& variables);
std::filesystem::path pi_folder(const Session& session, const EnvironmentLookup& variables);
std::string codex_stem(const Session& session);
std::string gemini_stem(const Session& session);
std::string pi_stem(const Session& session);

struct Original {
  std::string id;                        // the tool's id
  std::string file;                      // its name in the tool's folder, uncompressed
  std::vector<std::string> pieces = {};  // artefacts; empty: read the file from the source
  bool is_packed = false;                // compressed by the tool
};

// nullopt if the format or the session is another tool's, if the session has changed since it was
// imported, or if it is not in exactly one file there.
Result<std::optional<Original>> find_original(Source& source, const Session& session,
                                              const Format& format);

Result<> write_original(const Job& job, const Original& original);

}  // namespace reprise::exporting
