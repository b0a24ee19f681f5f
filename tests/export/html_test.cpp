#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encode.h"
#include "base/text.h"
#include "export/exported.h"
#include "export/html_text.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise {
namespace {

using namespace test;
using exporting::html_of_code;
using exporting::html_of_markdown;
using exporting::html_text;
using exporting::LineEnds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string page_of(std::string_view text) {
  return exported_as("html", std::vector{user(text), assistant(text)}).text;
}

// Our own parts of the page: everything except its texts.
TEST(ExportHtml, ThePolicyAllowsTheStyleOnly) {
  const std::string hex = must(sha256(exporting::page_style())).str();
  std::string digest;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    digest += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  }
  const std::string policy(exporting::page_policy());
  EXPECT_THAT(policy, HasSubstr("style-src 'sha256-" + base64_encode(digest) + "'"));
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(page_of(""), HasSubstr(policy));
}

TEST(ExportHtml, ShowsAllMessages) {
  const ExportedText out = exported_as("html", exchange_with_tools());
  EXPECT_TRUE(out.text.starts_with("<!doctype html>\n"));
  EXPECT_TRUE(out.text.ends_with("</html>\n"));
  for (const char* part :
       {"<title>Release notes</title>", "<article id=\"m0\" class=\"user\">",
        "<a href=\"#m3\">#3</a>", "call of <code>read_file</code>",
        "<details class=\"result error\"><summary>error, 1 line", "<details class=\"thinking\">",
        "tokens: 100 in, 20 out", "Be brief.", "<td>gpt-5.5</td><td>tokens: 250 in, 25 out</td>"}) {
    EXPECT_THAT(out.text, HasSubstr(part));
  }
  EXPECT_THAT(out.exported.losses, ElementsAre("the signatures of thinking"));
}

TEST(ExportHtml, ShowsTheSessionsMetadata) {
  Session session = exported_session();
  session.info.mode = "review";
  session.info.created_at = *parse_time("2026-01-02T03:04:05Z");
  session.info.updated_at = *parse_time("2026-02-03T04:05:06Z");
  session.info.forked_from = ForkOrigin{session_id("other"), Seq{7}};
  EXPECT_THAT(
      exported_as("html", *store_with(session, {})).text,
      HasSubstr(cat("<dl>\n<dt>model</dt><dd>openai-responses, gpt-5.5</dd>\n"
                    "<dt>mode</dt><dd>review</dd>\n"
                    "<dt>folder</dt><dd>/home/a/project</dd>\n"
                    "<dt>started</dt><dd>2026-01-02 03:04:05 UTC</dd>\n"
                    "<dt>last active</dt><dd>2026-02-03 04:05:06 UTC</dd>\n"
                    "<dt>id</dt><dd>",
                    kExportedId, "</dd>\n<dt>forked from</dt><dd>other at 7</dd>\n</dl>\n")));
}

// Usage stored twice is shown by both messages and counted once.
TEST(ExportHtml, CountsARequestOnce) {
  std::vector<Message> messages = exchange_with_tools();
  messages.push_back(messages.back());
  EXPECT_THAT(exported_as("html", messages).text,
              HasSubstr("<td>gpt-5.5</td><td>tokens: 250 in, 25 out</td>"));
}

TEST(ExportHtml, EscapesMarkup) {
  for (const std::string& hostile :
       {std::string("<script>alert(1)</script>"), std::string("</title><script>x"),
        std::string("<img src=x onerror=alert(1)>"), std::string("\"><svg onload=x>"),
        std::string("```\n</code></pre><script>x\n```"), std::string("`<script>`"),
        std::string("<!-- x --> <script>"), std::string("[a](<\"><script>x>)")}) {
    std::vector<Message> messages = exchange_with_tools();
    messages[0] = user(hostile);
    messages[1].model = hostile;
    messages[1].role = hostile;
    messages[1].blocks = {ToolUseBlock{hostile, hostile, RawJson::string(hostile), {}},
                          ThinkingBlock{hostile, "", {}},
                          UnknownBlock{hostile, RawJson::string(hostile)},
                          ImageBlock{hostile, {}, hostile, {}}};
    std::get<ToolResultBlock>(messages[2].blocks[0]).text = hostile;
    Session session = exported_session();
    session.info.title = session.info.mode = session.info.working_dir = session.system_prompt =
        hostile;
    const auto store = store_with(session, messages);
    const std::string page = exported_as("html", *store).text;
    EXPECT_THAT(page, Not(HasSubstr("<script"))) << hostile;
    EXPECT_THAT(page, Not(HasSubstr("<img"))) << hostile;
    EXPECT_THAT(page, Not(HasSubstr("<svg"))) << hostile;
    EXPECT_THAT(page, Not(HasSubstr("<!--"))) << hostile;
  }
}

