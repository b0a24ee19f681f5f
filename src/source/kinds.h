#pragma once

// What each tool's folder provides for the table of kinds in open.cpp: recognising its history at a
// location by content, and opening it.

#include <array>   // IWYU pragma: export
#include <memory>  // IWYU pragma: export

#include "reprise/open_source.h"
#include "reprise/open_store.h"  // IWYU pragma: export

namespace reprise::source {

using Recognise = Result<bool>(const std::filesystem::path& location);
using Open = Result<std::unique_ptr<Source>>(const std::filesystem::path& location,
                                             const StoreOptions& options);

// aichat's sessions/<name>.yaml, and messages.md for turns outside of sessions: its folder, its
// sessions folder, or one file.
Recognise is_aichat;
Open open_aichat;
// ChatGPT's data export: a zip with conversations.json, which is an array of trees, and the files
// that belong to them; the folder it was unpacked into, or the JSON file.
Recognise is_chatgpt;
Open open_chatgpt;
// Claude Code's projects/<folder>/<session>.jsonl, a tree of lines: its folder, its projects
// folder, a project's folder, or one file.
Recognise is_claude;
Open open_claude;
// The data export of claude.ai: conversations.json, an array; the zip, its folder, or the JSON
// file.
Recognise is_claude_export;
Open open_claude_export;
// sessions/<time>_<id>/<id>.messages.json, with metadata in <id>.json: Cline's folder, its sessions
// folder, or one file of messages.
Recognise is_cline;
Open open_cline;
// sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl, a log; after a fork or a revert, it refers to
// a position in another file: Codex's folder, the one with the sessions, or one file.
Recognise is_codex;
Open open_codex;
// sessions/<id>.json: Continue's folder, its sessions folder, or one file.
Recognise is_continue;
Open open_continue;
// Copilot CLI's session-state/<session>/events.jsonl, which includes the events of sub-agents: its
// folder, the one with the sessions, a session's, or one file.
Recognise is_copilot;
Open open_copilot;
// A database in each project's folder, .crush/crush.db: a project's folder, its .crush, the
// database, or the folder with the list of all projects.
Recognise is_crush;
Open open_crush;
// Those of all projects in the list.
std::vector<std::filesystem::path> crush_databases(const std::filesystem::path& location);
// Sessions exported in the format json: one file, or a folder of them. Their ids are unchanged.
Recognise is_exported;
Open open_exported;
// Gemini CLI's tmp/<project>/chats/session-<time>-<id>.jsonl, a log that adds, replaces and rewinds
// messages; older sessions are one JSON object in a .json file: its folder, a subfolder, or one
// file.
Recognise is_gemini;
Open open_gemini;
// sessions.db; before 1.10, a JSONL file per session: goose's sessions folder, the database, or one
// JSONL file.
Recognise is_goose;
Open open_goose;
// Exports of the llama.cpp server's web page: conversations as lines, and a zip of such files;
// before June 2026, one conversation as a tree, or an array of them.
Recognise is_llamacpp;
Open open_llamacpp;
// logs.db: conversations made of responses and, since 0.32, threads of messages: llm's folder, or
// the database.
Recognise is_llm;
Open open_llm;
// A database, in older versions JSON files, or a file of `opencode export`: the tool's data folder,
// its database, or an export. Kilo is a fork of opencode.
Recognise is_opencode, is_kilo;
Open open_opencode;
// sessions/<folder>/<time>_<id>.jsonl, a tree of entries: pi's folder, the one with the sessions,
// or one file.
Recognise is_pi;
Open open_pi;
// Qwen Code's projects/<folder>/chats/<session>.jsonl, a tree of lines with Gemini's content: its
// folder, a subfolder, or one file.
Recognise is_qwen;
Open open_qwen;

}  // namespace reprise::source
