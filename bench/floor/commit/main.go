// Command commit makes one durable commit with the driver and the settings of Orange's record, and ends. No program
// that keeps a record in SQLite moves a task sooner.
//
// usage: commit DATABASE [ROW]
package main

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"

	_ "modernc.org/sqlite" // the driver registers itself under the name "sqlite"
)

func main() {
	if err := commit(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func commit(args []string) error {
	row := "1"
	if len(args) > 1 {
		row = args[1]
	}
	settings := url.Values{"_pragma": {"busy_timeout(60000)", "journal_mode(WAL)", "synchronous(FULL)"},
		"_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: args[0], RawQuery: settings.Encode()}).String())
	if err != nil {
		return err
	}
	defer db.Close()
	if row == "new" {
		_, err := db.Exec("CREATE TABLE t (id TEXT PRIMARY KEY, n INTEGER)")
		return err
	}
	_, err = db.Exec("INSERT INTO t VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET n = n + 1", row)
	return err
}
