#include "base/json_scan.h"
#include "base/text.h"
#include "source/gemini/gemini.h"

namespace reprise::source::gemini {
namespace {

// Calls each(part) for each part; a string counts as a part.
template <class Each>
void each_part(JsonView content, const Each& each) {
  if (content.is(json::Kind::array)) {
    content.each(each);
  } else if (content) {
    each(content);
  }
}

// Accepts {"output":…}, {"error":…}, or anything else.
void add_response(std::string_view tool, JsonView call, std::vector<Block>& blocks) {
  const JsonView response = call["response"];
  const JsonView error = response["error"];
  const JsonView output = error ? error : response["output"];
  blocks.emplace_back(
      tool_result(call["id"].text(),
                  output.is(json::Kind::string) ? output.text()
                                                : std::string((output ? output : response).raw()),
                  static_cast<bool>(error), extra_without(tool, call, {"id", "response"})));
}

void add_part(std::string_view tool, JsonView part, std::vector<Block>& blocks) {
  const JsonView call = part["functionCall"];
  const JsonView data = part["inlineData"];
  if (part.is(json::Kind::string)) {
    blocks.emplace_back(TextBlock{part.text(), {}});
  } else if (is_true(part["thought"])) {
    blocks.emplace_back(
        ThinkingBlock{part["text"].text(), part["thoughtSignature"].text(),
                      extra_without(tool, part, {"text", "thought", "thoughtSignature"})});
  } else if (part["text"].is(json::Kind::string)) {
    blocks.emplace_back(TextBlock{part["text"].text(), extra_without(tool, part, {"text"})});
  } else if (call) {
    blocks.emplace_back(ToolUseBlock{call["id"].text(), call["name"].text(), raw_of(call["args"]),
                                     extra_without(tool, part, {"functionCall"})});
  } else if (part["functionResponse"]) {
    add_response(tool, part["functionResponse"], blocks);
  } else if (data) {
    blocks.emplace_back(image_of(data["mimeType"].text(), data["data"].text()));
  } else {
    blocks.push_back(unknown_block(part));
  }
}

}  // namespace

void add_content(std::string_view tool, JsonView content, std::vector<Block>& blocks) {
  each_part(content, [&](JsonView part) { add_part(tool, part, blocks); });
}

std::string text_of(JsonView content) {
  std::string text;
  each_part(content, [&](JsonView part) {
    const std::string piece = part.is(json::Kind::string) ? part.text()
                              : is_true(part["thought"])  ? ""
                                                          : part["text"].text();
    text += cat(text.empty() || piece.empty() ? "" : "\n", piece);
  });
  return text;
}

std::vector<std::string> result_ids(JsonView content) {
  std::vector<std::string> ids;
  bool has_else = false;
  each_part(content, [&](JsonView part) {
    if (part["functionResponse"]) {
      ids.push_back(part["functionResponse"]["id"].text());
    } else {
      has_else = true;
    }
  });
  return has_else ? std::vector<std::string>() : ids;
}

}  // namespace reprise::source::gemini
