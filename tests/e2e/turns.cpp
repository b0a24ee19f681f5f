#include "e2e/turns.h"

#include "base/text.h"
#include "reprise/tool.h"

namespace reprise::e2e {
namespace {

// SplitMix64: a random order of the kinds, determined by the seed.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

Tool tool(std::string_view name, ToolFunction run) {
  Tool out;
  out.spec.name = name;
  out.spec.description = "A tool of the test.";
  out.spec.parameters = *RawJson::parse(R"({"type":"object","properties":{}})");
  out.run = std::move(run);
  return out;
}

void must_add(ToolRegistry& registry, Tool tool) {
  (void)registry.add(std::move(tool));  // the names are valid and distinct
}

}  // namespace

std::string question(std::uint64_t seed, std::int64_t index) {
  const std::string number = cat("turn ", index, ": ");
  switch (mixed(seed * 1'000'003U + static_cast<std::uint64_t>(index)) % 10) {
    case 0:
      return number + "hello";
    case 1:
      return number + "think about it";
    case 2:
      return cat(number, R"(call:add {"a":)", index, R"(,"b":2.50} call:add {"ä":"漢"})");
    case 3:
      return cat(number, R"(rounds:2 call:add {"a":)", index, "}");
    case 4:
      return number + "preface think call:fail {} call:add {}";
    case 5:
      return number + "[slow] long:60";
    case 6:
      return number + "[cut] long:20";
    case 7:
      return number + "[busy] hello";
    case 8:
      return number + "[expired] call:big {}";
    default:
      return number + "[drop] \"odd\\ text\"\n\xE2\x80\xA8 e\xCC\x81 \x1B[31m 🙂";
  }
}

std::vector<std::string_view> script() {
  return {"text [slow] => slow=5", "text [cut] => cut=6", "text [busy] => 429=0,every=2",
          "text [expired] => expired", "text [drop] => drop,every=2"};
}

void add_tools(ToolRegistry& registry) {
  must_add(registry, tool("add", [](const ToolContext&, const RawJson& input) {
             return Result<ToolOutput>(ToolOutput{cat("added ", input.text())});
           }));
  must_add(registry, tool("fail", [](const ToolContext&, const RawJson&) {
             return Result<ToolOutput>(fail(Code::not_found, "there is nothing here"));
           }));
  must_add(registry, tool("big", [](const ToolContext&, const RawJson&) {
             return Result<ToolOutput>(ToolOutput{std::string(6000, 'x') + "\xFF\xED\xA0\x80"});
           }));
}

}  // namespace reprise::e2e
