
CREATE TABLE skill_state (name TEXT PRIMARY KEY, version TEXT NOT NULL);
INSERT INTO skill_state VALUES('s', '1');
CREATE TABLE sessions (
  id            TEXT PRIMARY KEY,
  title         TEXT NOT NULL DEFAULT '',
  model         TEXT NOT NULL,
  working_dir   TEXT NOT NULL DEFAULT '',
  system_prompt TEXT NOT NULL DEFAULT '',
  created_at    DATETIME NOT NULL DEFAULT (datetime('now')),
  updated_at    DATETIME NOT NULL DEFAULT (datetime('now')),
  token_count   INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE messages (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  seq        INTEGER NOT NULL,
  role       TEXT NOT NULL,
  content    TEXT NOT NULL,
  created_at DATETIME NOT NULL DEFAULT (datetime('now')),
  UNIQUE(session_id, seq)
);
CREATE INDEX idx_messages_session ON messages(session_id, seq);

ALTER TABLE sessions ADD COLUMN forked_from TEXT NOT NULL DEFAULT '';
CREATE TABLE tool_result_blobs (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, tool_name TEXT,
  content TEXT, byte_size INTEGER, created_at DATETIME);
CREATE TABLE session_snapshots (session_id TEXT PRIMARY KEY, messages TEXT NOT NULL,
  token_count INTEGER, created_at DATETIME);
INSERT INTO sessions(id, title, model, working_dir, system_prompt, created_at, updated_at)
VALUES ('s-1', 'First', 'm', '/work', 'Be kind.', '2026-01-18 20:00:00', '2026-01-18 20:00:05'),
       ('s-2', 'Later', 'm', '/other', '', '2026-01-18 21:00:00', '2026-01-18 21:00:00'),
       ('s-3', '', 'm', '', '', 1768770000, '2026-01-18T22:30:00.25+01:00');
INSERT INTO messages(session_id, seq, role, content, created_at) VALUES
 ('s-1', 0, 'user', '[{"type":"text","text":"Hello!"}]', '2026-01-18 20:00:01'),
 ('s-1', 1, 'assistant', '[{"type":"thinking","text":"a \u003c b"},{"type":"tool_use","id":"t",'
   || '"name":"file","input":{"n":1.0,"big":12345678901234567890}}]', '2026-01-18T20:00:02Z'),
 ('s-1', 2, 'user', '[{"type":"tool_result","text":"exit status 1","tool_use_id":"t",'
   || '"is_error":true}]', 1768766403),
 ('s-1', 3, 'critic', 'null', '2026-01-18 20:00:05.5'),
 ('s-1', 7, 'user', CAST('[{"type":"text","text":"blob"}]' AS BLOB), '2026-01-18 20:00:09'),
 ('s-2', 0, 'user', '[{"type":"image","source":{"x":1.50},"cache_control":{}}]',
   '2026-01-18 20:00:10');
UPDATE sessions SET forked_from = 's-1' WHERE id = 's-2';
INSERT INTO session_snapshots VALUES('s-1', '[]', 3, '2026-01-18 23:00:00');
