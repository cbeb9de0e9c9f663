package task

// Subject is what evidence is about: the work of a task as it stood at one moment.
type Subject struct {
	Commit   string `json:"commit,omitempty"`   // the tip of the task's branch; empty where there was none, or it could not be read
	Branch   string `json:"branch,omitempty"`   // the branch that was followed, where it is not the task's own name for it
	Trouble  string `json:"trouble,omitempty"`  // why the tip could not be read
	Tree     string `json:"tree,omitempty"`     // of all that lay in the worktree, where a state judges what is not committed
	Tracked  string `json:"tracked,omitempty"`  // of that, the tree of the files that git knew
	Reviewed bool   `json:"reviewed,omitempty"` // the tree is one that a passing verdict was about
	By       string `json:"by,omitempty"`       // who put it up without one
}
