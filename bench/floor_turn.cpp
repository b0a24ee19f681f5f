// The minimum cost of one durable turn with libcurl and SQLite, both linked: store the question,
// read the history, send it, read the streamed answer, store it.
//
// usage: floor_turn DB SESSION URL QUESTION

#include <curl/curl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "bare_sqlite.h"
#include "measure.h"

namespace {

constexpr std::string_view kDelta = R"("content":")";

bool is_plain(char c) {
  return c != '"' && c != '\\' && c != '\n';
}

void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const auto end = std::ranges::find_if_not(text, is_plain);
    const auto plain = static_cast<std::size_t>(end - text.begin());
    out += text.substr(0, plain);
    if (plain == text.size()) {
      return;
    }
    out += '\\';
    out += *end == '\n' ? 'n' : *end;
    text.remove_prefix(plain + 1);
  }
}

std::string body_of(const std::vector<bench::BareMessage>& messages) {
  std::string body = R"({"model":"m","stream":true,"messages":[)";
  for (const bench::BareMessage& message : messages) {
    body += body.back() == '[' ? R"({"role":")" : R"(,{"role":")";
    body += message.role;
    body += R"(","content":")";
    append_escaped(body, message.content);
    body += "\"}";
  }
  body += "]}";
  return body;
}

// Parses the lines of an event stream in arbitrary pieces; deltas are printed as they arrive.
struct Answer {
  std::string line;
  std::string text;

  void feed(std::string_view bytes) {
    for (std::size_t end = bytes.find('\n'); end != std::string_view::npos;
         end = bytes.find('\n')) {
      line += bytes.substr(0, end);
      take();
      bytes.remove_prefix(end + 1);
    }
    line += bytes;
  }
  void take() {
    if (const std::size_t begin = line.find(kDelta); begin != std::string::npos) {
      const std::size_t from = begin + kDelta.size();
      const std::string_view delta =
          std::string_view(line).substr(from, line.find('"', from) - from);
      text += delta;
      std::cout << delta << std::flush;
    }
    line.clear();
  }
};

std::size_t on_bytes(char* bytes, std::size_t size, std::size_t count, void* answer) {
  static_cast<Answer*>(answer)->feed({bytes, size * count});
  return size * count;
}

std::string ask(const char* url, const std::string& body) {
  CURL* request = curl_easy_init();
  curl_slist* headers = curl_slist_append(nullptr, "Content-Type: application/json");
  headers = curl_slist_append(headers, "Expect:");
  Answer answer;
  curl_easy_setopt(request, CURLOPT_URL, url);
  curl_easy_setopt(request, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(request, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(request, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(request, CURLOPT_WRITEFUNCTION, on_bytes);
  curl_easy_setopt(request, CURLOPT_WRITEDATA, &answer);
  bench::require(curl_easy_perform(request) == CURLE_OK, "the request failed");
  curl_slist_free_all(headers);
  curl_easy_cleanup(request);
  return answer.text;
}

}  // namespace

int main(int argc, char** argv) {
  bench::require(argc == 5, "usage: floor_turn DB SESSION URL QUESTION");
  bench::BareSqlite db(argv[1]);
  std::vector<bench::BareMessage> messages = db.read(argv[2]);
  const auto head = static_cast<std::int64_t>(messages.size());
  db.append(argv[2], head, "user", argv[4]);
  messages.push_back({head, "user", argv[4]});
  const std::string answer = ask(argv[3], body_of(messages));
  bench::require(!answer.empty(), "the answer is empty");
  db.append(argv[2], head + 1, "assistant", answer);
  std::cout << '\n';
}
