// Package store is the floor of what is kept: the record in SQLite, the files that mirror it, the home with what a
// person set up, and the log.
//
// It writes what the engine hands it, and has no rules.
package store
