// A process that is killed in the middle of its answer, in every kind of store with running
// answers: the received text is reported at once, before anybody continues the session, and copied;
// while the process lives, its answer is running and not copied.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "program/program_fixture.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/open_source.h"
#include "reprise/sessions.h"
#include "support/child.h"
#include "support/must.h"
#include "support/postgres_server.h"

namespace reprise::test {
namespace {

const std::string kWords = "one two three four five six seven eight nine ten eleven twelve";

// "" for a kind whose answers end with their process.
std::string url_of(const StoreKind& kind, const std::filesystem::path& folder,
                   std::string_view tenant) {
  if (kind.location == StoreKind::Location::nowhere) {
    return "";
  }
  const std::string url = kind.location == StoreKind::Location::server
                              ? postgres_url(tenant)
                              : url_in_folder(kind, folder);
  const bool keeps = must(open_store(url))->capabilities().partials != nullptr;
  return keeps ? url : "";
}

class CutAnswersTest : public ProgramTest {
 protected:
  Done in(std::string_view url, std::vector<std::string> words) {
    words.insert(words.begin(), {"--store", std::string(url), "--insecure"});
    return run(words);
  }

  // The answer so far; nullopt if none is running.
  static std::optional<std::string> running(const std::string& url) {
    const auto source = open_source(url, {.insecure = true});
    if (!source) {
      return std::nullopt;  // not created yet
    }
    const SessionPage page = must((*source)->list({.limit = 1}));
    if (page.sessions.empty()) {
      return std::nullopt;
    }
    const SessionSnapshot now = must(get_snapshot(**source, page.sessions.front().id));
    return now.answer ? std::optional(plain_text(now.answer->message)) : std::nullopt;
  }

  // Starts an answer, and waits until this much has arrived.
  pid_t begin_answer(const std::string& url, std::string_view until,
                     const std::vector<std::string>& options = {}) {
    const pid_t child = in_child([&] {
      ::setenv("REPRISE_ECHO_DELAY_MS", "800", 1);
      std::vector<std::string> words = {"ask", kWords};
      words.insert(words.end(), options.begin(), options.end());
      return in(url, words).code;
    });
    for (auto text = running(url); !text || text->find(until) == std::string::npos;
         text = running(url)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return child;
  }
};

// A server on 127.0.0.1 that accepts connections and never responds.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_.get(), any, size) != 0 || ::listen(socket_.get(), 8) != 0 ||
        ::getsockname(socket_.get(), any, &size) != 0) {
      throw std::runtime_error("no server");
    }
    url_ = cat("http://127.0.0.1:", ntohs(address.sin_port), "/v1");
  }
  const std::string& url() const { return url_; }

 private:
  Fd socket_;
  std::string url_;
};

void kill_and_wait(pid_t child) {
  ::kill(child, SIGKILL);
  EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)
#define EXPECT_LACKS(text, part) EXPECT_EQ((text).find(part), std::string::npos) << (text)

TEST_F(CutAnswersTest, AreToldAndCopiedAtOnce) {
  int kinds = 0;
  for (const StoreKind& kind : store_kinds()) {
    SCOPED_TRACE(kind.name);
    const std::string name(kind.name);
    std::filesystem::create_directories(project() / name);
    const std::string url = url_of(kind, project() / name, "cut-answers");
    if (url.empty()) {
      continue;
    }
    ++kinds;
    const std::string copy = cat("sqlite:", (project() / cat(name, "-copy.db")).native());
    const pid_t child = begin_answer(url, "two");
    EXPECT_HAS(in(url, {"list", "--json"}).out, "\"state\":\"active\"");
    EXPECT_HAS(in(url, {"show", "last"}).out, " · running\n\none two");
    EXPECT_HAS(in(url, {"show", "last", "--json"}).out, "\"running\":true");
    EXPECT_HAS(run({"copy", url, copy, "--insecure"}).err, "the answer that is running");
    EXPECT_LACKS(in(copy, {"show", "last"}).out, "assistant");
    kill_and_wait(child);

    EXPECT_HAS(in(url, {"list", "--json"}).out, "\"state\":\"interrupted\"");
    EXPECT_HAS(in(url, {"list", "--state", "interrupted", "--json"}).out, "interrupted");
    EXPECT_HAS(in(url, {"show", "last"}).out, " · incomplete\n\none two");
    const std::string shown = in(url, {"show", "last", "--json"}).out;
    EXPECT_HAS(shown, "\"state\":\"incomplete\"");
    EXPECT_LACKS(shown, "\"running\"");
    EXPECT_HAS(in(url, {"info", "last"}).out, "incomplete: one two");
    EXPECT_HAS(in(url, {"info", "last", "--json"}).out, "\"unfinished\":{");
    {
      const auto source = must(open_source(url, {.insecure = true}));
      const SessionId id = must(source->list({.limit = 1})).sessions.front().id;
      const Exchange last = must(last_exchange(*source, id));
      EXPECT_HAS(last.answer, "one two");
      EXPECT_TRUE(last.incomplete);
    }
    const Done copied = run({"copy", url, copy, "--insecure"});
    EXPECT_EQ(copied.code, 0) << copied.err;
    EXPECT_HAS(copied.err, " 1 continued");
    EXPECT_HAS(in(copy, {"show", "last"}).out, " · incomplete\n\none two");
    EXPECT_HAS(in(copy, {"list", "--json"}).out, "\"state\":\"interrupted\"");
    EXPECT_HAS(run({"copy", url, copy, "--insecure"}).err, " 1 unchanged");

    // The same answer is stored, whether it is settled later or continued.
    EXPECT_EQ(in(url, {"ask", "-c", "--go-on"}).code, 0);
    const Done again = run({"copy", url, copy, "--insecure"});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_HAS(in(copy, {"show", "last"}).out, kWords);
    EXPECT_LACKS(in(copy, {"show", "last"}).out, "incomplete");
    EXPECT_HAS(in(copy, {"list", "--json"}).out, "\"state\":\"active\"");
  }
  EXPECT_GE(kinds, 4);
}

TEST_F(CutAnswersTest, OfNothingAreQuestionsWithoutAnAnswer) {
  const SilentServer server;
  for (const StoreKind& kind : store_kinds()) {
    SCOPED_TRACE(kind.name);
    std::filesystem::create_directories(project() / kind.name);
    const std::string url = url_of(kind, project() / kind.name, "no-answers");
    if (url.empty()) {
      continue;
    }
    kill_and_wait(begin_answer(
        url, "", {"--provider", "openai-chat", "--base-url", server.url(), "--model", "m"}));
    EXPECT_HAS(in(url, {"list", "--json"}).out, "\"state\":\"interrupted\"");
    EXPECT_HAS(in(url, {"show", "last"}).out, "\n(no answer)\n");
    EXPECT_HAS(in(url, {"info", "last"}).out, "last answer   none");
  }
}

}  // namespace
}  // namespace reprise::test
