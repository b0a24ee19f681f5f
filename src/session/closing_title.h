#pragma once

// The title of a session whose conversation ends.
//  (1) A title chosen by the user is kept.
//  (2) A model is asked once; its title is kept, too.
//  (3) If it cannot be asked, or has no useful answer, the title is made from the first prompt.
//  (4) Interrupted without a title: "Untitled (interrupted)", which a later end replaces.

#include "reprise/sessions.h"

namespace reprise {

struct ClosingTitle {
  std::string_view title;         // the session's current title
  std::string_view first_prompt;  // "" when nothing was asked
  bool answered = false;
  bool interrupted = false;
  // Asks a model for a title; empty if there is no model.
  std::function<Result<std::string>()> ask = {};
};

// The title to set; nullopt to keep the current one.
std::optional<std::string> closing_title(const ClosingTitle& closing);

}  // namespace reprise
