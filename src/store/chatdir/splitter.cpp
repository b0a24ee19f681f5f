#include "store/chatdir/splitter.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>

#include "base/json_scan.h"
#include "base/text.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/line.h"
#include "store/chatdir/trailer.h"
#include "store/rules.h"

namespace reprise::store::chatdir {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// Brackets and commas come from an array around the messages.
constexpr std::string_view kBetween = " \t\r[],";
constexpr std::string_view kBrokenObject = "not a complete JSON object";
constexpr std::string_view kLikelyStart = R"({"role":)";
constexpr std::size_t kBlankBytes = 4096;
constexpr std::size_t kObjectBytesMin = std::size_t{64} << 10U;
constexpr std::size_t kObjectBytesMax = std::size_t{16} << 20U;  // of an object of several lines
constexpr std::int64_t kSearchBytesMin = std::int64_t{64} << 20U;

// The offset in a damaged line where reading continues: at what looks like the next message. The
// bytes after NULs may be the end of a message whose beginning is lost, and yet form an object.
std::size_t damage_length(std::string_view text) {
  const std::size_t from = text.front() == '\0' ? text.find_first_not_of('\0') : 1;
  return std::min(text.find(kLikelyStart, from), text.size());
}

bool is_in_place(const FoundTrailer& found, std::int64_t start) {
  return found.trailer->line == start &&
         found.trailer->at == start + static_cast<std::int64_t>(found.position);
}

}  // namespace

Splitter::Splitter(FileWindow& window, std::int64_t offset, std::int64_t line, std::int64_t end,
                   SplitMode mode)
    : window_(window),
      at_(offset),
      line_(line),
      end_(end),
      mode_(mode),
      search_bytes_(std::max(kSearchBytesMin, 2 * (end - offset))) {}

Result<> Splitter::skip_blanks() {
  if (at_ == 0) {
    REPRISE_ASSIGN(const std::string_view first, window_.view(0, kByteOrderMark.size()));
    at_ += first == kByteOrderMark ? static_cast<std::int64_t>(first.size()) : 0;
  }
  while (at_ < end_) {
    const auto remaining = static_cast<std::size_t>(end_ - at_);
    REPRISE_ASSIGN(const std::string_view text,
                   window_.view(at_, std::min(remaining, kBlankBytes)));
    if (text.empty()) {
      end_ = at_;  // the file was truncated
    }
    for (const char c : text) {
      if (c != '\n' && kBetween.find(c) == std::string_view::npos) {
        return {};
      }
      line_ += c == '\n' ? 1 : 0;
      ++at_;
    }
  }
  return {};
}

Piece Splitter::make_piece(std::size_t length, std::string_view damage) {
  Piece piece{.offset = at_, .length = static_cast<std::int64_t>(length), .line = line_};
  piece.damage = damage;
  at_ += piece.length;
  return piece;
}

Result<std::optional<Piece>> Splitter::next() {
  REPRISE_TRY(skip_blanks());
  if (at_ >= end_) {
    return std::nullopt;
  }
  const std::int64_t start = at_;
  REPRISE_ASSIGN(const FileWindow::LineView line, window_.line(at_, end_));
  const auto line_end = start + static_cast<std::int64_t>(line.text.size());
  auto found = find_trailer(line.text);
  if (found && is_in_place(*found, start) && !is_valid_position(found->trailer->seq)) {
    Piece piece = make_piece(line.text.size(), "its position is out of range");
    piece.ends_line = line.has_end;
    return piece;
  }
  if (found && is_in_place(*found, start)) {
    Piece piece = make_piece(line.text.size(), "");
    if (mode_ == SplitMode::messages && found->trailer->of == 1) {
      piece.read = read_plain_line(line.text, &*found);
    }
    piece.trailer = std::move(found->trailer);
    piece.in_place = true;
    piece.ends_line = line.has_end;
    return piece;
  }
  REPRISE_ASSIGN(Piece piece, value(line.text, found ? std::move(found->trailer) : nullptr));
  // Only the beginning of an overlong line is in the view: it is not torn, since more follows.
  const bool is_too_long = line.text.size() == FileWindow::kLineBytesMax && line_end < end_;
  piece.ends_line = at_ != line_end || line.has_end || is_too_long;
  return piece;
}

// The piece at the beginning of `text`, the remainder of a line. Invalidates the view of the line.
// `trailer` is the one at the line's end.
Result<Piece> Splitter::value(std::string_view text, std::shared_ptr<const Trailer> trailer) {
  if (mode_ == SplitMode::messages) {
    if (auto line = read_plain_line(text); line) {
      Piece piece = make_piece(text.size(), "");
      piece.trailer = std::move(trailer);
      piece.read = std::move(line);
      return piece;
    }
  }
  json::Scanner scanner(text, json::Controls::accepted);
  const json::Kind kind = scanner.kind();
  const bool complete = scanner.skip();
  if (kind != json::Kind::object) {
    return complete ? make_piece(scanner.position(), "JSON that is not a message")
                    : make_piece(damage_length(text), "not JSON");
  }
  if (complete && text.substr(0, scanner.position()).find('\0') != std::string_view::npos) {
    return make_piece(scanner.position(), kBrokenObject);  // a hole inside a string
  }
  if (complete) {
    const bool ends_line = trimmed(scanner.rest()).empty();
    Piece piece = make_piece(scanner.position(), "");
    piece.trailer = ends_line ? std::move(trailer) : nullptr;
    return piece;
  }
  return scanner.position() < text.size() ? make_piece(damage_length(text), kBrokenObject)
                                          : object_over_lines(damage_length(text));
}

// An object of several lines; damage of length `damaged` if its end is not found nearby.
Result<Piece> Splitter::object_over_lines(std::size_t damaged) {
  for (std::size_t bytes = kObjectBytesMin; bytes <= kObjectBytesMax; bytes *= 16) {
    const auto length = std::min(bytes, static_cast<std::size_t>(end_ - at_));
    search_bytes_ -= static_cast<std::int64_t>(length);
    if (search_bytes_ < 0) {
      break;
    }
    REPRISE_ASSIGN(const std::string_view text, window_.view(at_, length));
    json::Scanner scanner(text, json::Controls::accepted);
    if (scanner.skip()) {
      const auto lines = std::ranges::count(text.substr(0, scanner.position()), '\n');
      Piece piece = make_piece(scanner.position(), "");
      line_ += lines;
      return piece;
    }
    if (scanner.position() < text.size() || length < bytes) {
      break;
    }
  }
  return make_piece(damaged, kBrokenObject);
}

}  // namespace reprise::store::chatdir
