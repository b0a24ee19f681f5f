#include "store/postgres/words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

#include "base/encode.h"
#include "base/text.h"
#include "reprise/capabilities.h"

namespace reprise::postgres {
namespace {

constexpr int kPositionMax = 16'380;  // positions after it only show that a word is in a part
constexpr int kPositionsMax = 250;    // per word
constexpr std::size_t kWordBytesMax = 2000;
constexpr std::size_t kVectorBytesMax = 1'000'000;
constexpr std::string_view kLabels = "ABC";  // of parts

struct Lexeme {
  std::string positions;
  int count = 0;
  unsigned parts = 0;  // the parts in which it has a position after kPositionMax
};

// Words only contain letters and digits, but this is safe for any bytes.
void append_quoted(std::string& out, std::string_view word) {
  out += '\'';
  for (const char c : word) {
    if (c == '\'' || c == '\\') {
      out += c;
    }
    if (c != '\0') {
      out += c;
    }
  }
  out += '\'';
}

class Vector {
 public:
  void add_part(const std::vector<std::string>& words, std::size_t part) {
    for (const std::string& word : words) {
      ++position_;
      if (Lexeme* const lexeme = find(word); lexeme != nullptr) {
        add_position(*lexeme, part);
      }
    }
    ++position_;  // a phrase does not extend into the next part
  }
  void add_attribute(std::string_view attribute) { find(attribute); }

  std::string text(std::string_view tenant) {
    std::string out;
    const auto add = [&out](std::string_view word, std::string_view positions) {
      out += out.empty() ? "" : " ";
      append_quoted(out, word);
      if (!positions.empty()) {
        out += cat(":", positions);
      }
    };
    add(tenant, "");
    for (const auto& [word, lexeme] : lexemes_) {
      add(word, lexeme.positions);
    }
    return is_long_ ? cat(out, " '\x03long'") : out;
  }

 private:
  Lexeme* find(std::string_view word) {
    const auto found = lexemes_.find(word);
    if (found != lexemes_.end()) {
      return &found->second;
    }
    if (word.size() > kWordBytesMax || bytes_ + word.size() > kVectorBytesMax) {
      is_long_ = true;
      return nullptr;
    }
    bytes_ += word.size() + 4;
    return &lexemes_[word];
  }

  void add_position(Lexeme& lexeme, std::size_t part) {
    const bool fits = position_ <= kPositionMax && lexeme.count < kPositionsMax;
    const unsigned bit = 1U << part;
    if (!fits && (lexeme.parts & bit) != 0) {
      return;
    }
    is_long_ = is_long_ || !fits;
    lexeme.parts |= fits ? 0U : bit;
    ++lexeme.count;
    bytes_ += 2;
    lexeme.positions +=
        cat(lexeme.positions.empty() ? "" : ",",
            fits ? position_ : kPositionMax + 1 + static_cast<int>(part), kLabels.substr(part, 1));
  }

