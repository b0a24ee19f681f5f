// Answers and refusals in the forms of many vendors, played by the test server. A file of vendors/
// is one of them; vendors/README.md explains the lines at its head.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "e2e/talk.h"
#include "e2e/turns.h"
#include "engine/message_of.h"
#include "engine/testing/messages.h"
#include "fake_provider/fake_provider.h"
#include "provider/testing/fixture.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"

namespace reprise::e2e {
namespace {

constexpr std::int64_t kFormBytesMax = 1 << 20;

struct Form {
  std::filesystem::path file;
  std::vector<std::pair<std::string, std::string>> lines;

  std::vector<std::string> all(std::string_view name) const {
    std::vector<std::string> out;
    for (const auto& [key, value] : lines) {
      if (key == name) {
        out.push_back(value);
      }
    }
    return out;
  }
  std::string one(std::string_view name) const {
    const auto values = all(name);
    return values.empty() ? "" : values.front();
  }
};

Form read_form(const std::filesystem::path& file) {
  Form form{file, {}};
  const std::string text = read_file(file, kFormBytesMax).value_or("");
  const std::string_view head = std::string_view(text).substr(0, text.find("\n\n"));
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t end = std::min(head.find('\n', at), head.size());
    const std::string_view line = head.substr(at, end - at);
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos) {
      form.lines.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
    at = end + 1;
  }
  return form;
}

std::vector<std::string> form_files(std::string_view extension) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(VENDOR_FORMS)) {
    if (entry.path().extension() == extension) {
      out.push_back(entry.path().filename().string());
    }
  }
  std::ranges::sort(out);
  return out;
}

std::string test_name(const testing::TestParamInfo<std::string>& file) {
  std::string name = std::filesystem::path(file.param).stem().string();
  std::ranges::replace_if(name, [](char letter) { return !is_ascii_alnum(letter); }, '_');
  return name;
}

// Without the request's id, which may be a new one.
std::string spell(const Usage& usage) {
  return cat("usage: ", usage.input.value, " in, ", usage.output.value, " out, ",
             usage.reasoning.value, " reasoning, ", usage.cached.value, " cached",
             usage.cost ? cat(", cost ", usage.cost->str()) : "");
}

class VendorForm : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    form_ = read_form(std::filesystem::path(VENDOR_FORMS) / GetParam());
    server_ = *fake::FakeProvider::start({.port = 0, .key = "", .seed = 1});
    provider_ = *make_provider(
        form_.one("protocol"),
        {.base_url = cat(server_->url(), "/v1"), .api_key = "sk-of-this-test", .retries_max = 0});
  }
  void play(std::string_view when) {
    ASSERT_TRUE(server_->add_rule(cat(when, " => first=1,replay=", form_.file.string())));
  }
  // Without the server's address, which is another one in each run.
  std::string plain(std::string text) const {
    const std::string host = server_->url().substr(std::string_view("http://").size());
    for (const std::string_view name : {std::string_view(host), std::string_view("127.0.0.1")}) {
      for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
        text.replace(at, name.size(), "HOST");
      }
    }
    return text;
  }

  Form form_;
  std::unique_ptr<fake::FakeProvider> server_;
  std::unique_ptr<Provider> provider_;
};

class VendorAnswer : public VendorForm {};

TEST_P(VendorAnswer, IsReadWhole) {
  play("always");
  ListedMessages messages({e2e::user("hello")});
  Request request{.model = "m", .messages = messages};
  provider::EventLog log;
  std::string usage;
  const auto done = provider_->stream(
      request,
      [&](const StreamEvent& event) {
        log(event);
        if (const auto* const report = std::get_if<UsageReport>(&event); report != nullptr) {
          usage = spell(report->usage);
        }
      },
      {});
  std::vector<std::string> lines;
  for (const std::string& line : log.lines()) {
    lines.push_back(line.starts_with("usage ") ? usage : plain(line));
  }
  EXPECT_EQ(lines, form_.all("shows"));
  EXPECT_EQ(done ? "" : plain(done.error().message), form_.one("error"));
}

INSTANTIATE_TEST_SUITE_P(All, VendorAnswer, testing::ValuesIn(form_files(".sse")), test_name);

