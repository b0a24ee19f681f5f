// A self-contained page without scripts or external resources.

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "base/json_write.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "export/cited_sources.h"
#include "export/content.h"
#include "export/formats.h"
#include "export/html_text.h"
#include "model/attachment.h"
#include "model/known_time.h"
#include "store/usage_sum.h"

namespace reprise::exporting {
namespace {

// Other types may contain scripts or lack browser support.
constexpr auto kShownImages =
    std::to_array<std::string_view>({"image/png", "image/jpeg", "image/gif", "image/webp"});

std::string line_of(std::string_view text) {
  return html_text(terminal_line(text));
}

std::string detail(std::string_view name, std::string_view value) {
  return value.empty() ? "" : cat("<dt>", name, "</dt><dd>", line_of(value), "</dd>\n");
}

// With a resolution of seconds.
std::string time_text(Time time) {
  std::string text = format_time(std::chrono::floor<std::chrono::seconds>(time));
  text[text.find('T')] = ' ';
  text.replace(text.find('Z'), 1, " UTC");
  return text;
}

std::string time_tag(Time time) {
  return cat("<time datetime=\"", format_time(time), "\">", time_text(time), "</time>");
}

std::string tokens_text(const Usage& usage) {
  return cat("tokens: ", usage.input.value, " in, ", usage.output.value, " out",
             usage.cached.value > 0 ? cat(", ", usage.cached.value, " cached") : "",
             usage.cost ? cat(", $", usage.cost->str()) : "");
}

std::string details(std::string_view name, std::string_view summary, std::string_view content) {
  return cat("<details class=\"", name, "\"><summary>", summary, "</summary>\n", content,
             "</details>\n");
}

std::string preformatted(std::string_view text, std::string_view language) {
  return cat("<pre><code>", html_of_code(text, language), "</code></pre>\n");
}

std::string pretty_json(const RawJson& json) {
  return json::pretty(json.text()).value_or(json.text());
}

// The CSS class for a role.
std::string_view class_of(std::string_view role) {
  return role == role::kUser ? "user" : (role == role::kAssistant ? "assistant" : "other");
}

class HtmlWriter final : public Writer {
 public:
  explicit HtmlWriter(Job& job) : job_(job) {}

  Result<> begin() override {
    const Session& session = job_.session;
    const SessionInfo& info = session.info;
    const std::string title = line_of(info.title.empty() ? "(no title)" : info.title);
    std::string out =
        cat("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"",
            page_policy(),
            "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
            title, "</title>\n<style>", page_style(), "</style>\n</head>\n<body>\n<h1>", title,
            "</h1>\n<dl>\n");
    out +=
        detail("model", info.model.empty() ? info.provider : cat(info.provider, ", ", info.model));
    out += detail("mode", info.mode);
    out += detail("folder", info.working_dir);
    out += detail("started", is_known(info.created_at) ? time_text(info.created_at) : "");
    out += detail("last active", is_known(info.updated_at) ? time_text(info.updated_at) : "");
    out += detail("id", info.id.str());
    if (info.forked_from) {
      out += detail("forked from",
                    cat(info.forked_from->session.str(), " at ", info.forked_from->at.value));
    }
    out += "</dl>\n";
    if (!session.system_prompt.empty()) {
      out += details("system", "system prompt",
                     html_of_markdown(session.system_prompt, LineEnds::shown));
    }
    return job_.output.write(out);
  }

  Result<> message(const Message& message) override {
    REPRISE_TRY(job_.output.write(head_of(message)));
    for (const Block& block : message.blocks) {
      REPRISE_ASSIGN(const std::string html, block_html(block, message));
      REPRISE_TRY(job_.output.write(html));
    }
    REPRISE_TRY(job_.output.write(sources_html(message)));
    if (!message.model.empty() && message.usage) {
      store::count_usage(models_[message.model], counted_, message);
    }
    return job_.output.write("</article>\n");
  }

  Result<> end() override {
    std::string out;
    if (!models_.empty()) {
      out = "<footer>\n<table>\n<tr><th>model</th><th>usage</th></tr>\n";
      for (const auto& [model, usage] : models_) {
        out += cat("<tr><td>", line_of(model), "</td><td>", tokens_text(usage), "</td></tr>\n");
      }
      out += "</table>\n</footer>\n";
    }
    return job_.output.write(cat(out, "</body>\n</html>\n"));
  }