TEST(ExportHtml, LinksMayHaveEntities) {
  const auto href = [](std::string_view target) {
    return html_of_markdown(cat("[x](", target, ")"), LineEnds::joined);
  };
  EXPECT_THAT(href("http://a/?a=1&amp;b=2"), HasSubstr("href=\"http://a/?a=1&amp;b=2\""));
  EXPECT_THAT(href("http://a/?a=1&b=2"), HasSubstr("href=\"http://a/?a=1&amp;b=2\""));
  EXPECT_THAT(href("http://a/&quot;&#34;"), HasSubstr("href=\"http://a/&quot;&amp;#34;\""));
  EXPECT_THAT(href("java&Tab;script:x"), Not(HasSubstr("href")));
  EXPECT_THAT(href("&#106;avascript:x"), Not(HasSubstr("href")));
}

TEST(ExportHtml, LinksToWebPagesOnly) {
  EXPECT_THAT(html_of_markdown("[a](https://b.example/?x=1&y=\"2\")", LineEnds::joined),
              HasSubstr("href=\"https://b.example/?x=1&amp;y=&quot;2&quot;\""));
  for (const char* hostile :
       {"[a](javascript:alert(1))", "[a](javascript&colon;alert(1))", "[a](data:text/html,x)",
        "[a](&#106;avascript:x)", "![a](file:///etc/passwd)", "[a](//b.example)", "<vbscript:x>"}) {
    EXPECT_THAT(html_of_markdown(hostile, LineEnds::joined), Not(HasSubstr("href"))) << hostile;
  }
  // Nothing is loaded, and links are not nested.
  const std::string image =
      html_of_markdown("[![a](https://b.example/i.png)](https://c.example)", LineEnds::joined);
  EXPECT_THAT(image, Not(HasSubstr("<img")));
  EXPECT_EQ(image.find("<a "), image.rfind("<a "));
}

TEST(ExportHtml, RemovesBidiControls) {
  EXPECT_EQ(html_text("a\xe2\x80\xae"
                      "b\x1b[2J\r\n"),
            "ab\xe2\x90\x9b[2J\n");
  EXPECT_THAT(html_of_markdown("&#x202e;x &rlm;", LineEnds::joined),
              HasSubstr("&amp;#x202e;x &amp;rlm;"));
}

TEST(ExportHtml, ColoursCode) {
  EXPECT_EQ(html_of_code("return \"<\"; // <", "cpp"),
            "<span class=\"k\">return</span> <span class=\"s\">&quot;&lt;&quot;</span>; "
            "<span class=\"c\">// &lt;</span>");
}

// A few kilobytes must not become a page of gigabytes, or one that no browser can open.
TEST(ExportHtml, LimitsTheSizeOfThePage) {
  std::string cells = "|";
  std::string rule = "|";
  for (int i = 0; i < 3000; ++i) {
    cells += "a|";
    rule += "-|";
  }
  std::string table = cells + "\n" + rule + "\n";
  for (int i = 0; i < 3000; ++i) {
    table += "a\n";
  }
  EXPECT_LT(html_of_markdown(table, LineEnds::joined).size(), 10 * table.size());
  const std::string quotes = std::string(5000, '>') + "a";
  EXPECT_THAT(html_of_markdown(quotes, LineEnds::joined), Not(HasSubstr("<blockquote>")));
}

TEST(ExportHtml, EmbedsImages) {
  const auto store = store_with(exported_session(), {});
  const BlobHash png = must(store->capabilities().blobs->put_blob("\x89PNG"));
  Message message{.role = "user"};
  message.blocks = {ImageBlock{"image/png", png, "", {}},
                    ImageBlock{"", {}, "data:image/gif;base64,R0lGODlh", {}},
                    ImageBlock{"image/svg+xml", {}, "data:image/svg+xml;base64,PHN2Zz4=", {}},
                    ImageBlock{"image/png", {}, "https://a.example/i.png", {}}};
  must(store->append(session_id(kExportedId), {message}, {}));
  const std::string page = exported_as("html", *store).text;
  EXPECT_THAT(page, HasSubstr("<img alt=\"image\" src=\"data:image/png;base64,iVBORw==\">"));
  EXPECT_THAT(page, HasSubstr("<img alt=\"image\" src=\"data:image/gif;base64,R0lGODlh\">"));
  EXPECT_THAT(page, Not(HasSubstr("src=\"data:image/svg")));
  EXPECT_THAT(page, HasSubstr("href=\"https://a.example/i.png\""));
  EXPECT_THAT(page, Not(HasSubstr("src=\"https")));
}

}  // namespace
}  // namespace reprise
