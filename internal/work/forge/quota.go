package forge

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Quota is how many calls a host still takes, as one of its answers said.
type Quota struct {
	Limit, Remaining int // 0 and 0 where the answer did not say
	Reset            time.Time
}

// Limited is a host's refusal because too much was asked of it.
type Limited struct {
	Said        string
	Until       time.Time // when it takes calls again; zero where the answer did not say
	site, calls string
}

func (l *Limited) Error() string {
	switch {
	case !l.Until.IsZero():
		return fmt.Sprintf("%s; %s takes calls again at %s: try again then", l.Said, l.site,
			l.Until.UTC().Format(time.RFC3339))
	case l.calls != "":
		return fmt.Sprintf("%s; wait until %s takes calls again (see %q), and try again", l.Said, l.site, l.calls)
	}
	return fmt.Sprintf("%s; wait until %s takes calls again, and try again", l.Said, l.site)
}

// answer is what a host answered to a call of its interface, taken apart.
type answer struct {
	header http.Header // nil where gh did not print it
	body   []byte
}

// readAnswer takes apart what "gh api --include" or "glab api --include" prints.
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
	q := Quota{Limit: a.either("Ratelimit-Limit"), Remaining: a.either("Ratelimit-Remaining")}
	if at := a.either("Ratelimit-Reset"); at > 0 {
		q.Reset = time.Unix(int64(at), 0)
	}
	return q
}

// until adds to a refusal because too much was asked the time that the answer names. now is the time of the answer.
func (a answer) until(refused error, now time.Time) {
	limit, is := errors.AsType[*Limited](refused)
	if !is {
		return
	}
	q := a.quota()
	if seconds := a.number("Retry-After"); seconds > 0 {
		limit.Until = now.Add(time.Duration(seconds) * time.Second)
	} else if q.Limit > 0 && q.Remaining == 0 {
		limit.Until = q.Reset
	}
}

// either is the number under GitHub's name, which begins with X-, or under GitLab's.
func (a answer) either(name string) int { return cmp.Or(a.number("X-"+name), a.number(name)) }

func (a answer) number(name string) int {
	n, err := strconv.Atoi(a.header.Get(name))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// tooMuch reports whether a refusal is about the number of calls.
func tooMuch(said string) bool {
	said = strings.ToLower(said)
	return strings.Contains(said, "rate limit") || strings.Contains(said, "http 429")
}
