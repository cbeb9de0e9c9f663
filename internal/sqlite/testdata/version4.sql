-- A database as the program left it whose record had version 4: one task cancelled, one in review, one not started.
PRAGMA user_version = 4;
BEGIN TRANSACTION;
CREATE TABLE entries (
	task TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL,
	PRIMARY KEY (task, source)
) WITHOUT ROWID;
CREATE TABLE events (
	task TEXT NOT NULL, seq INTEGER NOT NULL, line TEXT NOT NULL,
	PRIMARY KEY (task, seq)
) WITHOUT ROWID;
INSERT INTO events VALUES('18ITfYwMbl7ztWBzIFbja',1,'{"seq":1,"timestamp":"2026-11-21T17:24:04.008Z","type":"task.created","actor":"human","workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","data":{"branch":"feat/review","status":"pending","summary":"Is in review","workflow":"default"},"prev":"","hash":"04160b121b581a3183deca96633cc2309a1cfcbedd8a3f7329933eac3a9eb80d"}');
INSERT INTO events VALUES('18ITfYwMbl7ztWBzIFbja',2,'{"seq":2,"timestamp":"2026-11-21T17:24:04.018Z","type":"status.changed","actor":"human","from":"pending","to":"planning","workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","hooks":["acquire_workspace","spawn_agent"],"prev":"04160b121b581a3183deca96633cc2309a1cfcbedd8a3f7329933eac3a9eb80d","hash":"a97db91622d22e91b3510cb8d536a27752622f20f7d5d71fb0fb4a7c00bca20f"}');
INSERT INTO events VALUES('18ITfYwMbl7ztWBzIFbja',3,'{"seq":3,"timestamp":"2026-11-21T17:24:04.110Z","type":"agent.spawned","actor":"engine","data":{"harness":"idle","role":"worker","session":"coffee/feat/review","window":"worker"},"prev":"a97db91622d22e91b3510cb8d536a27752622f20f7d5d71fb0fb4a7c00bca20f","hash":"46c81beb871a40fb26d7ab0726b13219c82f0db86f364725440ceaee33a9f7a4"}');
INSERT INTO events VALUES('18ITfYwMbl7ztWBzIFbja',4,'{"seq":4,"timestamp":"2026-11-21T17:24:04.192Z","type":"status.changed","actor":"human","from":"planning","to":"working","evidence":[{"source":"## plan","digest":"be38ed2b4537a282046a88e4ff4158697cde780fc57e9c704fab2facccff7229"}],"workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","prev":"46c81beb871a40fb26d7ab0726b13219c82f0db86f364725440ceaee33a9f7a4","hash":"f8cf1e00d5422251e43488b207eb3338ae6ec81c4ba791495bb87dfc7d833a3f"}');
INSERT INTO events VALUES('18ITfYwMbl7ztWBzIFbja',5,'{"seq":5,"timestamp":"2026-11-21T17:24:04.206Z","type":"status.changed","actor":"human","from":"working","to":"agent-review","counters":{"review_round":1},"evidence":[{"source":"## handoff","digest":"acf0a8d5c45b815db9abd5707a4216b73a9f84115badd9f8c116a1f906fb160a"}],"workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","hooks":["increment_review_round","spawn_reviewer"],"prev":"f8cf1e00d5422251e43488b207eb3338ae6ec81c4ba791495bb87dfc7d833a3f","hash":"324a0740d6fcacb306e7bb317568b6eca960e930aaff5632d0228a143c2d1b97"}');
INSERT INTO events VALUES('18ITfYwMbl7ztWBzIFbja',6,'{"seq":6,"timestamp":"2026-11-21T17:24:04.245Z","type":"review.started","actor":"engine","data":{"harness":"idle","role":"reviewer","session":"coffee/feat/review","window":"review-1"},"prev":"324a0740d6fcacb306e7bb317568b6eca960e930aaff5632d0228a143c2d1b97","hash":"6a1b89c98e639eb72b7aa813b28ffc9f2568509697d4d2bbe4d6874ecf44fd80"}');
INSERT INTO events VALUES('Nx4CxNF69mBG7bCxtWgKD',1,'{"seq":1,"timestamp":"2026-11-21T17:24:03.773Z","type":"task.created","actor":"human","workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","data":{"branch":"feat/done","status":"pending","summary":"Was cancelled","workflow":"default"},"prev":"","hash":"addb6ad5a05947c780e444c7b76887005c78c545e74cb1c92503b4f89e6bfb27"}');
INSERT INTO events VALUES('Nx4CxNF69mBG7bCxtWgKD',2,'{"seq":2,"timestamp":"2026-11-21T17:24:03.783Z","type":"status.changed","actor":"human","from":"pending","to":"planning","workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","hooks":["acquire_workspace","spawn_agent"],"prev":"addb6ad5a05947c780e444c7b76887005c78c545e74cb1c92503b4f89e6bfb27","hash":"4c7cd312b63e82b30673c86aa18564d8c0b61e7ddd3bad7b7f76f2ff1c30e078"}');
INSERT INTO events VALUES('Nx4CxNF69mBG7bCxtWgKD',3,'{"seq":3,"timestamp":"2026-11-21T17:24:03.862Z","type":"agent.spawned","actor":"engine","data":{"harness":"idle","role":"worker","session":"coffee/feat/done","window":"worker"},"prev":"4c7cd312b63e82b30673c86aa18564d8c0b61e7ddd3bad7b7f76f2ff1c30e078","hash":"b630396bebfe0dde55f651164a6de1ade947c3d197576b141e307eaf71a3e87e"}');
INSERT INTO events VALUES('Nx4CxNF69mBG7bCxtWgKD',4,'{"seq":4,"timestamp":"2026-11-21T17:24:03.937Z","type":"status.changed","actor":"human","from":"planning","to":"cancelled","workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","hooks":["kill_session","release_workspace"],"prev":"b630396bebfe0dde55f651164a6de1ade947c3d197576b141e307eaf71a3e87e","hash":"6f921a160037410c22d17c83ebbe6447251d0a82465e2312437cbbcfca3daa7b"}');
INSERT INTO events VALUES('Nx4CxNF69mBG7bCxtWgKD',5,'{"seq":5,"timestamp":"2026-11-21T17:24:03.961Z","type":"agent.stopped","actor":"engine","data":{"role":"all","session":"coffee/feat/done"},"prev":"6f921a160037410c22d17c83ebbe6447251d0a82465e2312437cbbcfca3daa7b","hash":"ba1fc0124dab59ccd19e28a56698541ed55cd8ab2e7bfdfdf37912f98138a2de"}');
INSERT INTO events VALUES('jkT8oRT9B57FwtKorQ07a',1,'{"seq":1,"timestamp":"2026-11-21T17:24:04.263Z","type":"task.created","actor":"human","workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","data":{"branch":"feat/wait","status":"pending","summary":"Waits","workflow":"default"},"prev":"","hash":"1f6fe6fc89f650011f87d9617073900a49806a31ddefb48c9f289257a3de2fe5"}');
CREATE TABLE hooks (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	task TEXT NOT NULL, event INTEGER NOT NULL, place INTEGER NOT NULL, hook TEXT NOT NULL,
	state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',
	next_try TEXT NOT NULL DEFAULT '', started_at TEXT NOT NULL DEFAULT '', ended_at TEXT NOT NULL DEFAULT '',
	UNIQUE (task, event, place)
);
INSERT INTO hooks VALUES(1,'Nx4CxNF69mBG7bCxtWgKD',2,0,'{"action":"acquire_workspace"}','done',1,'','','2026-11-21T17:24:03.793Z','2026-11-21T17:24:03.822Z');
INSERT INTO hooks VALUES(2,'Nx4CxNF69mBG7bCxtWgKD',2,1,'{"action":"spawn_agent","prompt":"worker","harness":"task","permissions":"full"}','done',1,'','','2026-11-21T17:24:03.823Z','2026-11-21T17:24:03.862Z');
INSERT INTO hooks VALUES(3,'Nx4CxNF69mBG7bCxtWgKD',4,0,'{"action":"kill_session"}','done',1,'','','2026-11-21T17:24:03.945Z','2026-11-21T17:24:03.961Z');
INSERT INTO hooks VALUES(4,'Nx4CxNF69mBG7bCxtWgKD',4,1,'{"action":"release_workspace"}','done',1,'','','2026-11-21T17:24:03.963Z','2026-11-21T17:24:03.980Z');
INSERT INTO hooks VALUES(5,'18ITfYwMbl7ztWBzIFbja',2,0,'{"action":"acquire_workspace"}','done',1,'','','2026-11-21T17:24:04.029Z','2026-11-21T17:24:04.057Z');
INSERT INTO hooks VALUES(6,'18ITfYwMbl7ztWBzIFbja',2,1,'{"action":"spawn_agent","prompt":"worker","harness":"task","permissions":"full"}','done',1,'','','2026-11-21T17:24:04.062Z','2026-11-21T17:24:04.110Z');
INSERT INTO hooks VALUES(7,'18ITfYwMbl7ztWBzIFbja',5,0,'{"action":"increment_review_round","field":"review_round"}','done',0,'','','','');
INSERT INTO hooks VALUES(8,'18ITfYwMbl7ztWBzIFbja',5,1,'{"action":"spawn_reviewer","prompt":"reviewer","harness":"review","permissions":"reduced"}','done',1,'','','2026-11-21T17:24:04.219Z','2026-11-21T17:24:04.245Z');
CREATE TABLE leases (
	workspace TEXT PRIMARY KEY, project TEXT NOT NULL, task TEXT NOT NULL UNIQUE
) WITHOUT ROWID;
INSERT INTO leases VALUES('coffee--1','coffee','18ITfYwMbl7ztWBzIFbja');
CREATE TABLE notices (
	task TEXT NOT NULL, role TEXT NOT NULL, seq INTEGER NOT NULL, text TEXT NOT NULL,
	PRIMARY KEY (task, role)
) WITHOUT ROWID;
CREATE TABLE renderings (
	task TEXT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL,
	PRIMARY KEY (task, field, value)
) WITHOUT ROWID;
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','branch','feat/review');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','crash_count','0');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','created_at','2026-11-21T17:24:04.008Z');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','effort','');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','harness','idle');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','id','18ITfYwMbl7ztWBzIFbja');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','project','coffee');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','review_effort','');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','review_harness','idle');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','review_round','0');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','review_round','1');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','status','agent-review');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','status','pending');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','status','planning');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','status','working');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','summary','Is in review');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','tmux_session','');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','tmux_session','coffee/feat/review');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','updated_at','2026-11-21T17:24:04.008Z');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','updated_at','2026-11-21T17:24:04.018Z');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','updated_at','2026-11-21T17:24:04.057Z');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','updated_at','2026-11-21T17:24:04.110Z');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','updated_at','2026-11-21T17:24:04.192Z');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','updated_at','2026-11-21T17:24:04.206Z');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','updated_at','2026-11-21T17:24:04.245Z');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','workflow','default');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','workflow_version','1');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','workspace','');
INSERT INTO renderings VALUES('18ITfYwMbl7ztWBzIFbja','workspace','coffee--1');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','branch','feat/done');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','crash_count','0');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','created_at','2026-11-21T17:24:03.773Z');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','effort','');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','harness','idle');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','id','Nx4CxNF69mBG7bCxtWgKD');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','project','coffee');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','review_effort','');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','review_harness','idle');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','review_round','0');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','status','cancelled');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','status','pending');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','status','planning');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','summary','Was cancelled');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','tmux_session','');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','tmux_session','coffee/feat/done');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','updated_at','2026-11-21T17:24:03.773Z');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','updated_at','2026-11-21T17:24:03.783Z');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','updated_at','2026-11-21T17:24:03.822Z');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','updated_at','2026-11-21T17:24:03.862Z');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','updated_at','2026-11-21T17:24:03.937Z');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','updated_at','2026-11-21T17:24:03.961Z');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','updated_at','2026-11-21T17:24:03.980Z');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','workflow','default');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','workflow_version','1');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','workspace','');
INSERT INTO renderings VALUES('Nx4CxNF69mBG7bCxtWgKD','workspace','coffee--1');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','branch','feat/wait');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','crash_count','0');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','created_at','2026-11-21T17:24:04.263Z');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','effort','');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','harness','idle');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','id','jkT8oRT9B57FwtKorQ07a');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','project','coffee');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','review_effort','');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','review_harness','idle');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','review_round','0');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','status','pending');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','summary','Waits');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','tmux_session','');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','updated_at','2026-11-21T17:24:04.263Z');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','workflow','default');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','workflow_version','1');
INSERT INTO renderings VALUES('jkT8oRT9B57FwtKorQ07a','workspace','');
CREATE TABLE seats (
	hash TEXT PRIMARY KEY, task TEXT NOT NULL, role TEXT NOT NULL, hook INTEGER NOT NULL,
	pid INTEGER NOT NULL, began TEXT NOT NULL, ended INTEGER NOT NULL
);
INSERT INTO seats VALUES('60faeaf49eb4cf209f80e9f99a6f4b3d837a83e7663fda925a864022d8c34fdd','Nx4CxNF69mBG7bCxtWgKD','worker',2,17547,'2327000',1);
INSERT INTO seats VALUES('1162f3819532a2898c684e2b2938580b0b5905af49ca5f758099484b09050af9','18ITfYwMbl7ztWBzIFbja','worker',6,17650,'2327025',0);
INSERT INTO seats VALUES('ac50e711fe7bea3579b6516c00aef31955f83a53ce43387044fbe068fc715898','18ITfYwMbl7ztWBzIFbja','reviewer',8,17699,'2327039',0);
CREATE TABLE spent (
	task TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL, seq INTEGER NOT NULL,
	PRIMARY KEY (task, source, digest)
) WITHOUT ROWID;
INSERT INTO spent VALUES('18ITfYwMbl7ztWBzIFbja','## handoff','acf0a8d5c45b815db9abd5707a4216b73a9f84115badd9f8c116a1f906fb160a',5);
INSERT INTO spent VALUES('18ITfYwMbl7ztWBzIFbja','## plan','be38ed2b4537a282046a88e4ff4158697cde780fc57e9c704fab2facccff7229',4);
CREATE TABLE tasks (
	id TEXT PRIMARY KEY, project TEXT NOT NULL, branch TEXT NOT NULL, summary TEXT NOT NULL,
	harness TEXT NOT NULL, review_harness TEXT NOT NULL, effort TEXT NOT NULL, review_effort TEXT NOT NULL,
	status TEXT NOT NULL, previous TEXT NOT NULL, counters TEXT NOT NULL,
	workspace TEXT NOT NULL, session TEXT NOT NULL, pushed TEXT NOT NULL, attention TEXT NOT NULL, queued_for TEXT NOT NULL,
	workflow TEXT NOT NULL, workflow_version INTEGER NOT NULL, workflow_digest TEXT NOT NULL,
	live INTEGER NOT NULL, pr_url TEXT NOT NULL, pr_state TEXT NOT NULL,
	created_at TEXT NOT NULL, updated_at TEXT NOT NULL, entered_at TEXT NOT NULL,
	version INTEGER NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL
, stalled_at TEXT NOT NULL DEFAULT '', overdue INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
INSERT INTO tasks VALUES('18ITfYwMbl7ztWBzIFbja','coffee','feat/review','Is in review','idle','idle','','','agent-review','working','[{"name":"review_round","value":1}]','coffee--1','coffee/feat/review','','','','default',1,'4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e',1,'','','2026-11-21T17:24:04.008Z','2026-11-21T17:24:04.245Z','2026-11-21T17:24:04.206Z',9,6,'6a1b89c98e639eb72b7aa813b28ffc9f2568509697d4d2bbe4d6874ecf44fd80','',0);
INSERT INTO tasks VALUES('Nx4CxNF69mBG7bCxtWgKD','coffee','feat/done','Was cancelled','idle','idle','','','cancelled','planning','[]','','','','','','default',1,'4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e',0,'','','2026-11-21T17:24:03.773Z','2026-11-21T17:24:03.980Z','2026-11-21T17:24:03.937Z',8,5,'ba1fc0124dab59ccd19e28a56698541ed55cd8ab2e7bfdfdf37912f98138a2de','',0);
INSERT INTO tasks VALUES('jkT8oRT9B57FwtKorQ07a','coffee','feat/wait','Waits','idle','idle','','','pending','','[]','','','','','','default',1,'4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e',1,'','','2026-11-21T17:24:04.263Z','2026-11-21T17:24:04.263Z','2026-11-21T17:24:04.263Z',1,1,'1f6fe6fc89f650011f87d9617073900a49806a31ddefb48c9f289257a3de2fe5','',0);
CREATE TABLE waiters (
	task TEXT NOT NULL, role TEXT NOT NULL, pid INTEGER NOT NULL, began TEXT NOT NULL,
	PRIMARY KEY (task, role, pid)
) WITHOUT ROWID;
CREATE TABLE workflows (
	digest  TEXT PRIMARY KEY,
	name    TEXT NOT NULL,
	version INTEGER NOT NULL,
	text    BLOB NOT NULL
);
INSERT INTO workflows VALUES('4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e','default',1,X'6e616d653a2064656661756c740a');
CREATE TABLE changes (
	number INTEGER PRIMARY KEY,
	task TEXT NOT NULL, seq INTEGER NOT NULL, project TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT ''
);
INSERT INTO changes VALUES(1,'Nx4CxNF69mBG7bCxtWgKD',1,'','');
INSERT INTO changes VALUES(2,'Nx4CxNF69mBG7bCxtWgKD',2,'','');
INSERT INTO changes VALUES(3,'Nx4CxNF69mBG7bCxtWgKD',3,'','');
INSERT INTO changes VALUES(4,'Nx4CxNF69mBG7bCxtWgKD',4,'','');
INSERT INTO changes VALUES(5,'Nx4CxNF69mBG7bCxtWgKD',5,'','');
INSERT INTO changes VALUES(6,'18ITfYwMbl7ztWBzIFbja',1,'','');
INSERT INTO changes VALUES(7,'18ITfYwMbl7ztWBzIFbja',2,'','');
INSERT INTO changes VALUES(8,'18ITfYwMbl7ztWBzIFbja',3,'','');
INSERT INTO changes VALUES(9,'18ITfYwMbl7ztWBzIFbja',4,'','');
INSERT INTO changes VALUES(10,'18ITfYwMbl7ztWBzIFbja',5,'','');
INSERT INTO changes VALUES(11,'18ITfYwMbl7ztWBzIFbja',6,'','');
INSERT INTO changes VALUES(12,'jkT8oRT9B57FwtKorQ07a',1,'','');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('hooks',8);
CREATE UNIQUE INDEX one_live_task_a_branch ON tasks (project, branch) WHERE live = 1;
CREATE INDEX tasks_by_project ON tasks (project, created_at);
CREATE INDEX queued_tasks ON tasks (project, updated_at) WHERE queued_for != '';
CREATE INDEX tasks_by_workspace ON tasks (workspace) WHERE workspace != '';
CREATE INDEX owed_hooks ON hooks (task, id) WHERE state IN ('pending', 'failed');
CREATE INDEX living_seats ON seats (pid) WHERE ended = 0;
CREATE INDEX seats_by_task ON seats (task);
CREATE INDEX open_seats ON seats (task) WHERE ended = 0;
CREATE TRIGGER event_happens AFTER INSERT ON events BEGIN
	INSERT INTO changes (task, seq) VALUES (NEW.task, NEW.seq);
END;
CREATE TRIGGER task_appears AFTER INSERT ON tasks WHEN NEW.seq = 0 BEGIN
	INSERT INTO changes (task, seq) VALUES (NEW.id, 0);
END;
CREATE TRIGGER task_changes AFTER UPDATE ON tasks WHEN NEW.seq = OLD.seq BEGIN
	INSERT INTO changes (task, seq) VALUES (NEW.id, 0);
END;
CREATE TRIGGER task_ends AFTER DELETE ON tasks BEGIN
	INSERT INTO changes (task, seq, project, branch) VALUES (OLD.id, -1, OLD.project, OLD.branch);
	DELETE FROM changes WHERE task = OLD.id AND seq >= 0;
END;
COMMIT;
