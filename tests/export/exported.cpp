#include "export/exported.h"

#include "support/build.h"
#include "support/must.h"

namespace reprise::test {

Result<std::string> MemoryOutput::add_file(std::string_view name,
                                           const std::function<Result<>(const Piece&)>& fill) {
  std::string bytes;
  REPRISE_TRY(fill([&bytes](std::string_view piece) -> Result<> {
    bytes += piece;
    return {};
  }));
  files.emplace_back(name, bytes);
  return "files/" + std::string(name);
}

std::unique_ptr<Store> store_with(const Session& session, std::vector<Message> messages) {
  auto store = open_memory_store();
  must(store->create(session));
  if (!messages.empty()) {
    must(store->append(session.info.id, std::move(messages), {}));
  }
  return store;
}

Session exported_session() {
  Session out = session(kExportedId);
  out.info.title = "Release notes";
  out.info.provider = "openai-responses";
  out.info.model = "gpt-5.5";
  out.info.working_dir = "/home/a/project";
  out.system_prompt = "Be brief.";
  return out;
}

ExportedText exported_as(std::string_view format, Source& source, std::string_view id) {
  MemoryOutput output;
  ExportResult exported =
      must(export_session(source, session_id(id), *find_export_format(format), output));
  return {std::move(output.text), std::move(exported)};
}

ExportedText exported_as(std::string_view format, std::vector<Message> messages) {
  const auto store = store_with(exported_session(), std::move(messages));
  return exported_as(format, *store);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<Message> exchange_with_tools() {
  Message calls = assistant("I look.", at(2));
  calls.provider = "openai-responses";
  calls.model = "gpt-5.5";
  calls.usage = usage("req-1", 100, 20);
  calls.blocks.insert(calls.blocks.begin(), ThinkingBlock{"Which files?", "sig", {}});
  calls.blocks.emplace_back(ToolUseBlock{"call_1", "read_file", raw(R"({"path":"a.txt"})"), {}});
  calls.blocks.emplace_back(ToolUseBlock{"call_2", "list_files", raw("{}"), {}});
  Message results{.role = "tool", .created_at = at(3)};
  results.blocks.emplace_back(
      ToolResultBlock{.tool_use_id = "call_1", .text = "hello", .blob = {}, .extra = {}});
  results.blocks.emplace_back(ToolResultBlock{.tool_use_id = "call_2",
                                              .text = "no such folder",
                                              .is_error = true,
                                              .blob = {},
                                              .extra = {}});
  Message answer = assistant("Done.", at(4));
  answer.provider = "openai-responses";
  answer.model = "gpt-5.5";
  answer.usage = usage("req-2", 150, 5);
  return {user("Read a.txt", at(1)), calls, results, answer};
}

}  // namespace reprise::test
