#pragma once

// What each tool's folder gives to the table of kinds in open.cpp: whether its history is at a
// place, told by the content there, and that history.

#include "reprise/open_source.h"

namespace reprise::source {

using Recognise = Result<bool>(const std::filesystem::path& place);
using Open = Result<std::unique_ptr<Source>>(const std::filesystem::path& place,
                                             const StoreOptions& options);

// aichat's sessions/<name>.yaml, and messages.md for what was asked without a session: its folder,
// the one of the sessions, or one file.
Recognise is_aichat;
Open open_aichat;
// What ChatGPT sends to those who ask for their data: a zip with conversations.json, which is an
// array of trees, and the files that belong to them; its folder, or the JSON file.
Recognise is_chatgpt;
Open open_chatgpt;
// Claude Code's projects/<folder>/<session>.jsonl, a tree of lines: its folder, the one with the
// projects, a project's, or one file.
Recognise is_claude;
Open open_claude;
// What claude.ai sends to those who ask for their data: conversations.json, an array; the zip, its
// folder, or the JSON file.
Recognise is_claude_export;
Open open_claude_export;
// sessions/<time>_<id>/<id>.messages.json, and <id>.json about it: Cline's folder, the one of the
// sessions, or one file of messages.
Recognise is_cline;
Open open_cline;
// sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl, one line after another, where a fork or a
// revert points to where it goes on from, in another file: Codex's folder, the one with the
// sessions, or one file.
Recognise is_codex;
Open open_codex;
// sessions/<id>.json: Continue's folder, the one of the sessions, or one file.
Recognise is_continue;
Open open_continue;
// Copilot CLI's session-state/<session>/events.jsonl, which has the events of its sub-agents, too:
// its folder, the one with the sessions, a session's, or one file.
Recognise is_copilot;
Open open_copilot;
// A database in each project's folder, .crush/crush.db: a project's folder, its .crush, the
// database, or the folder with the list of all projects.
Recognise is_crush;
Open open_crush;
// Sessions that were exported in the format json: one file, or a folder of them. Their ids are our
// own, and stay.
Recognise is_exported;
Open open_exported;
// Gemini CLI's tmp/<project>/chats/session-<time>-<id>.jsonl, lines that add messages, set them
// anew and take them back; older ones are one JSON object in a .json file: its folder, one below
// it, or one file.
Recognise is_gemini;
Open open_gemini;
// sessions.db; before 1.10 a JSONL file for each session: the folder of goose's sessions, the
// database, or one JSONL file.
Recognise is_goose;
Open open_goose;
// What the web page of llama.cpp's server exports: one conversation as a tree, or an array of them.
Recognise is_llamacpp;
Open open_llamacpp;
// logs.db: conversations of responses, and since 0.32 threads of messages: llm's folder, or the
// database.
Recognise is_llm;
Open open_llm;
// Rows of a database, in older versions JSON files, and files of `opencode export`: the tool's data
// folder, its database, or an export. Kilo is made of opencode.
Recognise is_opencode, is_kilo;
Open open_opencode;
// sessions/<folder>/<time>_<id>.jsonl, a tree of entries: pi's folder, the one with the sessions,
// or one file.
Recognise is_pi;
Open open_pi;
// Qwen Code's projects/<folder>/chats/<session>.jsonl, a tree of lines with Gemini's content: its
// folder, one below it, or one file.
Recognise is_qwen;
Open open_qwen;

}  // namespace reprise::source
