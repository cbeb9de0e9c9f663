package worktree

// View is a workspace as an agent sees it.
type View struct {
	Dir      string
	Base     string // what its branch is compared with
	TaskFile string // the document, relative to Dir
}
