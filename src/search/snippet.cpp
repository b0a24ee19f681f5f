#include <algorithm>
#include <iterator>
#include <set>

#include "base/grapheme.h"
#include "base/utf8.h"
#include "search/fold.h"
#include "search/hits.h"

namespace reprise::search {
namespace {

constexpr std::size_t kBefore = 40;   // bytes before the first mark
constexpr std::size_t kWindow = 160;  // approximate size in bytes

// An occurrence of a phrase.
struct Mark {
  std::size_t begin;
  std::size_t end;
  std::size_t phrase;
};

class Marker {
 public:
  explicit Marker(const std::vector<Phrase>& phrases) : phrases_(phrases) {}

  std::vector<Mark> marks_in(std::string_view text) {
    words_.clear();
    spans_.clear();
    for (Words words(text); words.next();) {
      words_.push_back(words.folded());
      spans_.push_back({words.begin(), words.end()});
    }
    std::vector<Mark> marks;
    for (std::size_t at = 0; at < words_.size(); ++at) {
      for (std::size_t i = 0; i < phrases_.size(); ++i) {
        if (!phrases_[i].without && stands_at(phrases_[i], at)) {
          const std::size_t last = at + phrases_[i].words.size() - 1;
          marks.push_back({spans_[at].begin, end_of(phrases_[i], last, text), i});
        }
      }
    }
    return marks;
  }

 private:
  struct Span {
    std::size_t begin;
    std::size_t end;
  };

  bool stands_at(const Phrase& phrase, std::size_t at) const {
    const std::size_t count = phrase.words.size();
    if (at + count > words_.size()) {
      return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::string& word = words_[at + i];
      const bool is_prefix = phrase.prefix && i + 1 == count;
      if (is_prefix ? !word.starts_with(phrase.words[i]) : word != phrase.words[i]) {
        return false;
      }
    }
    return true;
  }

  // If only one character of a bigram matches, only that one is marked.
  std::size_t end_of(const Phrase& phrase, std::size_t last, std::string_view text) const {
    const auto [begin, end] = spans_[last];
    const std::string& word = phrase.words.back();
    if (phrase.prefix && end - begin > word.size() && text.substr(begin).starts_with(word) &&
        static_cast<unsigned char>(word.front()) >= 0xE0) {
      return begin + word.size();
    }
    return end;
  }

  const std::vector<Phrase>& phrases_;
  std::vector<std::string> words_;
  std::vector<Span> spans_;
};

std::size_t distinct(std::span<const Mark> marks) {
  std::set<std::size_t> phrases;
  for (const Mark& mark : marks) {
    phrases.insert(mark.phrase);
  }
  return phrases.size();
}

// The first mark of the window that contains the most distinct phrases.
std::size_t best_mark(const std::vector<Mark>& marks) {
  std::size_t best = 0;
  std::size_t most = 0;
  std::size_t end = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    while (end < marks.size() && marks[end].end <= marks[i].begin + kWindow - kBefore) {
      ++end;
    }
    end = std::max(end, i + 1);
    // More than a few marks in one window are repetitions.
    const std::size_t count =
        distinct(std::span(marks).subspan(i, std::min<std::size_t>(end - i, 64)));
    if (count > most) {
      most = count;
      best = i;
    }
  }
  return best;
}

bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

// The first start of a word in [at, limit).
std::size_t word_begin(std::string_view text, std::size_t at, std::size_t limit) {
  if (at == 0) {
    return 0;
  }
  const std::size_t blank = text.find_first_of(" \n\t", at);
  if (blank != std::string_view::npos && blank < limit) {
    return blank + 1;
  }
  while (is_inside_character(text, at)) {
    ++at;
  }
  return std::min(at, limit);
}

// Appends on one line, with runs of blanks collapsed.
void append_line(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
      out += c;
    } else if (!out.ends_with(' ')) {
      out += ' ';
    }
  }
}

std::vector<SearchPiece> cut(std::string_view text, const std::vector<Mark>& marks) {
  const std::size_t focus = marks.empty() ? 0 : marks[best_mark(marks)].begin;
  const std::size_t begin = word_begin(text, focus - std::min(focus, kBefore), focus);
  std::size_t end = std::min(text.size(), begin + kWindow);
  while (is_inside_character(text, end)) {
    ++end;
  }
  std::vector<SearchPiece> pieces;
  std::string plain = begin > 0 ? "…" : "";
  std::size_t at = begin;
  for (const Mark& mark : marks) {
    const std::size_t from = std::max(mark.begin, at);
    if (mark.begin < begin || mark.begin >= end || mark.end <= from) {
      continue;
    }
    append_line(plain, text.substr(at, from - at));
    if (!plain.empty()) {
      pieces.push_back({std::exchange(plain, ""), false});
    }
    std::string marked;
    append_line(marked, text.substr(from, mark.end - from));
    if (from == at && !pieces.empty() && pieces.back().matches) {
      pieces.back().text += marked;  // overlapping bigrams
    } else {
      pieces.push_back({std::move(marked), true});
    }
    at = mark.end;
  }
  if (at < end) {
    append_line(plain, text.substr(at, end - at));
  }
  if (std::max(at, end) < text.size()) {
    plain += "…";
  }
  if (!plain.empty()) {
    pieces.push_back({std::move(plain), false});
  }
  return pieces;
}

}  // namespace

bool has_phrases(const Texts& texts, const std::vector<Phrase>& phrases,
                 std::optional<SearchPart> only) {
  std::vector<Phrase> all = phrases;
  for (Phrase& phrase : all) {
    phrase.without = false;
  }
  Marker marker(all);
  std::set<std::size_t> found;
  for (std::size_t part = 0; part < kParts; ++part) {
    if (only && part != static_cast<std::size_t>(*only)) {
      continue;
    }
    for (const Mark& mark : marker.marks_in(texts.parts.at(part))) {
      found.insert(mark.phrase);
    }
  }
  for (std::size_t i = 0; i < phrases.size(); ++i) {
    if (found.contains(i) == phrases[i].without) {
      return false;
    }
  }
  return true;
}

Snippet snippet_of(const Texts& texts, const std::vector<Phrase>& phrases,
                   std::optional<SearchPart> only) {
  Snippet best;
  std::vector<Mark> best_marks;
  std::size_t most = 0;
  Marker marker(phrases);
  for (std::size_t i = 0; i < kParts; ++i) {
    const auto part = static_cast<SearchPart>(i);
    if ((only && part != *only) || texts.parts.at(i).empty()) {
      continue;
    }
    std::vector<Mark> marks = marker.marks_in(texts.parts.at(i));
    const std::size_t count = distinct(marks);
    if (count > most || texts.parts.at(static_cast<std::size_t>(best.part)).empty()) {
      most = count;
      best.part = part;
      best_marks = std::move(marks);
    }
  }
  best.pieces = cut(texts.parts.at(static_cast<std::size_t>(best.part)), best_marks);
  return best;
}

}  // namespace reprise::search