 private:
  static std::string head_of(const Message& message) {
    std::string out =
        cat("<article id=\"m", message.seq.value, "\" class=\"", class_of(message.role),
            "\">\n<header><b>", line_of(message.role), "</b>");
    if (message.author) {
      out += cat(" <span>", line_of(message.author->str()), "</span>");
    }
    if (!message.model.empty()) {
      out += cat(" <span>", line_of(message.model), "</span>");
    }
    if (is_known(message.created_at)) {
      out += cat(" ", time_tag(message.created_at));
    }
    if (message.usage) {
      out += cat(" <span>", tokens_text(*message.usage), "</span>");
    }
    if (message.state == MessageState::incomplete) {
      out += " <span class=\"cut\">incomplete</span>";
    }
    if (is_injected(message)) {
      out += " <span>injected</span>";
    }
    return out +
           cat(" <a href=\"#m", message.seq.value, "\">#", message.seq.value, "</a></header>\n");
  }

  static std::string sources_html(const Message& message) {
    std::string items;
    for (const CitedSource& source : cited_sources(message)) {
      const std::string name = line_of(source.title.empty() ? source.url : source.title);
      items += is_plain_link(source.url) ? cat("<li><a rel=\"noreferrer noopener\" href=\"",
                                               line_of(source.url), "\">", name, "</a></li>\n")
                                         : cat("<li>", html_text(source_line(source)), "</li>\n");
    }
    return items.empty() ? "" : cat("<p>Sources</p>\n<ol>\n", items, "</ol>\n");
  }

  Result<std::string> block_html(const Block& block, const Message& message) {
    if (const auto* result = std::get_if<ToolResultBlock>(&block); result != nullptr) {
      return result_html(*result);
    }
    if (const auto* image = std::get_if<ImageBlock>(&block); image != nullptr) {
      return image_html(*image);
    }
    if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
      return details("call", cat("call of <code>", line_of(call->name), "</code>"),
                     preformatted(pretty_json(call->input), "json"));
    }
    if (const auto* thinking = std::get_if<ThinkingBlock>(&block); thinking != nullptr) {
      return details("thinking", "thinking", html_of_markdown(thinking->text, LineEnds::joined));
    }
    if (const auto* unknown = std::get_if<UnknownBlock>(&block); unknown != nullptr) {
      return details("unknown", cat("a block of type ", line_of(unknown->type)),
                     preformatted(pretty_json(unknown->json), "json"));
    }
    return html_of_markdown(std::get<TextBlock>(block).text,
                            message.role == role::kAssistant ? LineEnds::joined : LineEnds::shown);
  }

  Result<std::string> result_html(const ToolResultBlock& result) {
    REPRISE_ASSIGN(const std::string text, full_text(job_, result));
    const auto lines = std::ranges::count(text, '\n') + (text.ends_with('\n') ? 0 : 1);
    return details(
        result.is_error ? "result error" : "result",
        cat(result.is_error ? "error, " : "result, ", counted(text.empty() ? 0 : lines, "line")),
        preformatted(text, ""));
  }

  Result<std::string> image_html(const ImageBlock& image) {
    REPRISE_ASSIGN(const std::optional<Media> media, read_media(job_, image));
    if (!media) {
      return "<p>(an image that cannot be read)</p>\n";
    }
    if (media->base64.empty()) {
      return is_plain_link(media->url)
                 ? cat("<p><a rel=\"noreferrer noopener\" href=\"", line_of(media->url), "\">",
                       line_of(media->url), "</a></p>\n")
                 : cat("<p>", line_of(media->url), "</p>\n");
    }
    if (std::ranges::find(kShownImages, media->type) != kShownImages.end()) {
      return cat("<p><img alt=\"image\" src=\"", media->data_url(), "\"></p>\n");
    }
    const std::string name =
        media->name.empty() ? cat("file.", ending_of(media->type)) : media->name;
    return cat("<p><a download=\"", line_of(name), "\" href=\"", media->data_url(), "\">",
               line_of(name), "</a></p>\n");
  }

  Job& job_;
  std::map<std::string, Usage> models_;
  store::CountedRequests counted_;
};

}  // namespace

std::unique_ptr<Writer> make_html(Job& job) {
  return std::make_unique<HtmlWriter>(job);
}

}  // namespace reprise::exporting