  std::unordered_map<std::string_view, Lexeme> lexemes_;
  std::size_t bytes_ = 0;
  int position_ = 0;
  bool is_long_ = false;
};

enum class Strict : std::uint8_t { no, yes };

// The words of the phrase in order, or in any order if not strict.
std::string phrase_of(const WordPhrase& phrase, std::string_view label, Strict strict) {
  std::string out;
  for (const std::string& word : phrase.words) {
    const bool is_last = &word == &phrase.words.back();
    out += out.empty() ? "(" : (strict == Strict::yes ? " <-> " : " & ");
    append_quoted(out, word);
    const std::string_view star = is_last && phrase.prefix ? "*" : "";
    if (!star.empty() || !label.empty()) {
      out += cat(":", star, label);
    }
  }
  return cat(out, ")");
}

std::string phrases_of(const WordQuery& query, Strict strict) {
  const std::string_view label = query.part ? kLabels.substr(*query.part, 1) : "";
  std::string out;
  for (const WordPhrase& phrase : query.phrases) {
    if (strict == Strict::no && phrase.without && phrase.words.size() > 1) {
      continue;
    }
    out +=
        cat(out.empty() ? "" : " & ", phrase.without ? "!" : "", phrase_of(phrase, label, strict));
  }
  return out;
}

template <class Visit>
void for_each_required_word(const WordQuery& query, const Visit& visit) {
  for (const WordPhrase& phrase : query.phrases) {
    for (const std::string& word : phrase.words) {
      if (!phrase.without) {
        visit(phrase, word, &word == &phrase.words.back());
      }
    }
  }
}

// ts_rank() of a word with k positions is the sum of 1/i² for i up to k, divided by the infinite
// sum.
std::uint8_t count_of_rank(float rank) {
  constexpr double kAll = 1.64493406685;
  constexpr double kHalfStep = 0.5;
  double sum = 0;
  int count = 0;
  while (count < 255) {
    const double step = 1.0 / (static_cast<double>(count + 1) * (count + 1));
    if (static_cast<double>(rank) * kAll < sum + kHalfStep * step) {
      break;
    }
    sum += step;
    ++count;
  }
  return static_cast<std::uint8_t>(std::max(count, 1));
}

constexpr std::string_view kOrder =
    " ORDER BY w.time_us DESC, w.session_id DESC, w.branch DESC, w.seq DESC";

// The session that shows a row `f` of a session with the head `o`: its own, or a fork. The server
// finds each row by its key, whatever it expects of their number.
constexpr std::string_view kHolder =
    "CASE WHEN o.state <> 3 AND o.branch = f.branch THEN f.session_id ELSE"
    " (WITH RECURSIVE reach(session_id, branch) AS (SELECT f.session_id, f.branch"
    " UNION SELECT l.session_id, l.branch FROM reach AS r CROSS JOIN LATERAL (SELECT b.session_id,"
    " b.branch FROM reprise_branches AS b WHERE b.tenant = $1::text"
    " AND b.base_session = r.session_id AND b.base_branch = r.branch AND b.base_count > f.seq"
    " OFFSET 0) AS l) SELECT l.session_id FROM reach AS r CROSS JOIN LATERAL (SELECT h.session_id"
    " FROM reprise_heads AS h WHERE h.tenant = $1::text AND h.session_id = r.session_id"
    " AND h.branch = r.branch AND h.state <> 3 OFFSET 0) AS l"
    " ORDER BY l.session_id <> f.session_id, l.session_id LIMIT 1) END AS holder";

// The sessions that satisfy the condition, and those with which they share messages.
std::string sessions_of(std::string_view condition) {
  return cat(
      "(WITH RECURSIVE near(session_id) AS (SELECT h.session_id FROM reprise_heads AS h"
      " WHERE h.tenant = $1::text AND ",
      condition,
      " UNION SELECT b.base_session FROM near AS n JOIN reprise_branches AS b"
      " ON b.tenant = $1::text AND b.session_id = n.session_id) SELECT session_id FROM near)");
}

}  // namespace

std::string tenant_marker(std::string_view tenant) {
  return cat("\x03t", fnv1a(tenant));
}

std::string vector_of(const WordEntry& entry, std::string_view tenant) {
  Vector vector;
  for (const std::string& attribute : entry.attributes) {
    vector.add_attribute(attribute);
  }
  for (std::size_t part = 0; part < std::min(entry.parts.size(), kLabels.size()); ++part) {
    vector.add_part(entry.parts[part], part);
  }
  return vector.text(tenant_marker(tenant));
}

std::string query_of(const WordQuery& query, std::string_view tenant) {
  std::string out;
  append_quoted(out, tenant_marker(tenant));
  for (const std::string& attribute : query.attributes) {
    out += " & ";
    append_quoted(out, attribute);
  }
  const std::string strict = phrases_of(query, Strict::yes);
  const std::string relaxed = phrases_of(query, Strict::no);
  return strict == relaxed ? cat(out, " & ", strict)
                           : cat(out, " & ((", strict, ") | ('\x03long' & ", relaxed, "))");
}

std::string words_to_count(const WordQuery& query) {
  std::string out;
  for_each_required_word(query,
                         [&](const WordPhrase& phrase, const std::string& word, bool is_last) {
                           out += out.empty() ? "" : "\n";
                           append_quoted(out, word);
                           out += is_last && phrase.prefix ? ":*" : "";
                         });
  return out;
}

std::string_view weights_of(const WordQuery& query) {
  constexpr std::array<std::string_view, 3> kOfParts = {"{0,0,0,1}", "{0,0,1,0}", "{0,1,0,0}"};
  return query.part ? kOfParts.at(*query.part) : "{1,1,1,1}";
}

std::string counts_of(const WordQuery& query, std::string_view ranks) {
  std::string counts;
  const WordPhrase* last = nullptr;
  for_each_required_word(query, [&](const WordPhrase& phrase, const std::string&, bool) {
    float rank = 0;
    const auto [end, error] = std::from_chars(ranks.data(), ranks.data() + ranks.size(), rank);
    ranks.remove_prefix(std::min(static_cast<std::size_t>(end - ranks.data()) + 1, ranks.size()));
    const std::uint8_t count = count_of_rank(error == std::errc() ? rank : 0);
    if (&phrase != last) {
      counts += static_cast<char>(count);
      last = &phrase;
    } else {
      counts.back() = static_cast<char>(std::min(static_cast<std::uint8_t>(counts.back()), count));
    }
  });
  return counts;
}

std::string find_words_statement(const FindShape& shape) {
  int number = 4;
  const auto next = [&number](std::string_view type) { return cat("$", number++, "::", type); };
  const std::string rows = shape.window ? next("int8") : "";
  std::string range = " WHERE w.tenant = $1::text";
  if (shape.after) {
    const std::string time = next("int8");
    const std::string session = next("text");
    const std::string branch = next("int8");
    const std::string seq = next("int8");
    range += cat(" AND (w.time_us, w.session_id, w.branch, w.seq) < (", time, ", ", session, ", ",
                 branch, ", ", seq, ")");
  }
  if (shape.since) {
    range += cat(" AND w.time_us >= ", next("int8"));
  }
  if (shape.until) {
    range += cat(" AND w.time_us < ", next("int8"));
  }
  std::string sessions;
  if (shape.session) {
    sessions = sessions_of(cat("h.session_id = ", next("text")));
  }
  if (shape.folder) {
    sessions = sessions_of(cat("h.folder = ", next("bytea"), " AND h.state >= 0"));
  }
  std::string where = " w.words @@ $2::text::tsquery";
  if (!sessions.empty() && !shape.sessions) {
    where += cat(" AND w.session_id IN ", sessions);
  }
  std::string counts;
  if (shape.counts) {
    const std::string weights = next("text");
    const std::string words = next("text");
    counts = cat(", (SELECT array_to_string(ARRAY(SELECT ts_rank(", weights,
                 "::float4[], v.words, q.word::tsquery) FROM unnest(string_to_array(", words,
                 ", chr(10))) AS q(word)), ' ') FROM reprise_words AS v WHERE v.tenant = $1::text"
                 " AND v.session_id = f.session_id AND v.branch = f.branch AND v.seq = f.seq)"
                 " AS counts");
  }
  const std::string rows_in_range = cat("SELECT w.* FROM reprise_words AS w", range);
  std::string newest;
  if (shape.window) {
    newest = cat("(", rows_in_range, kOrder, " LIMIT ", rows, ") AS w WHERE", where);
  } else if (shape.sessions) {
    newest = cat("(SELECT l.* FROM ", sessions, " AS n CROSS JOIN LATERAL (", rows_in_range,
                 " AND w.session_id = n.session_id AND", where, " OFFSET 0) AS l) AS w");
  } else {
    newest = cat("(", rows_in_range, " AND", where, " OFFSET 0) AS w");
  }
  return cat(
      "WITH found AS MATERIALIZED (SELECT w.session_id, w.branch, w.seq, w.time_us, w.bytes,"
      " w.words @@ '",
      kLongMarker, "'::tsquery AS is_long FROM ", newest, kOrder,
      " LIMIT $3::int8)"
      " SELECT g.*, (SELECT h.folder FROM reprise_heads AS h WHERE h.tenant = $1::text"
      " AND h.session_id = g.holder) AS folder FROM (SELECT f.*, ",
      kHolder, counts,
      " FROM found AS f LEFT JOIN LATERAL (SELECT p.state, p.branch FROM reprise_heads AS p"
      " WHERE p.tenant = $1::text AND p.session_id = f.session_id OFFSET 0) AS o ON true"
      " OFFSET 0) AS g ORDER BY g.time_us DESC, g.session_id DESC, g.branch DESC, g.seq DESC");
}

}  // namespace reprise::postgres
