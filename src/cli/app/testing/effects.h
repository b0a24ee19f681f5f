#pragma once

// For tests: effects as text.

#include <string>

#include "base/text.h"
#include "cli/app/effect.h"

namespace reprise::cli::app {

inline std::string tab_words(TabId tab) {
  return cat(" tab ", tab.value);
}

inline std::string scope_words(bool all_folders, std::string_view folder) {
  return all_folders ? " all" : cat(" of '", folder, "'");
}

struct EffectWords {
  std::string operator()(const OpenEditor& effect) const {
    return cat("OpenEditor", tab_words(effect.tab), " '", effect.text, "'");
  }
  std::string operator()(const FindNewest&) const { return "FindNewest"; }
  std::string operator()(const OpenNew& effect) const {
    return cat("OpenNew", tab_words(effect.tab), " '", effect.folder, "' '", effect.title, "'");
  }
  std::string operator()(const OpenSession& effect) const {
    return cat("OpenSession", tab_words(effect.tab), " ", effect.sel,
               effect.of_list ? " of the list" : "");
  }
  std::string operator()(const CloseTab& effect) const {
    return cat("CloseTab", tab_words(effect.tab));
  }
  std::string operator()(const Ask& effect) const {
    return cat("Ask", tab_words(effect.tab), " '", effect.text, "'");
  }
  std::string operator()(const AskInstead& effect) const {
    return cat("AskInstead", tab_words(effect.tab), " '", effect.text, "'");
  }
  std::string operator()(const AskAgain& effect) const {
    return cat("AskAgain", tab_words(effect.tab));
  }
  std::string operator()(const ContinueTurn& effect) const {
    return cat("ContinueTurn", tab_words(effect.tab));
  }
  std::string operator()(const Bell&) const { return "Ring"; }
  std::string operator()(const StopTurn& effect) const {
    return cat("StopTurn", tab_words(effect.tab));
  }
  std::string operator()(const RunSlash& effect) const {
    return cat("RunSlash", tab_words(effect.tab), " ", static_cast<int>(effect.slash.verb), " '",
               effect.slash.text, "' ", effect.slash.number.value_or(0));
  }
  std::string operator()(const ListQuestions& effect) const {
    return cat("ListQuestions", tab_words(effect.tab), " ", static_cast<int>(effect.verb));
  }
  std::string operator()(const ListFiles& effect) const {
    return cat("ListFiles", tab_words(effect.tab), " '", effect.prefix, "'");
  }
  std::string operator()(const CheckFile& effect) const {
    return cat("CheckFile", tab_words(effect.tab), " '", effect.file, "'");
  }
  std::string operator()(const CopyText& effect) const {
    return cat("CopyText '", effect.text, "'");
  }
  std::string operator()(const ListModels& effect) const {
    return cat("ListModels", tab_words(effect.tab));
  }
  std::string operator()(const SaveNow& effect) const {
    return cat("SaveNow", tab_words(effect.tab));
  }
  std::string operator()(const LoadOlder& effect) const {
    return cat("LoadOlder", tab_words(effect.tab), " ", effect.count, " before ",
               effect.before.value);
  }
  std::string operator()(const CheckChanges& effect) const {
    return cat("CheckChanges", tab_words(effect.tab));
  }
  std::string operator()(const AnswerConsent& effect) const {
    return cat("AnswerConsent", tab_words(effect.tab), " ", effect.number, " ",
               static_cast<int>(effect.choice));
  }
  std::string operator()(const CloseAll& effect) const {
    return cat("CloseAll", effect.interrupted ? " interrupted" : "");
  }
  std::string operator()(const CancelPending&) const { return "Hurry"; }
  std::string operator()(const Suspend&) const { return "Suspend"; }
  std::string operator()(const Redraw&) const { return "Redraw"; }
  std::string operator()(const LoadPage& effect) const {
    return cat("LoadPage ", effect.generation, scope_words(effect.all_folders, effect.folder), " ",
               effect.limit, " after '", effect.after, "'", effect.trash ? " trash" : "",
               effect.other_tools ? " others" : "");
  }
  std::string operator()(const LoadQuestions& effect) const {
    return cat("LoadQuestions ", effect.generation, " ", effect.ids.size());
  }
  std::string operator()(const LoadPreview& effect) const { return cat("LoadPreview ", effect.id); }
  std::string operator()(const SearchTexts& effect) const {
    return cat("SearchTexts ", effect.generation, scope_words(effect.all_folders, effect.folder),
               " '", effect.words, "'");
  }
  std::string operator()(const TrashStored& effect) const { return cat("TrashStored ", effect.id); }
  std::string operator()(const RestoreStored& effect) const {
    return cat("RestoreStored ", effect.id);
  }
  std::string operator()(const RenameStored& effect) const {
    return cat("RenameStored ", effect.id, " '", effect.title, "'");
  }
  std::string operator()(const EmptyTrash& effect) const {
    return cat("EmptyTrash", scope_words(effect.all_folders, effect.folder));
  }
  std::string operator()(const ListResumable& effect) const {
    return cat("ListResumable", tab_words(effect.tab));
  }
  std::string operator()(const DeleteStored& effect) const {
    return cat("DeleteStored", tab_words(effect.tab), " ", effect.sel);
  }
  std::string operator()(const CountClosed& effect) const {
    return cat("CountClosed", tab_words(effect.tab));
  }
  std::string operator()(const ClearClosed& effect) const {
    return cat("ClearClosed", tab_words(effect.tab));
  }
};

}  // namespace reprise::cli::app
