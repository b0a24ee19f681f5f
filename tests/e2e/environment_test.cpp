// Environment variables that HTTP programs honour: a proxy, trusted certificates.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/curl_transport.h"
#include "base/http.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "e2e/child_process.h"
#include "e2e/talk.h"
#include "fake_provider/fake_provider.h"
#include "reprise/provider.h"
#include "support/must.h"

namespace reprise::e2e {
namespace {

using test::must;
using testing::HasSubstr;

// Sets a variable during its lifetime, and removes it afterwards. The tests here run one at a time,
// without other threads that read the environment.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() { ::setenv(name_.c_str(), "", 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
};

std::unique_ptr<fake::FakeProvider> start_server() {
  return must(fake::FakeProvider::start({.port = 0, .key = "", .seed = 1}));
}

Reply ask_at(const std::string& base_url) {
  const auto provider = must(make_provider("openai-chat", {.base_url = base_url}));
  return conversation(*provider, {.messages = {user("hello")}});
}

TEST(Proxy, IsAskedForOtherMachines) {
  const auto server = start_server();
  const Variable proxy("http_proxy", server->url());
  const Reply refused = ask_at("http://models.example/v1");  // the server is not a proxy
  EXPECT_FALSE(refused.result);
  ASSERT_FALSE(server->requests().empty());
  EXPECT_THAT(server->requests().back().path, HasSubstr("http://models.example/v1/"));
}

TEST(Proxy, IsNotAskedForThisMachine) {
  const auto server = start_server();
  const Variable proxy("http_proxy", "http://127.0.0.1:9");  // nobody listens there
  EXPECT_THAT(ask_at(cat(server->url(), "/v1")).text(), HasSubstr("hello"));
}

TEST(Proxy, ThatIsNotThereIsAnErrorThatSaysSo) {
  const Variable proxy("http_proxy", "http://127.0.0.1:9");
  const Reply reply = ask_at("http://models.example/v1");
  ASSERT_FALSE(reply.result);
  EXPECT_THAT(reply.result.error().message, HasSubstr("proxy"));
}

class Answer final : public http::Receiver {
 public:
  http::ReceiveAction head(const http::ResponseHead& head) override {
    status = head.status;
    return http::ReceiveAction::more;
  }
  http::ReceiveAction data(std::string_view /*bytes*/) override {
    return http::ReceiveAction::more;
  }
  int status = 0;
};

// A TLS server with a self-signed certificate.
class SelfSigned : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kOpenssl)) {
      GTEST_SKIP() << "there is no openssl";
    }
    ChildProcess made({kOpenssl, "req", "-x509", "-newkey", "ec", "-pkeyopt",
                       "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key(), "-out",
                       certificate(), "-days", "2", "-subj", "/CN=localhost", "-addext",
                       "subjectAltName=IP:127.0.0.1"});
    ASSERT_EQ(made.wait(), 0);
    const std::uint16_t port = start_server()->port();  // the port is free again
    server_.emplace(std::vector<std::string>{kOpenssl, "s_server", "-accept",
                                             cat("127.0.0.1:", port), "-cert", certificate(),
                                             "-key", key(), "-www"});
    while (const auto line = server_->line()) {
      if (line->starts_with("ACCEPT")) {
        break;
      }
    }
    url_ = cat("https://127.0.0.1:", port, "/");
  }

  std::string key() const { return (folder_.path() / "key.pem").string(); }
  std::string certificate() const { return (folder_.path() / "certificate.pem").string(); }
  Result<int> get() const {
    Answer answer;
    REPRISE_TRY(http::make_curl_transport()->send({.url = url_}, answer, {}));
    return answer.status;
  }

  static constexpr const char* kOpenssl = "/usr/bin/openssl";

 private:
  test::TemporaryFolder folder_;
  std::optional<ChildProcess> server_;
  std::string url_;
};

TEST_F(SelfSigned, IsNotTrusted) {
  const Variable nothing("CURL_CA_BUNDLE", "");
  const Variable nothing_else("SSL_CERT_FILE", "");
  const auto status = get();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("SSL_CERT_FILE"));
}

TEST_F(SelfSigned, IsTrustedWhenTheEnvironmentNamesIt) {
  const Variable trusted("SSL_CERT_FILE", certificate());
  {
    const Variable nothing("CURL_CA_BUNDLE", "");
    EXPECT_EQ(must(get()), 200);
  }
  const Variable other("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt");
  const Variable first("CURL_CA_BUNDLE", certificate());
  EXPECT_EQ(must(get()), 200) << "CURL_CA_BUNDLE goes first";
}

}  // namespace
}  // namespace reprise::e2e
