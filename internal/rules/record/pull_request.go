package record

import "time"

// PRLook is a pull request as a look found it, with what others say of it.
type PRLook struct {
	PullRequest
	Runs    []PRCheck
	Reviews []PRReview // the oldest first
}

// PRCheck is one check of the commit at the pull request's head.
type PRCheck struct {
	ID      string // says which run it is: a check that runs again has another one
	Name    string
	Result  string // ChecksFail, ChecksPending or ChecksPass; ChecksNone is one that is of no account
	Address string // where people read more
	Said    string // its own summary
	Log     string // how the host names its log; empty where there is none
}

// PRReview is what one person, or one program, said about one commit.
type PRReview struct {
	ID     string
	Commit string
	State  string // ReviewChanges, ReviewApproved or another word of the host
	Author PRAuthor
	Said   string
	Notes  []PRNote
}

// PRNote is a remark about a place in the changed files.
type PRNote struct {
	Path string
	Line int // 0 where the place is gone
	Said string
}

// PRAuthor is who wrote something at the place where pull requests are.
type PRAuthor struct {
	Name   string
	Writes bool // may write to the repository
	Bot    bool // is a program
}

// Issue is an issue at the place where pull requests are.
type Issue struct {
	Address string
	Title   string
	Text    string
	Author  PRAuthor
}

// What a review asks for.
const (
	ReviewChanges  = "CHANGES_REQUESTED"
	ReviewApproved = "APPROVED"
	ReviewGone     = "DISMISSED"
)

// ForgePause is why a host of pull requests is not asked at present, for the monitor and for people.
type ForgePause struct {
	Host     string    `json:"host"`
	Until    time.Time `json:"until"`
	Why      string    `json:"why"`
	Failures int       `json:"failures,omitempty"` // one after the other
}

// Holds reports whether the host is not to be asked now.
func (p ForgePause) Holds(now time.Time) bool { return now.Before(p.Until) }
