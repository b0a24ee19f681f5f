#pragma once

// The table of all formats.

#include "export/losses.h"
#include "export/writer.h"

namespace reprise::exporting {

struct Format {
  ExportFormat shown;
  Parts loses = {};
  std::unique_ptr<Writer> (*make)(Job& job) = nullptr;
  // The name of a session's file, without the ending. Null: made of its time, title and short id.
  std::string (*stem)(const Session& session) = nullptr;
};

const Format& format_of(const ExportFormat& shown);

// Each is defined in a file of its own.
std::unique_ptr<Writer> make_html(Job& job);
std::unique_ptr<Writer> make_json(Job& job);
std::unique_ptr<Writer> make_markdown(Job& job);

}  // namespace reprise::exporting
