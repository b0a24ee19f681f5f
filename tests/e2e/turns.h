#pragma once

// The conversation of the driver and the test, which both must know its questions.

#include "reprise/tool.h"

namespace reprise::e2e {

// The question of turn `index`, of one of ten kinds in an order determined by the seed.
std::string question(std::uint64_t seed, std::int64_t index);

// The script of the test server for the questions.
std::vector<std::string_view> script();

// The tools that the questions make the model call: add, fail and big.
void add_tools(ToolRegistry& registry);

}  // namespace reprise::e2e
