
#include "cli/output/hit_lines.h"

#include <algorithm>

#include "base/grapheme.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/output/session_json.h"
#include "cli/settings/time_value.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kTitleMax = 24;  // columns
constexpr std::size_t kSnippetMin = 20;
constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::string_view kPlaceColour = "\x1b[33m";
constexpr std::string_view kAgeColour = "\x1b[2m";
constexpr std::string_view kMatchColour = "\x1b[1;31m";

std::string shorten(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) {
    return std::string(text);
  }
  return cat(width_prefix(text, columns - 1), "…");
}

std::string padding(std::string_view text, std::size_t columns) {
  return std::string(columns - std::min(columns, display_width(text)), ' ');
}

class HitLine {
 public:
  HitLine(std::string& out, const HitView& view) : out_(out), view_(view) {}

  void cell(std::string_view text, std::size_t columns, std::string_view colour) {
    add(text, colour);
    out_ += cat(padding(text, columns), "  ");
    used_ += columns + 2;
  }

  void snippet(const std::vector<SearchPiece>& pieces) {
    std::size_t left = view_.columns > used_ + kSnippetMin ? view_.columns - used_ : kSnippetMin;
    for (const auto& [text, matches] : pieces) {
      std::string shown = terminal_line(text);
      if (matches && !view_.colour) {
        shown = cat("*", shown, "*");
      }
      const std::size_t width = display_width(shown);
      add(shorten(shown, left), matches ? kMatchColour : "");
      if (width >= left) {
        break;
      }
      left -= width;
    }
  }

  void end() {
    out_.resize(out_.find_last_not_of(' ') + 1);
    out_ += '\n';
  }

 private:
  void add(std::string_view text, std::string_view colour) {
    const bool is_coloured = view_.colour && !colour.empty();
    out_ += is_coloured ? cat(colour, text, kPlain) : std::string(text);
  }

  std::string& out_;
  const HitView& view_;
  std::size_t used_ = 0;
};

// The message as commands name it: "e32c41d0#12".
std::string place_of(const SearchHit& hit) {
  return cat(hit.short_id, "#", hit.seq.value);
}

std::string snippet_text(const std::vector<SearchPiece>& pieces) {
  std::string text;
  for (const SearchPiece& piece : pieces) {
    text += piece.text;
  }
  return text;
}

void append_hit(std::string& out, const SearchHit& hit, const std::string& source) {
  json::ObjectWriter object(out);
  object.field("place", place_of(hit));
  if (!source.empty()) {
    object.field("source", source);
  }
  append_info(object, hit.session, hit.short_id);
  object.field("seq", hit.seq.value)
      .field("role", hit.role)
      .field("part", to_string(hit.part))
      .field("time", format_time(hit.time))
      .field("snippet", snippet_text(hit.snippet));
  object.key("pieces");
  json::ArrayWriter pieces(out);
  for (const auto& [text, matches] : hit.snippet) {
    pieces.item();
    json::ObjectWriter piece(out);
    piece.field("text", text).field("matches", matches).close();
  }
  pieces.close();
  object.close();
}

}  // namespace

std::string hit_lines(const std::vector<SearchHit>& hits, const HitView& view) {
  struct Cells {
    std::string place;
    std::string age;
    std::string title;
  };
  std::vector<Cells> rows;
  std::size_t place = 0;
  std::size_t age = 0;
  std::size_t title = 0;
  for (const SearchHit& hit : hits) {
    const std::string& source = view.sources[hit.source];
    rows.push_back({cat(source, source.empty() ? "" : " ", place_of(hit)),
                    age_text(hit.time, view.now),
                    shorten(terminal_line(hit.session.title), kTitleMax)});
    place = std::max(place, display_width(rows.back().place));
    age = std::max(age, display_width(rows.back().age));
    title = std::max(title, display_width(rows.back().title));
  }
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    HitLine line(out, view);
    line.cell(rows[i].place, place, kPlaceColour);
    line.cell(rows[i].age, age, kAgeColour);
    line.cell(rows[i].title, title, "");
    line.snippet(hits[i].snippet);
    line.end();
  }
  return out;
}

std::string hits_document(const SearchPage& page, std::span<const std::string> sources) {
  std::string out;
  json::ObjectWriter object(out);
  object.key("hits");
  json::ArrayWriter hits(out);
  for (const SearchHit& hit : page.hits) {
    hits.item();
    append_hit(out, hit, sources[hit.source]);
  }
  hits.close();
  if (page.next.empty()) {
    object.raw("next", "null");
  } else {
    object.field("next", page.next);
  }
  object.close();
  return out;
}

}  // namespace reprise::cli
