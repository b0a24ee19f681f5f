#include "search/tokenizer.h"

#include <sqlite3.h>

#include <algorithm>

#include "search/fold.h"
#include "store/sqlite/connection.h"

namespace reprise::search {
namespace {

using TokenSink = int (*)(void*, int, const char*, int, int, int);

int create_tokenizer(void* /*data*/, const char** /*words*/, int /*count*/,
                     Fts5Tokenizer** tokenizer) {
  static char state = 0;  // the tokenizer has no state, but must not be null
  *tokenizer = reinterpret_cast<Fts5Tokenizer*>(&state);
  return SQLITE_OK;
}

void delete_tokenizer(Fts5Tokenizer* /*tokenizer*/) {}

int pass_tokens(std::string_view text, void* context, TokenSink sink) {
  while (!text.empty()) {
    const std::size_t size = std::min(text.find(' '), text.size());
    if (size > 0) {
      const int code = sink(context, 0, text.data(), static_cast<int>(size), 0, 0);
      if (code != SQLITE_OK) {
        return code;
      }
    }
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return SQLITE_OK;
}

// NOLINTNEXTLINE(readability-function-size): FTS5 says what it is given.
int tokenize(Fts5Tokenizer* /*tokenizer*/, void* context, int flags, const char* bytes, int size,
             TokenSink sink) {
  std::string_view text(bytes, static_cast<std::size_t>(size));
  if ((static_cast<unsigned>(flags) & FTS5_TOKENIZE_QUERY) != 0) {
    return pass_tokens(text, context, sink);
  }
  if (text.starts_with(kAttributesBegin)) {
    const std::size_t end = std::min(text.find(kAttributesEnd), text.size());
    const int code = pass_tokens(text.substr(1, end - 1), context, sink);
    if (code != SQLITE_OK) {
      return code;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  for (Words words(text); words.next();) {
    const std::string& word = words.folded();
    const int code = sink(context, 0, word.data(), static_cast<int>(word.size()),
                          static_cast<int>(words.begin()), static_cast<int>(words.end()));
    if (code != SQLITE_OK) {
      return code;
    }
  }
  return SQLITE_OK;
}

void count_phrases(const Fts5ExtensionApi* api, Fts5Context* row, sqlite3_context* result,
                   int /*count*/, sqlite3_value** /*values*/) {
  std::string counts(static_cast<std::size_t>(api->xPhraseCount(row)), '\0');
  int hits = 0;
  int code = api->xInstCount(row, &hits);
  for (int i = 0; i < hits && code == SQLITE_OK; ++i) {
    int phrase = 0;
    int column = 0;
    int offset = 0;
    code = api->xInst(row, i, &phrase, &column, &offset);
    char& count = counts[static_cast<std::size_t>(phrase)];
    if (code == SQLITE_OK && count != '\xFF') {
      ++count;
    }
  }
  if (code != SQLITE_OK) {
    sqlite3_result_error_code(result, code);
    return;
  }
  sqlite3_result_blob(result, counts.data(), static_cast<int>(counts.size()), SQLITE_TRANSIENT);
}

// Null if this SQLite has none.
Result<fts5_api*> find_fts5(sqlite::Connection& connection) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(connection.handle(), "SELECT fts5(?1)", -1, &statement, nullptr);
  if (code == SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
    sqlite3_step(statement);
  }
  sqlite3_finalize(statement);
  if (code != SQLITE_OK && code != SQLITE_ERROR) {  // not "no such function"
    return std::unexpected(connection.error(code));
  }
  return api;
}

}  // namespace

Result<> add_tokenizer(sqlite::Connection& connection) {
  REPRISE_ASSIGN(fts5_api* const api, find_fts5(connection));
  if (api == nullptr) {
    return fail(Code::unsupported,
                "this SQLite has no full-text search (FTS5): install one that has");
  }
  fts5_tokenizer functions{create_tokenizer, delete_tokenizer, tokenize};
  int code = api->xCreateTokenizer(api, "reprise", nullptr, &functions, nullptr);
  if (code == SQLITE_OK) {
    code = api->xCreateFunction(api, "reprise_counts", nullptr, count_phrases, nullptr);
  }
  if (code != SQLITE_OK) {
    return std::unexpected(connection.error(code));
  }
  return {};
}

}  // namespace reprise::search
