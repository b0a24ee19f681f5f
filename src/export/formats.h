#pragma once

// The table of all formats.

#include "export/losses.h"
#include "export/writer.h"

namespace reprise::exporting {

struct Format {
  ExportFormat shown;
  Parts loses = {};
  std::unique_ptr<Writer> (*make)(Job& job) = nullptr;
  // What has not changed since it was read from this tool is written as it was.
  bool takes_originals = false;
  // The name of a session's file, without the ending. Null: made of its time, title and short id.
  std::string (*stem)(const Session& session) = nullptr;
  // Where the tool looks for it. Null: it imports the file by a command.
  std::filesystem::path (*folder)(const Session& session, const ToolVariables& variables) = nullptr;
};

const Format& format_of(const ExportFormat& shown);

// Each is defined in a file of its own.
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

std::filesystem::path claude_folder(const Session& session, const ToolVariables& variables);
std::filesystem::path codex_folder(const Session& session, const ToolVariables& variables);
std::filesystem::path pi_folder(const Session& session, const ToolVariables& variables);
std::string codex_stem(const Session& session);
std::string gemini_stem(const Session& session);
std::string pi_stem(const Session& session);

}  // namespace reprise::exporting
