// Converts Markdown to HTML with md4c.

#include <md4c.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/markdown.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "export/html_text.h"

namespace reprise::exporting {
namespace {

// A few kilobytes of text can expand to a table of a billion cells, or nest a thousand quotes.
constexpr std::size_t kCellsMax = 20'000;
constexpr std::size_t kDepthMax = 100;

std::string_view text_of(const MD_ATTRIBUTE& attribute) {
  return {attribute.text == nullptr ? "" : attribute.text, attribute.size};
}

// Handles md4c's events and builds HTML.
class MarkdownHtml {
 public:
  explicit MarkdownHtml(LineEnds line_ends) : line_ends_(line_ends) {}

  // False aborts parsing: the output is too large or too deeply nested.
  bool enter(MD_BLOCKTYPE type, const void* detail) {
    ++depth_;
    cells_ += type == MD_BLOCK_TD || type == MD_BLOCK_TH ? 1 : 0;
    if (type == MD_BLOCK_CODE) {
      language_ = text_of(static_cast<const MD_BLOCK_CODE_DETAIL*>(detail)->lang);
      code_.emplace();
    } else if (type == MD_BLOCK_HR) {
      out_ += "<hr>\n";
    } else if (const std::string tag = tag_of(type, detail); !tag.empty()) {
      out_ += cat("<", tag, attributes_of(type, detail), ">");
      out_ += task_mark(type, detail);
    }
    return depth_ <= kDepthMax && cells_ <= kCellsMax;
  }

  void leave(MD_BLOCKTYPE type, const void* detail) {
    --depth_;
    if (type == MD_BLOCK_CODE) {
      out_ += cat("<pre><code>", html_of_code(code_.value_or(""), language_), "</code></pre>\n");
      code_.reset();
    } else if (const std::string tag = tag_of(type, detail); !tag.empty()) {
      out_ += cat("</", tag, ">\n");
    }
  }

  bool enter(MD_SPANTYPE type, const void* detail) {
    ++depth_;
    if (type == MD_SPAN_A || type == MD_SPAN_IMG) {
      const MD_ATTRIBUTE& target = type == MD_SPAN_A
                                       ? static_cast<const MD_SPAN_A_DETAIL*>(detail)->href
                                       : static_cast<const MD_SPAN_IMG_DETAIL*>(detail)->src;
      // Links do not nest. An entity in the scheme makes it no link.
      const bool is_link = links_ == 0 && is_plain_link(text_of(target));
      is_link_.push_back(is_link);
      links_ += is_link ? 1 : 0;
      if (is_link) {
        out_ += cat("<a rel=\"noreferrer noopener\" href=\"", html_of(target), "\">");
      }
    } else {
      out_ += cat("<", tag_of(type), ">");
    }
    return depth_ <= kDepthMax;
  }

  void leave(MD_SPANTYPE type, const void* /*detail*/) {
    --depth_;
    if (type == MD_SPAN_A || type == MD_SPAN_IMG) {
      if (is_link_.back()) {
        out_ += "</a>";
        --links_;
      }
      is_link_.pop_back();
    } else {
      out_ += cat("</", tag_of(type), ">");
    }
  }

  void text(MD_TEXTTYPE type, std::string_view text) {
    if (code_) {
      *code_ += text;
    } else if (type == MD_TEXT_BR || (type == MD_TEXT_SOFTBR && line_ends_ == LineEnds::shown)) {
      out_ += "<br>\n";
    } else if (type == MD_TEXT_SOFTBR) {
      out_ += '\n';
    } else if (type == MD_TEXT_NULLCHAR) {
      out_ += "\xEF\xBF\xBD";
    } else if (type == MD_TEXT_ENTITY && is_named_entity(text)) {
      out_ += text;
    } else {
      out_ += html_text(text);
    }
  }

  std::string finish() { return std::move(out_); }

