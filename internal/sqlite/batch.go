package sqlite

import (
	"context"
	"database/sql"
)

// batch is one transaction. A statement that a program uses again and again is parsed once: a monitor would spend
// as long on parsing as on everything else.
type batch struct {
	*sql.Tx
	store *Store
}

// often is how many times a statement is used before it is worth keeping. Few commands come so far: only those
// that wait.
const often = 3

// statement is the kept form of a statement in the transaction; nil while there is none.
func (b *batch) statement(ctx context.Context, query string) *sql.Stmt {
	if kept := b.store.statement(query); kept != nil {
		return b.StmtContext(ctx, kept)
	}
	return nil
}

// statement is the kept form of a statement; nil while there is none. Then it is counted.
func (s *Store) statement(query string) *sql.Stmt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept := s.known[query]; kept != nil {
		return kept
	}
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	s.asked[query]++
	return nil
}

// ExecContext runs a statement without an answer.
func (b *batch) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if kept := b.statement(ctx, query); kept != nil {
		return kept.ExecContext(ctx, args...)
	}
	return b.Tx.ExecContext(ctx, query, args...)
}

// QueryContext runs a statement that answers rows.
func (b *batch) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if kept := b.statement(ctx, query); kept != nil {
		return kept.QueryContext(ctx, args...)
	}
	return b.Tx.QueryContext(ctx, query, args...)
}

// QueryRowContext runs a statement that answers one row.
func (b *batch) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if kept := b.statement(ctx, query); kept != nil {
		return kept.QueryRowContext(ctx, args...)
	}
	return b.Tx.QueryRowContext(ctx, query, args...)
}

// learn keeps the statements that were asked for often. No transaction is open then: there is one connection only.
func (s *Store) learn(ctx context.Context) {
	s.mu.Lock()
	var wanted []string
	for query, times := range s.asked {
		if times >= often {
			wanted = append(wanted, query)
			delete(s.asked, query)
		}
	}
	s.mu.Unlock()
	for _, query := range wanted {
		kept, err := s.db.PrepareContext(ctx, query)
		if err != nil {
			continue // it goes on being parsed each time
		}
		s.mu.Lock()
		if s.known == nil {
			s.known = map[string]*sql.Stmt{}
		}
		s.known[query] = kept
		s.mu.Unlock()
	}
}
