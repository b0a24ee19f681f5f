#pragma once

// Which title a session gets when the talk in it ends.
//  (1) What a person chose stays.
//  (2) A model is asked once; its title stays as well.
//  (3) Where it cannot be asked, or has no good answer, the first prompt is the title.
//  (4) Interrupted without a title: "Untitled (interrupted)". A later end replaces that.

#include "reprise/sessions.h"

namespace reprise {

struct ClosingTitle {
  std::string_view title;         // what the session has now
  std::string_view first_prompt;  // "" when nothing was asked
  bool answered = false;
  bool interrupted = false;
  // Asks a model for a title; empty when none can be asked.
  std::function<Result<std::string>()> ask = {};
};

// The title to set; nullopt to leave the one there is.
std::optional<std::string> closing_title(const ClosingTitle& facts);

}  // namespace reprise