 private:
  static std::string html_of(const MD_ATTRIBUTE& attribute) {
    std::string out;
    const std::string_view text = text_of(attribute);
    for (std::size_t i = 0; i < text.size() && attribute.substr_offsets[i] < attribute.size; ++i) {
      const std::size_t begin = attribute.substr_offsets[i];
      const std::string_view part = text.substr(begin, attribute.substr_offsets[i + 1] - begin);
      const bool is_entity = attribute.substr_types[i] == MD_TEXT_ENTITY && is_named_entity(part);
      out += is_entity ? std::string(part) : html_text(terminal_line(part));
    }
    return out;
  }

  // "&amp;". Numeric entities may encode any character and are escaped instead.
  static bool is_named_entity(std::string_view text) {
    return text.size() < 12 && text != "&lrm;" && text != "&rlm;" && !text.contains('#');
  }

  static std::string tag_of(MD_BLOCKTYPE type, const void* detail) {
    switch (type) {
      case MD_BLOCK_QUOTE:
        return "blockquote";
      case MD_BLOCK_UL:
        return "ul";
      case MD_BLOCK_OL:
        return "ol";
      case MD_BLOCK_LI:
        return "li";
      case MD_BLOCK_H:
        return cat("h", static_cast<const MD_BLOCK_H_DETAIL*>(detail)->level);
      case MD_BLOCK_P:
        return "p";
      case MD_BLOCK_TABLE:
        return "table";
      case MD_BLOCK_THEAD:
        return "thead";
      case MD_BLOCK_TBODY:
        return "tbody";
      case MD_BLOCK_TR:
        return "tr";
      case MD_BLOCK_TH:
        return "th";
      case MD_BLOCK_TD:
        return "td";
      default:
        return "";
    }
  }

  static std::string attributes_of(MD_BLOCKTYPE type, const void* detail) {
    if (type == MD_BLOCK_OL) {
      return cat(" start=\"", static_cast<const MD_BLOCK_OL_DETAIL*>(detail)->start, "\"");
    }
    if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
      const MD_ALIGN align = static_cast<const MD_BLOCK_TD_DETAIL*>(detail)->align;
      return align == MD_ALIGN_RIGHT    ? " class=\"r\""
             : align == MD_ALIGN_CENTER ? " class=\"m\""
                                        : "";
    }
    return "";
  }

  static std::string_view task_mark(MD_BLOCKTYPE type, const void* detail) {
    if (type != MD_BLOCK_LI || static_cast<const MD_BLOCK_LI_DETAIL*>(detail)->is_task == 0) {
      return "";
    }
    return static_cast<const MD_BLOCK_LI_DETAIL*>(detail)->task_mark == ' ' ? "☐ " : "☑ ";
  }

  static std::string_view tag_of(MD_SPANTYPE type) {
    switch (type) {
      case MD_SPAN_EM:
        return "em";
      case MD_SPAN_STRONG:
        return "strong";
      case MD_SPAN_CODE:
        return "code";
      case MD_SPAN_DEL:
        return "del";
      default:
        return "span";
    }
  }

  LineEnds line_ends_;
  std::string out_;
  std::size_t depth_ = 0;
  std::size_t cells_ = 0;
  std::vector<bool> is_link_;  // for each open link or image
  int links_ = 0;
  std::optional<std::string> code_;
  std::string language_;
};

std::string as_plain_text(std::string_view text) {
  return cat("<pre class=\"text\">", html_text(text), "</pre>\n");
}

}  // namespace

std::string html_of_markdown(std::string_view text, LineEnds line_ends) {
  const auto library = markdown_library();
  if (!library || text.size() > std::numeric_limits<MD_SIZE>::max() / 8) {
    return as_plain_text(text);
  }
  const std::string safe = terminal_text(text);
  MarkdownHtml html(line_ends);
  const MD_PARSER parser = markdown_parser<MarkdownHtml>();
  if ((*library)->parse(safe.data(), static_cast<MD_SIZE>(safe.size()), &parser, &html) != 0) {
    return as_plain_text(text);
  }
  return html.finish();
}

}  // namespace reprise::exporting
