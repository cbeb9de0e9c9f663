package forge

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Quota is how many calls GitHub still takes, as one of its answers said.
type Quota struct {
	Limit, Remaining int // 0 and 0 where the answer did not say
	Reset            time.Time
}

// Limited is GitHub's refusal because too much was asked of it.
type Limited struct {
	Said  string
	Until time.Time // when it takes calls again; zero where the answer did not say
}

func (l *Limited) Error() string {
	if l.Until.IsZero() {
		return l.Said + "; wait until GitHub takes calls again (see \"gh api rate_limit\"), and try again"
	}
	return fmt.Sprintf("%s; GitHub takes calls again at %s: try again then", l.Said,
		l.Until.UTC().Format(time.RFC3339))
}

// answer is what GitHub answered to a call of its interface, taken apart.
type answer struct {
	header http.Header // nil where gh did not print it
	body   []byte
}

// readAnswer takes apart what "gh api --include" prints.
func readAnswer(out []byte) answer {
	if !bytes.HasPrefix(out, []byte("HTTP/")) {
		return answer{body: out}
	}
	a := answer{header: http.Header{}}
	for {
		line, rest, found := bytes.Cut(out, []byte("\n"))
		out = rest
		name, value, pair := strings.Cut(string(bytes.TrimSpace(line)), ":")
		if pair {
			a.header.Add(name, strings.TrimSpace(value))
		}
		if !found || name == "" {
			a.body = out
			return a
		}
	}
}

// quota is what the answer says of the calls that are left.
func (a answer) quota() Quota {
	q := Quota{Limit: a.number("X-Ratelimit-Limit"), Remaining: a.number("X-Ratelimit-Remaining")}
	if at := a.number("X-Ratelimit-Reset"); at > 0 {
		q.Reset = time.Unix(int64(at), 0)
	}
	return q
}

// limited is the refusal because too much was asked, with the time that the answer names; nil where it is none. now is
// the time of the answer.
func (a answer) limited(said string, now time.Time) *Limited {
	if !tooMuch(said) {
		return nil
	}
	l := &Limited{Said: said}
	q := a.quota()
	if seconds := a.number("Retry-After"); seconds > 0 {
		l.Until = now.Add(time.Duration(seconds) * time.Second)
	} else if q.Limit > 0 && q.Remaining == 0 {
		l.Until = q.Reset
	}
	return l
}

func (a answer) number(name string) int {
	n, err := strconv.Atoi(a.header.Get(name))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// tooMuch reports whether a refusal is about the number of calls, in GitHub's words.
func tooMuch(said string) bool {
	said = strings.ToLower(said)
	return strings.Contains(said, "rate limit") || strings.Contains(said, "http 429")
}
