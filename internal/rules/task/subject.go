package task

import (
	"fmt"
	"strings"
)

// Subject is what evidence is about: the work of a task as it was at one moment.
type Subject struct {
	// the tip of the task's branch; empty where there was none, or it could not be read
	Commit string `json:"commit,omitempty"`
	// the branch that was followed, where it is not the task's own name for it
	Branch  string `json:"branch,omitempty"`
	Trouble string `json:"trouble,omitempty"` // why the tip could not be read
	// of all that lay in the worktree, where a state judges what is not committed
	Tree     string `json:"tree,omitempty"`
	Tracked  string `json:"tracked,omitempty"`  // of that, the tree of the files that git knew
	Reviewed bool   `json:"reviewed,omitempty"` // a passing verdict was about it
	By       string `json:"by,omitempty"`       // who put it up without one
	// neither a verdict nor a person put it up for its merge
	Unvouched bool `json:"unvouched,omitempty"`
}

// UnreviewedText says who put the work up without a review; empty where it was reviewed, or waits for no one's
// merge.
func (s Subject) UnreviewedText() string {
	if s.By == "" {
		return ""
	}
	name, _, _ := strings.Cut(s.By, " <") // without the address
	return "handed in by " + name + ", not reviewed"
}

// Start is what an agent finds when it is started, noted before its process is there.
type Start struct {
	Subject  Subject    `json:"subject"`
	Evidence []Evidence `json:"evidence,omitempty"` // the verdicts that are there already
}

// Words say what the subject is: which commit, and whether it was reviewed or who put it up. They are empty where
// nothing was noted.
func (s Subject) Words() string {
	word := "handed in at"
	switch {
	case s.Commit == "":
		return ""
	case s.Reviewed:
		word = "reviewed"
	case s.By != "":
		word = "handed in by " + s.By + " and not reviewed"
	}
	return fmt.Sprintf("%s %.7s", word, s.Commit)
}

// Valid is the subject with every text in valid UTF-8.
func (s Subject) Valid() Subject {
	valid := func(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
	s.Commit, s.Branch, s.Trouble = valid(s.Commit), valid(s.Branch), valid(s.Trouble)
	s.Tree, s.Tracked, s.By = valid(s.Tree), valid(s.Tracked), valid(s.By)
	return s
}
