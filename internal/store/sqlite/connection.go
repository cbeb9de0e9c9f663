package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// connection is the one connection of a store: a command is one thread of thought, and PRAGMA data_version counts per
// connection. Goroutines take turns, each for a whole transaction or question. A statement is parsed when it is used
// first, and kept.
type connection struct {
	db   *sql.DB
	turn chan struct{} // has room for one: the goroutine that fills it has the turn
	conn *sql.Conn     // nil until the first turn
	kept map[string]*sql.Stmt

	hurried bool // the database does not wait for the disk after a commit
}

func newConnection(db *sql.DB) *connection {
	return &connection{db: db, turn: make(chan struct{}, 1), kept: map[string]*sql.Stmt{}}
}

// use runs the work while no other goroutine uses the connection. The work must not call use.
func (c *connection) use(ctx context.Context, work func(*batch) error) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.turn }()
	if c.conn == nil {
		conn, err := c.db.Conn(ctx)
		if err != nil {
			return err
		}
		c.conn = conn
	}
	return work(&batch{c})
}

func (c *connection) disconnect() error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	var err error
	for query, statement := range c.kept {
		err = errors.Join(err, statement.Close())
		delete(c.kept, query)
	}
	if c.conn != nil {
		err = errors.Join(err, c.conn.Close())
		c.conn = nil
	}
	return errors.Join(err, c.db.Close())
}

// batch is the connection while its user has the turn: several statements, in a transaction or without one.
type batch struct{ *connection }

// statement is the parsed form of a statement.
func (b *batch) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if known := b.kept[query]; known != nil {
		return known, nil
	}
	fresh, err := b.conn.PrepareContext(ctx, query)
	if err == nil {
		b.kept[query] = fresh
	}
	return fresh, err
}

// ExecContext runs a statement without an answer.
func (b *batch) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	statement, err := b.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx, args...)
}

// each runs a question and calls visit for each row of the answer.
func (b *batch) each(ctx context.Context, query string, args []any, visit func(scan func(...any) error) error) error {
	statement, err := b.statement(ctx, query)
	if err != nil {
		return err
	}
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := visit(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// texts are the answers of a question for one text a row.
func (b *batch) texts(ctx context.Context, query string, args ...any) (out []string, err error) {
	err = b.each(ctx, query, args, func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		out = append(out, text)
		return err
	})
	return out, err
}

// one reads the first row of an answer. An answer without a row is sql.ErrNoRows.
func (b *batch) one(ctx context.Context, query string, args []any, into ...any) error {
	statement, err := b.statement(ctx, query)
	if err != nil {
		return err
	}
	return statement.QueryRowContext(ctx, args...).Scan(into...)
}

// hurry sets whether commits wait for the disk. A connection whose commits should wait and do not is an error.
func (b *batch) hurry(ctx context.Context, hurried bool) error {
	if b.hurried == hurried {
		return nil
	}
	level := "FULL"
	if hurried {
		level = "NORMAL"
	}
	err := b.script(ctx, "PRAGMA synchronous = "+level)
	if err == nil {
		b.hurried = hurried
	}
	return err
}

// script runs statements that are needed once.
func (b *batch) script(ctx context.Context, text string) error {
	_, err := b.conn.ExecContext(ctx, text)
	return err
}

// transact runs the work between a statement that begins a transaction and the commit; where the work fails nothing of
// it stays.
func (b *batch) transact(ctx context.Context, begin string, work func(*batch) error) (committing bool, err error) {
	if _, err := b.ExecContext(ctx, begin); err != nil {
		return false, err
	}
	ending := context.WithoutCancel(ctx) // a transaction that is left open would be the next user's
	panics := true
	defer func() {
		if panics {
			_, _ = b.ExecContext(ending, "ROLLBACK") // the panic is worth more
		}
	}()
	err = work(b)
	if panics = false; err == nil {
		err = ctx.Err()
	}
	if err == nil {
		if _, err = b.ExecContext(ending, "COMMIT"); err == nil {
			return true, nil
		}
		committing = true
	}
	// The database may have rolled it back already: that it says so is not worth telling.
	if _, failed := b.ExecContext(ending, "ROLLBACK"); failed != nil &&
		!strings.Contains(failed.Error(), "no transaction is active") {
		err = errors.Join(err, failed)
	}
	return committing, err
}
