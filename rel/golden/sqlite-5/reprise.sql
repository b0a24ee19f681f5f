PRAGMA application_id=1380995667;
PRAGMA user_version=5;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE sessions(id TEXT PRIMARY KEY,title TEXT NOT NULL DEFAULT '',model TEXT NOT NULL,working_dir TEXT NOT NULL DEFAULT '',created_at DATETIME NOT NULL DEFAULT (datetime('now')),updated_at DATETIME NOT NULL DEFAULT (datetime('now')),token_count INTEGER NOT NULL DEFAULT 0,forked_from TEXT NOT NULL DEFAULT '', created_us INTEGER, updated_us INTEGER, updated_slot INTEGER NOT NULL DEFAULT 0, ahead_us INTEGER, closed_us INTEGER, trashed_us INTEGER, state TEXT NOT NULL DEFAULT 'active', state_before_trash TEXT NOT NULL DEFAULT '', pinned INTEGER NOT NULL DEFAULT 0, mode TEXT NOT NULL DEFAULT '', provider TEXT NOT NULL DEFAULT '', head INTEGER NOT NULL DEFAULT 0, generation INTEGER NOT NULL DEFAULT 0, forked_at INTEGER NOT NULL DEFAULT 0, base TEXT, base_count INTEGER NOT NULL DEFAULT 0, input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0, reasoning_tokens INTEGER NOT NULL DEFAULT 0, cached_tokens INTEGER NOT NULL DEFAULT 0, cost_nanos INTEGER, price_source TEXT NOT NULL DEFAULT '', config TEXT NOT NULL DEFAULT 'null', response_chain TEXT NOT NULL DEFAULT '[]', extra TEXT NOT NULL DEFAULT '{}', system_prompt TEXT NOT NULL DEFAULT '');
INSERT INTO sessions VALUES('01990000-0000-7000-8000-000000000001','Leagues','','','2026-09-21 14:13:21','2026-09-21 14:13:36',72,'',1790000001000000,1790000016000000,26673078,NULL,NULL,NULL,'active','',0,'','',6,0,0,NULL,0,30,42,0,0,NULL,'','null','[]','{}','');
INSERT INTO sessions VALUES('01990000-0000-7000-8000-000000000002','Session 2','','','2026-09-21 14:13:22','2026-09-21 14:13:40',30,'01990000-0000-7000-8000-000000000001',1790000002000000,1790000020000000,26673078,NULL,NULL,NULL,'active','',0,'','',4,0,2,'01990000-0000-7000-8000-000000000001',2,10,20,0,0,NULL,'','null','[]','{}','');
CREATE TABLE messages(id INTEGER PRIMARY KEY,session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,seq INTEGER NOT NULL,role TEXT NOT NULL,created_at DATETIME NOT NULL DEFAULT (datetime('now')), created_us INTEGER, provider TEXT, model TEXT, response_id TEXT, usage TEXT, state TEXT, extra TEXT, author TEXT, content TEXT NOT NULL, UNIQUE(session_id, seq));
INSERT INTO messages VALUES(1,'01990000-0000-7000-8000-000000000001',0,'user','2026-09-21 14:13:31',1790000011000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'[{"type":"text","text":"How long is a league?"}]');
INSERT INTO messages VALUES(2,'01990000-0000-7000-8000-000000000001',1,'assistant','2026-09-21 14:13:32',1790000012000000,'openai-responses',NULL,'resp_12','{"input_tokens":10,"output_tokens":12,"reasoning_tokens":0,"cached_tokens":0,"cost":null,"request_id":"q12"}',NULL,NULL,NULL,'[{"type":"text","text":"An hour''s walk."}]');
INSERT INTO messages VALUES(3,'01990000-0000-7000-8000-000000000001',2,'user','2026-09-21 14:13:33',1790000013000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'[{"type":"text","text":"And a mile?"}]');
INSERT INTO messages VALUES(4,'01990000-0000-7000-8000-000000000001',3,'assistant','2026-09-21 14:13:34',1790000014000000,'openai-responses',NULL,'resp_14','{"input_tokens":10,"output_tokens":14,"reasoning_tokens":0,"cached_tokens":0,"cost":null,"request_id":"q14"}',NULL,NULL,NULL,'[{"type":"text","text":"A third of it. 🚶"}]');
INSERT INTO messages VALUES(5,'01990000-0000-7000-8000-000000000001',4,'user','2026-09-21 14:13:35',1790000015000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'[{"type":"text","text":"Tell me more."}]');
INSERT INTO messages VALUES(6,'01990000-0000-7000-8000-000000000001',5,'assistant','2026-09-21 14:13:36',1790000016000000,'openai-responses',NULL,'resp_16','{"input_tokens":10,"output_tokens":16,"reasoning_tokens":0,"cached_tokens":0,"cost":null,"request_id":"q16"}',NULL,NULL,NULL,'[{"type":"text","text":"A league is three miles in most places."}]');
INSERT INTO messages VALUES(7,'01990000-0000-7000-8000-000000000002',2,'user','2026-09-21 14:13:39',1790000019000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'[{"type":"text","text":"A question of its own."}]');
INSERT INTO messages VALUES(8,'01990000-0000-7000-8000-000000000002',3,'assistant','2026-09-21 14:13:40',1790000020000000,'openai-responses',NULL,'resp_20','{"input_tokens":10,"output_tokens":20,"reasoning_tokens":0,"cached_tokens":0,"cost":null,"request_id":"q20"}',NULL,NULL,NULL,'[{"type":"text","text":"Its answer."}]');
CREATE TABLE reprise_once(session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, name TEXT NOT NULL, first INTEGER, head INTEGER, PRIMARY KEY(session_id, name)) WITHOUT ROWID;
INSERT INTO reprise_once VALUES('01990000-0000-7000-8000-000000000001','operation:answer',1,2);
INSERT INTO reprise_once VALUES('01990000-0000-7000-8000-000000000001','operation:ask',4,5);
INSERT INTO reprise_once VALUES('01990000-0000-7000-8000-000000000001','operation:end',5,6);
INSERT INTO reprise_once VALUES('01990000-0000-7000-8000-000000000001','operation:question',0,1);
INSERT INTO reprise_once VALUES('01990000-0000-7000-8000-000000000001','operation:turn',2,4);
INSERT INTO reprise_once VALUES('01990000-0000-7000-8000-000000000001','request:q12',NULL,NULL);
INSERT INTO reprise_once VALUES('01990000-0000-7000-8000-000000000001','request:q14',NULL,NULL);
INSERT INTO reprise_once VALUES('01990000-0000-7000-8000-000000000001','request:q16',NULL,NULL);
INSERT INTO reprise_once VALUES('01990000-0000-7000-8000-000000000002','operation:aside',2,4);
INSERT INTO reprise_once VALUES('01990000-0000-7000-8000-000000000002','request:q20',NULL,NULL);
CREATE TABLE reprise_answers(session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, n INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY(session_id, n)) WITHOUT ROWID;
CREATE TABLE reprise_todos(session_id TEXT PRIMARY KEY NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, items TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO reprise_todos VALUES('01990000-0000-7000-8000-000000000001','[{"content":"Measure a league","status":"in_progress","active_form":"Measuring"}]');
CREATE TABLE reprise_prompts(session_id TEXT PRIMARY KEY NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, prompts TEXT NOT NULL);
CREATE TABLE reprise_artefacts(id INTEGER PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, step INTEGER NOT NULL, name TEXT NOT NULL, n INTEGER NOT NULL, bytes BLOB NOT NULL, UNIQUE(session_id, step, name, n));
INSERT INTO reprise_artefacts VALUES(1,'01990000-0000-7000-8000-000000000001',1,'answer.md',0,X'416e20686f75722e0a');
INSERT INTO reprise_artefacts VALUES(2,'01990000-0000-7000-8000-000000000001',1,'raw',0,X'646174613a207b7d0a');
CREATE TABLE reprise_blobs(id INTEGER PRIMARY KEY, hash TEXT NOT NULL, n INTEGER NOT NULL, bytes BLOB NOT NULL, UNIQUE(hash, n));
CREATE TABLE reprise_blob_refs(session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, hash TEXT NOT NULL, PRIMARY KEY(session_id, hash)) WITHOUT ROWID;
CREATE TABLE reprise_kept(id TEXT PRIMARY KEY NOT NULL, kept_for TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, base TEXT, base_count INTEGER NOT NULL, head INTEGER NOT NULL);
CREATE TABLE reprise_kept_messages(id INTEGER PRIMARY KEY, message INTEGER NOT NULL, session_id TEXT NOT NULL REFERENCES reprise_kept(id) ON DELETE CASCADE, seq INTEGER NOT NULL, role TEXT NOT NULL, created_at DATETIME NOT NULL, created_us INTEGER, provider TEXT, model TEXT, response_id TEXT, usage TEXT, state TEXT, extra TEXT, author TEXT, content TEXT NOT NULL, UNIQUE(session_id, seq));
CREATE TABLE reprise_pins(hash TEXT PRIMARY KEY NOT NULL, put_us INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX reprise_by_slot ON sessions(state, updated_slot DESC);
CREATE INDEX reprise_by_folder_slot ON sessions(working_dir, state, updated_slot DESC);
CREATE INDEX reprise_by_base ON sessions(base) WHERE base IS NOT NULL;
CREATE INDEX reprise_by_kept_for ON reprise_kept(kept_for);
CREATE INDEX reprise_kept_by_base ON reprise_kept(base) WHERE base IS NOT NULL;
CREATE INDEX reprise_kept_by_message ON reprise_kept_messages(message);
CREATE INDEX reprise_pinned ON sessions(updated_us DESC, id DESC) WHERE pinned = 1;
CREATE INDEX reprise_by_author ON messages(author, session_id, seq) WHERE author IS NOT NULL;
CREATE INDEX reprise_by_hash ON reprise_blob_refs(hash);
CREATE INDEX reprise_by_put ON reprise_pins(put_us);
CREATE TRIGGER reprise_session_inserted AFTER INSERT ON sessions WHEN NEW.updated_us IS NULL
BEGIN
  UPDATE sessions SET
    created_us = coalesce(CASE typeof(NEW.created_at) WHEN 'integer' THEN NEW.created_at
      ELSE CAST(strftime('%s', NEW.created_at) AS INTEGER) END * 1000000, 0),
    updated_us = coalesce(CASE typeof(NEW.updated_at) WHEN 'integer' THEN NEW.updated_at
      ELSE CAST(strftime('%s', NEW.updated_at) AS INTEGER) END * 1000000, 0)
  WHERE id = NEW.id;
END;
CREATE TRIGGER reprise_session_updated AFTER UPDATE OF updated_at ON sessions
WHEN NEW.updated_us IS OLD.updated_us AND NEW.ahead_us IS OLD.ahead_us
  AND NEW.updated_at IS NOT OLD.updated_at
BEGIN
  UPDATE sessions SET
    ahead_us = NULL,
    updated_us = coalesce(CASE typeof(NEW.updated_at) WHEN 'integer' THEN NEW.updated_at
      ELSE CAST(strftime('%s', NEW.updated_at) AS INTEGER) END * 1000000, 0)
  WHERE id = NEW.id;
END;
CREATE TRIGGER reprise_message_inserted AFTER INSERT ON messages WHEN NEW.created_us IS NULL
BEGIN
  UPDATE messages SET seq = (SELECT head FROM sessions WHERE id = NEW.session_id)
  WHERE id = NEW.id
    AND NEW.seq < (SELECT base_count FROM sessions WHERE id = NEW.session_id);
  UPDATE sessions SET
    head = max(head, (SELECT seq + 1 FROM messages WHERE id = NEW.id)),
    updated_at = NEW.created_at,
    ahead_us = NULL,
    updated_us = coalesce(CASE typeof(NEW.created_at) WHEN 'integer' THEN NEW.created_at
      ELSE CAST(strftime('%s', NEW.created_at) AS INTEGER) END * 1000000, updated_us)
  WHERE id = NEW.session_id;
END;
CREATE TRIGGER reprise_session_deleted BEFORE DELETE ON sessions
WHEN EXISTS (
  SELECT 1 FROM sessions AS other WHERE other.id <> OLD.id AND (other.base = OLD.id
    OR other.base IN (SELECT kept.id FROM reprise_kept AS kept WHERE kept.kept_for = OLD.id)))
OR EXISTS (
  SELECT 1 FROM reprise_kept AS other WHERE other.kept_for <> OLD.id AND (other.base = OLD.id
    OR other.base IN (SELECT kept.id FROM reprise_kept AS kept WHERE kept.kept_for = OLD.id)))
BEGIN
  SELECT RAISE(ABORT, 'other sessions share its messages');
END;
CREATE TRIGGER reprise_slot_inserted AFTER INSERT ON sessions WHEN NEW.updated_us IS NOT NULL AND NEW.updated_slot IS NOT (NEW.updated_us >> 26) BEGIN UPDATE sessions SET updated_slot = (NEW.updated_us >> 26) WHERE id = NEW.id; END;
CREATE TRIGGER reprise_slot_updated AFTER UPDATE OF updated_us ON sessions WHEN NEW.updated_slot IS NOT (NEW.updated_us >> 26) BEGIN UPDATE sessions SET updated_slot = (NEW.updated_us >> 26) WHERE id = NEW.id; END;
CREATE TRIGGER reprise_blob_unnamed AFTER DELETE ON reprise_blob_refs
WHEN NOT EXISTS (SELECT 1 FROM reprise_blob_refs WHERE hash = OLD.hash)
BEGIN
  INSERT OR IGNORE INTO reprise_pins(hash, put_us)
  SELECT hash, 0 FROM reprise_blobs WHERE hash = OLD.hash AND n = 0;
END;
CREATE TRIGGER reprise_message_copied AFTER INSERT ON messages WHEN NEW.created_us IS NULL
BEGIN
  INSERT OR IGNORE INTO reprise_blob_refs(session_id, hash)
  SELECT NEW.session_id, hash FROM reprise_blob_refs
  WHERE session_id = (SELECT forked_from FROM sessions WHERE id = NEW.session_id)
    AND instr(NEW.content, hash) > 0;
END;
COMMIT;