// A session with tool calls of this very server, and then the refusal of the next question.
class VendorRefusal : public VendorForm {
 protected:
  void SetUp() override {
    VendorForm::SetUp();
    add_tools(tools_);
    ASSERT_TRUE(store_->create(session_));
    std::vector<Message> earlier;
    for (int turn = 0; turn < 8; ++turn) {
      earlier.push_back(reprise::user(cat("question ", turn)));
      earlier.push_back(assistant({Block(text_of(std::string(400, 'w')))}, "someone"));
    }
    const ImageBlock image{"image/png", {}, "data:image/png;base64,QUJD", {}};
    earlier.push_back(message_of(role::kUser, {text_of("look"), image}));
    earlier.push_back(assistant({ThinkingBlock{"foreign", "", {}}, call_of("call-1", "{}", "add")},
                                form_.one("protocol")));
    earlier.push_back(results({result_of("call-1")}));
    earlier.push_back(reprise::user("that was stopped"));
    earlier.push_back(assistant({Block(text_of("done"))}, "someone"));
    ASSERT_TRUE(store_->append(session_.info.id, std::move(earlier), {}));
    ASSERT_TRUE(ask("think preface call:add {\"a\":1} call:add {\"a\":2}"));
    listener_ = {};
  }
  Result<Outcome> ask(std::string_view question) {
    ConversationOptions options{.model = "m", .system = "be brief", .tools = &tools_};
    for (const std::string& option : form_.all("with")) {
      if (option == "temperature") {
        options.temperature = 0.5;
      } else if (option == "max_tokens") {
        options.max_tokens = 500;
      } else {
        options.request.effort = option;
      }
    }
    Conversation conversation(*provider_, store_.get(), *get(*store_, session_.info.id),
                              std::move(options));
    return conversation.ask(question, listener_);
  }
  // The bodies of the requests from `from` on.
  std::vector<std::string> sent(std::size_t from) const {
    std::vector<std::string> out;
    for (const fake::SeenRequest& request : server_->requests()) {
      if (request.method == "POST") {
        out.push_back(request.body);
      }
    }
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(from));
    return out;
  }

  std::unique_ptr<Store> store_ = open_memory_store();
  Session session_ = make_session("s1");
  ToolRegistry tools_;
  RecordingObserver listener_;
};

TEST_P(VendorRefusal, IsMendedOrShown) {
  const std::size_t before = sent(0).size();
  play("text and now");
  const auto outcome = ask("and now");
  const std::vector<std::string> requests = sent(before);
  EXPECT_EQ(outcome ? "" : plain(outcome.error().message), form_.one("error"));
  const std::string said =
      cat(reprise::joined(listener_.warnings), "\n", reprise::joined(listener_.notes));
  for (const std::string& line : form_.all("says")) {
    EXPECT_TRUE(said.contains(cat("; ", line))) << line << "\nis not in\n" << said;
  }
  const std::string_view wanted = form_.one("error").empty() ? "2" : "1";
  EXPECT_EQ(cat(requests.size()), wanted);
  for (const std::string& part : form_.all("lacks")) {
    EXPECT_TRUE(requests.front().contains(part)) << part << "\n" << requests.front();
    EXPECT_FALSE(requests.back().contains(part)) << part << "\n" << requests.back();
  }
  for (const std::string& part : form_.all("has")) {
    EXPECT_FALSE(requests.front().contains(part)) << part << "\n" << requests.front();
    EXPECT_TRUE(requests.back().contains(part)) << part << "\n" << requests.back();
  }
  EXPECT_EQ(server_->violations(), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(All, VendorRefusal, testing::ValuesIn(form_files(".refusal")), test_name);

TEST(VendorForms, OfAllVendorsAreThere) {
  for (const std::string_view kind : {".sse", ".refusal"}) {
    std::set<std::string> vendors;
    for (const std::string& file : form_files(kind)) {
      vendors.insert(read_form(std::filesystem::path(VENDOR_FORMS) / file).one("vendor"));
    }
    EXPECT_EQ(vendors,
              (std::set<std::string>{"Anthropic", "DeepSeek", "Google", "Groq", "Kimi", "LM Studio",
                                     "Mistral", "Ollama", "OpenAI chat", "OpenAI Responses",
                                     "OpenRouter", "llama.cpp", "vLLM", "xAI"}))
        << kind;
  }
}

}  // namespace
}  // namespace reprise::e2e
