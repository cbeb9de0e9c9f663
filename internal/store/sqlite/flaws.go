package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"orange/internal/rules/record"
)

// Flaws lists what the rows of a task have, or those of all where none is named, and this program never writes. It
// compares rows with each other; who has a task's history compares that with the record. It says of what and what it
// found; how much that matters it does not know.
func (s *Store) Flaws(ctx context.Context, id string) ([]record.Finding, error) {
	var out []record.Finding
	err := s.inOneState(ctx, func(tx *batch) error {
		for _, question := range append(shapeQuestions(), disagreements()...) {
			query := "SELECT * FROM (" + question + ") WHERE found IS NOT NULL AND (? = '' OR subject = ?)"
			err := tx.each(ctx, query, []any{id, id}, func(scan func(...any) error) error {
				var one record.Finding
				err := scan(&one.Subject, &one.Found)
				out = append(out, one)
				return err
			})
			if err != nil {
				return err
			}
		}
		return tx.each(ctx, "SELECT digest, text FROM workflows WHERE ? = ''", []any{id},
			func(scan func(...any) error) error {
				var digest string
				var text []byte
				err := scan(&digest, &text)
				if sum := sha256.Sum256(text); err == nil && hex.EncodeToString(sum[:]) != digest {
					out = append(out, record.Finding{Subject: "workflows",
						Found: fmt.Sprintf("the text that is kept under the digest %q has another one", digest)})
				}
				return err
			})
	})
	if err != nil {
		return nil, fmt.Errorf("look at the rows of the record: %w", err)
	}
	return out, nil
}

// shapeQuestions asks each table for values of another form than this program writes.
func shapeQuestions() []string {
	const time, json = "IN ('', strftime('%Y-%m-%dT%H:%M:%fZ', $))", "IS iif(json_valid($), $, NULL)"
	const ended = "IN ('', iif(seq < 0, $, ''))" // only the end of a task says whose it was
	forms := map[string][][2]string{
		"hooks": {{"state", "IN ('pending', 'failed', 'done', 'superseded')"}, {"attempts", ">= 0"}, {"hook", json},
			{"next_try", time}, {"started_at", time}, {"ended_at", time}},
		"seats": {{"hash", "IS iif($ GLOB '*[^0-9a-f]*', NULL, $)"}, {"pid", ">= 0"},
			{"ended", "IN (0, 1)"}, {"start", json}},
		"notices": {{"seq", "BETWEEN 1 AND (SELECT tasks.seq FROM tasks WHERE id = task)"}},
		"waiters": {{"pid", "> 0"}}, "refusals": {{"line", json}},
		"changes": {{"seq", ">= -1"}, {"project", ended}, {"branch", ended}},
	}
	var out []string
	for table, columns := range forms {
		text := "SELECT task AS subject, CASE"
		for _, one := range columns {
			name, holds := one[0], strings.ReplaceAll(one[1], "$", one[0])
			text += fmt.Sprintf(" WHEN NOT coalesce(%[1]s %[2]s, 0) "+
				"THEN 'a row of %[3]s has the %[1]s ' || quote(%[1]s)", name, holds, table)
		}
		out = append(out, text+" END AS found FROM "+table)
	}
	return out
}

// disagreements asks for rows that do not go together with others.
func disagreements() []string {
	out := []string{
		`SELECT id AS subject, 'its history has ' || n || ' bytes, and ' || history_bytes || ' on record' AS found
		FROM (SELECT id, history_bytes,
			(SELECT coalesce(sum(octet_length(line) + 1), 0) FROM events WHERE task = id) AS n FROM tasks)
		WHERE n != history_bytes`,
		`SELECT task AS subject, 'its events are not numbered from 1 on' AS found FROM events GROUP BY task
		HAVING min(seq) != 1 OR max(seq) != count(*)`,
		// Who follows the record hears of every event of a task once, in their order.
		`SELECT id AS subject, 'the table changes does not have its events, each once and in their order' AS found
		FROM tasks LEFT JOIN (SELECT task, count(*) AS n, sum(seq != place) AS wrong FROM (
			SELECT task, seq, row_number() OVER (PARTITION BY task ORDER BY number) AS place FROM changes WHERE seq > 0
		) GROUP BY task) ON task = id WHERE coalesce(n, 0) != seq OR wrong > 0`,
		`SELECT task AS subject, 'the hooks of event ' || event || ' are not numbered from 0 on' AS found FROM hooks
		GROUP BY task, event HAVING min(place) != 0 OR max(place) != count(*) - 1`,
		`SELECT task AS subject, 'hook ' || id || ' comes before one that began later' AS found
		FROM (SELECT id, task, event, place, lag((event << 32) + place) OVER own AS before FROM hooks
			WINDOW own AS (PARTITION BY task ORDER BY id)) WHERE before > (event << 32) + place`,
		`SELECT task AS subject, 'hook ' || id || ' has a number that was never given' AS found FROM hooks
		WHERE id > (SELECT seq FROM sqlite_sequence WHERE name = 'hooks')`,
		// The hooks of seats that a rebuild took over are gone, and had earlier numbers than any that it has now.
		`SELECT task AS subject, 'a seat is of hook ' || hook || ', which the task does not have' AS found FROM seats
		WHERE hook NOT IN (SELECT id FROM hooks WHERE hooks.task = seats.task)
			AND hook > (SELECT min(id) FROM hooks WHERE hooks.task = seats.task)`,
		`SELECT leases.task AS subject, 'its workspace is on record for the project ' || quote(leases.project) AS found
		FROM leases JOIN tasks ON id = leases.task WHERE leases.project != tasks.project`,
	}
	for table := range strings.FieldsSeq("hooks spent entries starts seats notices refusals renderings") {
		out = append(out, "SELECT DISTINCT task AS subject, 'rows of "+table+" are of a task that is not on record' "+
			"AS found FROM "+table+" WHERE task NOT IN (SELECT id FROM tasks)")
	}
	return out
}
