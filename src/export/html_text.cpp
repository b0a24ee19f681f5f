#include "export/html_text.h"

#include <algorithm>
#include <array>

#include "base/markdown.h"
#include "base/terminal_text.h"
#include "base/text.h"

namespace reprise::exporting {
namespace {

std::string_view class_of(CodeToken token) {
  switch (token) {
    case CodeToken::comment:
      return "c";
    case CodeToken::string:
      return "s";
    case CodeToken::number:
      return "n";
    case CodeToken::keyword:
      return "k";
    case CodeToken::other:
      break;
  }
  return "";
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  append_escaped(out, terminal_text(text));
  return out;
}

std::string html_of_code(std::string_view code, std::string_view language) {
  const std::string clean = terminal_text(code);
  std::string out;
  for (std::string_view remaining = clean; !remaining.empty();) {
    const std::size_t end = std::min(remaining.find('\n'), remaining.size());
    for_each_code_token(remaining.substr(0, end), language,
                        [&out](std::string_view text, CodeToken token) {
                          const std::string_view name = class_of(token);
                          if (!name.empty()) {
                            out += cat("<span class=\"", name, "\">");
                          }
                          append_escaped(out, text);
                          out += name.empty() ? "" : "</span>";
                        });
    out += end < remaining.size() ? "\n" : "";
    remaining.remove_prefix(std::min(end + 1, remaining.size()));
  }
  return out;
}

bool is_plain_link(std::string_view target) {
  constexpr auto kSchemes = std::to_array<std::string_view>({"https://", "http://", "mailto:"});
  return std::ranges::any_of(kSchemes, [target](std::string_view scheme) {
    return ascii_lower(target.substr(0, scheme.size())) == scheme;
  });
}

std::string_view page_style() {
  return R"css(
:root{color-scheme:light dark;--text:#1f2328;--back:#fff;--faint:#656d76;--line:#d0d7de;--soft:#f6f8fa;--user:#eef4ff;--accent:#0969da;--error:#cf222e;--c:#6e7781;--s:#0a6b2d;--n:#0550ae;--k:#a626a4}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--back:#0d1117;--faint:#8d96a0;--line:#30363d;--soft:#161b22;--user:#121d2f;--accent:#58a6ff;--error:#ff7b72;--c:#8b949e;--s:#7ee787;--n:#79c0ff;--k:#d2a8ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:56rem;padding:1.5rem 1rem 4rem;background:var(--back);color:var(--text);font:16px/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.25;margin:.2rem 0 .8rem}
a{color:var(--accent)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0 0 1rem;color:var(--faint);font-size:.9rem}
dt{font-weight:600}dd{margin:0}
article{border:1px solid var(--line);border-radius:8px;margin:1rem 0;padding:.3rem 1rem .6rem}
article.user{background:var(--user)}
article:target{outline:2px solid var(--accent)}
article>header{display:flex;flex-wrap:wrap;gap:.2rem .9rem;align-items:baseline;color:var(--faint);font-size:.85rem;padding:.2rem 0}
article>header b{color:var(--text);text-transform:capitalize;font-size:.95rem}
article>header a{color:inherit;text-decoration:none;margin-left:auto}
.cut{color:var(--error)}
p,ul,ol,blockquote,table,pre{margin:.5rem 0}
blockquote{border-left:3px solid var(--line);padding-left:.8rem;color:var(--faint)}
code{font:.875em/1.45 ui-monospace,monospace;background:var(--soft);border-radius:4px;padding:.1em .3em}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.6rem .8rem;overflow:auto;white-space:pre-wrap;font:.85rem/1.45 ui-monospace,monospace;tab-size:4}
pre code{background:none;padding:0;font:inherit}
pre.text{background:none;border:0;padding:0;font:inherit}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.2rem .7rem}
details>summary{cursor:pointer;color:var(--faint);font-size:.9rem}
details.error>summary{color:var(--error)}
table{border-collapse:collapse;display:block;overflow-x:auto}
th,td{border:1px solid var(--line);padding:.25rem .6rem;text-align:left}
.r{text-align:right}.m{text-align:center}
img{max-width:100%;border-radius:6px}
hr{border:0;border-top:1px solid var(--line)}
footer{color:var(--faint);font-size:.9rem}
.c{color:var(--c);font-style:italic}.s{color:var(--s)}.n{color:var(--n)}.k{color:var(--k)}
@media print{body{max-width:none}article{break-inside:avoid-page}}
)css";
}

std::string_view page_policy() {
  return "default-src 'none'; style-src 'sha256-ABVD1x7lNPst1f9dJ3bhUNN2HlDX50rl5RVEWxtv4jg='; "
         "img-src data:; base-uri 'none'; "
         "form-action 'none'";
}

}  // namespace reprise::exporting
