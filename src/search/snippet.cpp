#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "base/terminal_text.h"
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
  explicit Marker(const std::vector<Phrase>& phrases) : phrases_(phrases) {
    for (const Phrase& phrase : phrases) {
      if (!phrase.without) {
        first_.add(phrase.words.front().front());
        ++included_;
      }
    }
  }

  // All, except that a single phrase is not searched for behind the window of its first mark.
  std::vector<Mark> marks_in(std::string_view text) const {
    std::vector<Mark> marks;
    std::size_t limit = text.size();
    for (Words words(text); words.next(first_, limit);) {
      for (std::size_t i = 0; i < phrases_.size(); ++i) {
        if (phrases_[i].without || !is_word(phrases_[i], 0, words)) {
          continue;
        }
        if (const auto end = end_of(phrases_[i], words, text)) {
          marks.push_back({words.begin(), *end, i});
        }
      }
      if (included_ == 1 && marks.size() == 1) {
        limit = marks.front().begin + kWindow;
      }
    }
    return marks;
  }

 private:
  // Whether the current word is the phrase's word at this index.
  static bool is_word(const Phrase& phrase, std::size_t at, const Words& words) {
    const bool is_prefix = phrase.prefix && at + 1 == phrase.words.size();
    const std::string& word = words.folded();
    return is_prefix ? word.starts_with(phrase.words[at]) : word == phrase.words[at];
  }

  // The end of a phrase that begins at the current word; nullopt if the words after it differ. If
  // only one character of a bigram matches, only that one is marked.
  static std::optional<std::size_t> end_of(const Phrase& phrase, const Words& first,
                                           std::string_view text) {
    std::optional<Words> copy;
    for (std::size_t at = 1; at < phrase.words.size(); ++at) {
      Words& next = copy ? *copy : copy.emplace(first);
      if (!next.next() || !is_word(phrase, at, next)) {
        return std::nullopt;
      }
    }
    const Words& last = copy ? *copy : first;
    const std::string& word = phrase.words.back();
    if (phrase.prefix && last.end() - last.begin() > word.size() &&
        text.substr(last.begin()).starts_with(word) &&
        static_cast<unsigned char>(word.front()) >= 0xE0) {
      return last.begin() + word.size();
    }
    return last.end();
  }

  const std::vector<Phrase>& phrases_;
  FirstBytes first_;  // of the included phrases
  std::size_t included_ = 0;
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
  std::size_t count_max = 0;
  std::size_t end = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    while (end < marks.size() && marks[end].end <= marks[i].begin + kWindow - kBefore) {
      ++end;
    }
    end = std::max(end, i + 1);
    // More than a few marks in one window are repetitions.
    const std::size_t count =
        distinct(std::span(marks).subspan(i, std::min<std::size_t>(end - i, 64)));
    if (count > count_max) {
      count_max = count;
      best = i;
    }
  }
  return best;
}

bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && utf8::is_continuation(text[at]);
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

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// Appends on one line, with runs of blanks collapsed.
void append_line(std::string& out, std::string_view text) {
  bool is_after_blank = out.ends_with(' ');
  std::size_t begin = 0;  // of what is appended as it is
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_blank(text[at])) {
      is_after_blank = false;
      continue;
    }
    if (is_after_blank || text[at] != ' ') {
      out += text.substr(begin, at - begin);
      out += is_after_blank ? "" : " ";
      begin = at + 1;
    }
    is_after_blank = true;
  }
  out += text.substr(begin);
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
  std::vector<Phrase> included = phrases;
  for (Phrase& phrase : included) {
    phrase.without = false;
  }
  const Marker marker(included);
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
  std::size_t count_max = 0;
  const Marker marker(phrases);
  for (std::size_t i = 0; i < kParts; ++i) {
    const auto part = static_cast<SearchPart>(i);
    if ((only && part != *only) || texts.parts.at(i).empty()) {
      continue;
    }
    std::vector<Mark> marks = marker.marks_in(texts.parts.at(i));
    const std::size_t count = distinct(marks);
    if (count > count_max || texts.parts.at(static_cast<std::size_t>(best.part)).empty()) {
      count_max = count;
      best.part = part;
      best_marks = std::move(marks);
    }
  }
  best.pieces = cut(texts.parts.at(static_cast<std::size_t>(best.part)), best_marks);
  return best;
}

}  // namespace reprise::search
