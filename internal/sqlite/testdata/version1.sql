-- A database as the first version of this program left it: one task cancelled, one in review, one not started.
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE entries (
	task TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL,
	PRIMARY KEY (task, source)
) WITHOUT ROWID;
CREATE TABLE events (
	task TEXT NOT NULL, seq INTEGER NOT NULL, line TEXT NOT NULL,
	PRIMARY KEY (task, seq)
) WITHOUT ROWID;
INSERT INTO "events" VALUES('G8Mq0OcVdpaxM8tUFyyiV',1,'{"seq":1,"timestamp":"2026-11-21T14:57:14.180Z","type":"task.created","actor":"human","workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","data":{"branch":"feat/review","status":"pending","summary":"Is in review","workflow":"default"},"prev":"","hash":"05fe807a9ef53737c7c0249ccb30a209b24a797ebb00b3339b6a106bb0ebfdf3"}');
INSERT INTO "events" VALUES('G8Mq0OcVdpaxM8tUFyyiV',2,'{"seq":2,"timestamp":"2026-11-21T14:57:14.226Z","type":"status.changed","actor":"human","from":"pending","to":"planning","workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","hooks":["acquire_workspace","spawn_agent"],"prev":"05fe807a9ef53737c7c0249ccb30a209b24a797ebb00b3339b6a106bb0ebfdf3","hash":"a802add53e960cce3e20b692231d02b09e64dfef80855a71cf81eeff4e2f2214"}');
INSERT INTO "events" VALUES('G8Mq0OcVdpaxM8tUFyyiV',3,'{"seq":3,"timestamp":"2026-11-21T14:57:14.430Z","type":"agent.spawned","actor":"engine","data":{"harness":"idle","role":"worker","session":"coffee/feat/review","window":"worker"},"prev":"a802add53e960cce3e20b692231d02b09e64dfef80855a71cf81eeff4e2f2214","hash":"216da2bbcf5a738685a665e4487ecdf788f7f61dcdf5bb343ae37608222fe247"}');
INSERT INTO "events" VALUES('G8Mq0OcVdpaxM8tUFyyiV',4,'{"seq":4,"timestamp":"2026-11-21T14:57:14.521Z","type":"status.changed","actor":"human","acting_as":"worker","from":"planning","to":"working","evidence":[{"source":"## plan","digest":"6fb2823c90b614ed8addc351aa50a361c34e1ba4e5457a09314dd0ba82642ef4"}],"workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","prev":"216da2bbcf5a738685a665e4487ecdf788f7f61dcdf5bb343ae37608222fe247","hash":"6c32cfbcd3a52cbf7a790b43a8de662dcc07cf6dd8f53ed0253b4bb0b8aba09d"}');
INSERT INTO "events" VALUES('G8Mq0OcVdpaxM8tUFyyiV',5,'{"seq":5,"timestamp":"2026-11-21T14:57:14.670Z","type":"status.changed","actor":"human","acting_as":"worker","from":"working","to":"agent-review","counters":{"review_round":1},"evidence":[{"source":"## handoff","digest":"20d87d09508b58bd99a5bfcb706907a3f61eb0c071843e14d5e33ddf93070523"}],"workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","hooks":["increment_review_round","spawn_reviewer"],"prev":"6c32cfbcd3a52cbf7a790b43a8de662dcc07cf6dd8f53ed0253b4bb0b8aba09d","hash":"72f746b86058077d79eb696e8ca74d30ad6f067cb8ea5a5d8ee2fffd6f771572"}');
INSERT INTO "events" VALUES('G8Mq0OcVdpaxM8tUFyyiV',6,'{"seq":6,"timestamp":"2026-11-21T14:57:14.749Z","type":"review.started","actor":"engine","data":{"harness":"idle","role":"reviewer","session":"coffee/feat/review","window":"review-1"},"prev":"72f746b86058077d79eb696e8ca74d30ad6f067cb8ea5a5d8ee2fffd6f771572","hash":"2bf026889c679992a7b4bc8798bfe344a0fd49683c4d040f9226b84acb245593"}');
INSERT INTO "events" VALUES('RpdgOO5blBXaXEwJDREeU',1,'{"seq":1,"timestamp":"2026-11-21T14:57:14.788Z","type":"task.created","actor":"human","workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","data":{"branch":"feat/wait","status":"pending","summary":"Waits","workflow":"default"},"prev":"","hash":"a839b67d6c5b899f83110555de5af9850d9d336a65e733ed7e01fbf04b22a394"}');
INSERT INTO "events" VALUES('fYv0cmS9ASUH97xfwOOKD',1,'{"seq":1,"timestamp":"2026-11-21T14:57:13.629Z","type":"task.created","actor":"human","workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","data":{"branch":"feat/done","status":"pending","summary":"Was cancelled","workflow":"default"},"prev":"","hash":"dff5e8440c7668a6c9c75cd101fe6ab296bb5e3d0d82564b4ac35fdad9e33853"}');
INSERT INTO "events" VALUES('fYv0cmS9ASUH97xfwOOKD',2,'{"seq":2,"timestamp":"2026-11-21T14:57:13.673Z","type":"status.changed","actor":"human","from":"pending","to":"planning","workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","hooks":["acquire_workspace","spawn_agent"],"prev":"dff5e8440c7668a6c9c75cd101fe6ab296bb5e3d0d82564b4ac35fdad9e33853","hash":"0bd70c53bf3d7bc38f1361f8cfb01684fb8c238438c8964c66f640a31890bd95"}');
INSERT INTO "events" VALUES('fYv0cmS9ASUH97xfwOOKD',3,'{"seq":3,"timestamp":"2026-11-21T14:57:13.972Z","type":"agent.spawned","actor":"engine","data":{"harness":"idle","role":"worker","session":"coffee/feat/done","window":"worker"},"prev":"0bd70c53bf3d7bc38f1361f8cfb01684fb8c238438c8964c66f640a31890bd95","hash":"7f2ce66d400518eb661f1b78ecc2c938294cda696629da3b558f36e49423a982"}');
INSERT INTO "events" VALUES('fYv0cmS9ASUH97xfwOOKD',4,'{"seq":4,"timestamp":"2026-11-21T14:57:14.028Z","type":"status.changed","actor":"human","from":"planning","to":"cancelled","workflow":"4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e","hooks":["kill_session","release_workspace"],"prev":"7f2ce66d400518eb661f1b78ecc2c938294cda696629da3b558f36e49423a982","hash":"8ab8e1b013b8da17381aa3346527df12a8d25cd0ff17de5bfcf11e709e7924d5"}');
INSERT INTO "events" VALUES('fYv0cmS9ASUH97xfwOOKD',5,'{"seq":5,"timestamp":"2026-11-21T14:57:14.092Z","type":"agent.stopped","actor":"engine","data":{"role":"all","session":"coffee/feat/done"},"prev":"8ab8e1b013b8da17381aa3346527df12a8d25cd0ff17de5bfcf11e709e7924d5","hash":"16433f53b072416871e42d8325b45bbd940da38911e0c05b9a67747cfd89b633"}');
CREATE TABLE hooks (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	task TEXT NOT NULL, event INTEGER NOT NULL, place INTEGER NOT NULL, hook TEXT NOT NULL,
	state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',
	next_try TEXT NOT NULL DEFAULT '', started_at TEXT NOT NULL DEFAULT '', ended_at TEXT NOT NULL DEFAULT '',
	UNIQUE (task, event, place)
);
INSERT INTO "hooks" VALUES(1,'fYv0cmS9ASUH97xfwOOKD',2,0,'{"action":"acquire_workspace"}','done',1,'','','2026-11-21T14:57:13.700Z','2026-11-21T14:57:13.827Z');
INSERT INTO "hooks" VALUES(2,'fYv0cmS9ASUH97xfwOOKD',2,1,'{"action":"spawn_agent","prompt":"worker","harness":"task","permissions":"full"}','done',1,'','','2026-11-21T14:57:13.839Z','2026-11-21T14:57:13.972Z');
INSERT INTO "hooks" VALUES(3,'fYv0cmS9ASUH97xfwOOKD',4,0,'{"action":"kill_session"}','done',1,'','','2026-11-21T14:57:14.050Z','2026-11-21T14:57:14.092Z');
INSERT INTO "hooks" VALUES(4,'fYv0cmS9ASUH97xfwOOKD',4,1,'{"action":"release_workspace"}','done',1,'','','2026-11-21T14:57:14.098Z','2026-11-21T14:57:14.148Z');
INSERT INTO "hooks" VALUES(5,'G8Mq0OcVdpaxM8tUFyyiV',2,0,'{"action":"acquire_workspace"}','done',1,'','','2026-11-21T14:57:14.258Z','2026-11-21T14:57:14.307Z');
INSERT INTO "hooks" VALUES(6,'G8Mq0OcVdpaxM8tUFyyiV',2,1,'{"action":"spawn_agent","prompt":"worker","harness":"task","permissions":"full"}','done',1,'','','2026-11-21T14:57:14.315Z','2026-11-21T14:57:14.430Z');
INSERT INTO "hooks" VALUES(7,'G8Mq0OcVdpaxM8tUFyyiV',5,0,'{"action":"increment_review_round","field":"review_round"}','done',0,'','','','');
INSERT INTO "hooks" VALUES(8,'G8Mq0OcVdpaxM8tUFyyiV',5,1,'{"action":"spawn_reviewer","prompt":"reviewer","harness":"review","permissions":"reduced"}','done',1,'','','2026-11-21T14:57:14.691Z','2026-11-21T14:57:14.749Z');
CREATE TABLE leases (
	workspace TEXT PRIMARY KEY, project TEXT NOT NULL, task TEXT NOT NULL UNIQUE
) WITHOUT ROWID;
INSERT INTO "leases" VALUES('coffee--1','coffee','G8Mq0OcVdpaxM8tUFyyiV');
CREATE TABLE notices (
	task TEXT NOT NULL, role TEXT NOT NULL, seq INTEGER NOT NULL, text TEXT NOT NULL,
	PRIMARY KEY (task, role)
) WITHOUT ROWID;
CREATE TABLE renderings (
	task TEXT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL,
	PRIMARY KEY (task, field, value)
) WITHOUT ROWID;
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','branch','feat/review');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','crash_count','0');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','created_at','2026-11-21T14:57:14.180Z');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','effort','');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','harness','idle');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','id','G8Mq0OcVdpaxM8tUFyyiV');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','project','coffee');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','review_effort','');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','review_harness','idle');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','review_round','0');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','review_round','1');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','status','agent-review');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','status','pending');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','status','planning');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','status','working');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','summary','Is in review');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','tmux_session','');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','tmux_session','coffee/feat/review');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','updated_at','2026-11-21T14:57:14.180Z');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','updated_at','2026-11-21T14:57:14.226Z');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','updated_at','2026-11-21T14:57:14.307Z');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','updated_at','2026-11-21T14:57:14.430Z');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','updated_at','2026-11-21T14:57:14.521Z');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','updated_at','2026-11-21T14:57:14.670Z');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','updated_at','2026-11-21T14:57:14.749Z');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','workflow','default');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','workflow_version','1');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','workspace','');
INSERT INTO "renderings" VALUES('G8Mq0OcVdpaxM8tUFyyiV','workspace','coffee--1');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','branch','feat/wait');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','crash_count','0');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','created_at','2026-11-21T14:57:14.788Z');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','effort','');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','harness','idle');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','id','RpdgOO5blBXaXEwJDREeU');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','project','coffee');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','review_effort','');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','review_harness','idle');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','review_round','0');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','status','pending');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','summary','Waits');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','tmux_session','');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','updated_at','2026-11-21T14:57:14.788Z');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','workflow','default');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','workflow_version','1');
INSERT INTO "renderings" VALUES('RpdgOO5blBXaXEwJDREeU','workspace','');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','branch','feat/done');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','crash_count','0');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','created_at','2026-11-21T14:57:13.629Z');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','effort','');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','harness','idle');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','id','fYv0cmS9ASUH97xfwOOKD');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','project','coffee');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','review_effort','');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','review_harness','idle');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','review_round','0');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','status','cancelled');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','status','pending');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','status','planning');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','summary','Was cancelled');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','tmux_session','');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','tmux_session','coffee/feat/done');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','updated_at','2026-11-21T14:57:13.629Z');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','updated_at','2026-11-21T14:57:13.673Z');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','updated_at','2026-11-21T14:57:13.827Z');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','updated_at','2026-11-21T14:57:13.972Z');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','updated_at','2026-11-21T14:57:14.028Z');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','updated_at','2026-11-21T14:57:14.092Z');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','updated_at','2026-11-21T14:57:14.148Z');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','workflow','default');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','workflow_version','1');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','workspace','');
INSERT INTO "renderings" VALUES('fYv0cmS9ASUH97xfwOOKD','workspace','coffee--1');
CREATE TABLE seats (
	hash TEXT PRIMARY KEY, task TEXT NOT NULL, role TEXT NOT NULL, hook INTEGER NOT NULL,
	pid INTEGER NOT NULL, began TEXT NOT NULL, ended INTEGER NOT NULL
);
INSERT INTO "seats" VALUES('ff7fdb833cbac335165b45f4febd418eec217056ae2c115490b8a93976f1d5be','fYv0cmS9ASUH97xfwOOKD','worker',2,5555,'1446007',1);
INSERT INTO "seats" VALUES('d3187573d6c2e8ffd4bb8157a2dcf95071f74b5a7a4f06c9ca18155f32ea3a5a','G8Mq0OcVdpaxM8tUFyyiV','worker',6,5633,'1446054',0);
INSERT INTO "seats" VALUES('804e6832dd022a1ce793ad3961bca7232c6830f0e8a2e98ee56d62d44b291ce2','G8Mq0OcVdpaxM8tUFyyiV','reviewer',8,5697,'1446087',0);
CREATE TABLE spent (
	task TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL, seq INTEGER NOT NULL,
	PRIMARY KEY (task, source, digest)
) WITHOUT ROWID;
INSERT INTO "spent" VALUES('G8Mq0OcVdpaxM8tUFyyiV','## handoff','20d87d09508b58bd99a5bfcb706907a3f61eb0c071843e14d5e33ddf93070523',5);
INSERT INTO "spent" VALUES('G8Mq0OcVdpaxM8tUFyyiV','## plan','6fb2823c90b614ed8addc351aa50a361c34e1ba4e5457a09314dd0ba82642ef4',4);
CREATE TABLE tasks (
	id TEXT PRIMARY KEY, project TEXT NOT NULL, branch TEXT NOT NULL, summary TEXT NOT NULL,
	harness TEXT NOT NULL, review_harness TEXT NOT NULL, effort TEXT NOT NULL, review_effort TEXT NOT NULL,
	status TEXT NOT NULL, previous TEXT NOT NULL, counters TEXT NOT NULL,
	workspace TEXT NOT NULL, session TEXT NOT NULL, pushed TEXT NOT NULL, attention TEXT NOT NULL, queued_for TEXT NOT NULL,
	workflow TEXT NOT NULL, workflow_version INTEGER NOT NULL, workflow_digest TEXT NOT NULL,
	live INTEGER NOT NULL, pr_url TEXT NOT NULL, pr_state TEXT NOT NULL,
	created_at TEXT NOT NULL, updated_at TEXT NOT NULL, entered_at TEXT NOT NULL,
	version INTEGER NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "tasks" VALUES('G8Mq0OcVdpaxM8tUFyyiV','coffee','feat/review','Is in review','idle','idle','','','agent-review','working','[{"name":"review_round","value":1}]','coffee--1','coffee/feat/review','','','','default',1,'4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e',1,'','','2026-11-21T14:57:14.180Z','2026-11-21T14:57:14.749Z','2026-11-21T14:57:14.670Z',9,6,'2bf026889c679992a7b4bc8798bfe344a0fd49683c4d040f9226b84acb245593');
INSERT INTO "tasks" VALUES('RpdgOO5blBXaXEwJDREeU','coffee','feat/wait','Waits','idle','idle','','','pending','','[]','','','','','','default',1,'4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e',1,'','','2026-11-21T14:57:14.788Z','2026-11-21T14:57:14.788Z','2026-11-21T14:57:14.788Z',1,1,'a839b67d6c5b899f83110555de5af9850d9d336a65e733ed7e01fbf04b22a394');
INSERT INTO "tasks" VALUES('fYv0cmS9ASUH97xfwOOKD','coffee','feat/done','Was cancelled','idle','idle','','','cancelled','planning','[]','','','','','','default',1,'4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e',0,'','','2026-11-21T14:57:13.629Z','2026-11-21T14:57:14.148Z','2026-11-21T14:57:14.028Z',8,5,'16433f53b072416871e42d8325b45bbd940da38911e0c05b9a67747cfd89b633');
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
INSERT INTO "workflows" VALUES('4d287fa0bd7764720ff20cbd3f4019041c0e64a1f8599d25ac41e40bbf38c58e','default',1,X'6e616d653a2064656661756c740a');
CREATE UNIQUE INDEX one_live_task_a_branch ON tasks (project, branch) WHERE live = 1;
CREATE INDEX tasks_by_project ON tasks (project, created_at);
CREATE INDEX queued_tasks ON tasks (project, updated_at) WHERE queued_for != '';
CREATE INDEX tasks_by_workspace ON tasks (workspace) WHERE workspace != '';
CREATE INDEX owed_hooks ON hooks (task, id) WHERE state IN ('pending', 'failed');
CREATE INDEX living_seats ON seats (pid) WHERE ended = 0;
CREATE INDEX seats_by_task ON seats (task);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('hooks',8);
COMMIT;
