#pragma once

// What every exported page has: its style, and what a browser may do with it, which is nothing but
// to show it.

#include <string_view>

namespace reprise::exporting {

// The content of <style>, and the policy that allows it by its SHA-256, and images in the page.
std::string_view page_style();
std::string_view page_policy();

}  // namespace reprise::exporting
