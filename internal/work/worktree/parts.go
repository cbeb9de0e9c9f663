package worktree

import "orange/internal/work/git"

// Worktrees are those that a repository has: of tasks, of checks, and those that were set aside.
type Worktrees struct{ git.Repo }

// Rescues are what was kept in a repository before worktrees were cleared.
type Rescues struct{ git.Repo }

// Judged is what lay in worktrees when it was judged, as far as a repository keeps that.
type Judged struct{ git.Repo }

// Main is the person's own checkout of a repository, which gives worktrees what they have besides their commit.
type Main struct{ git.Repo }

// Needs is what a repository needs before a task can start in it.
type Needs struct{ git.Repo }

// Contents are the files of a worktree, compared with what git knows of them.
type Contents struct{ Slot }

// Files are those that lie in the slot.
func (s Slot) Files() Contents { return Contents{s} }

// DocumentLink is the place of the task's document in a worktree: a link, or what a program put there.
type DocumentLink struct{ Slot }

// Document is that of the slot.
func (s Slot) Document() DocumentLink { return DocumentLink{s} }

// Extras are the files of the main checkout that a worktree is brought, which git does not track.
type Extras struct{ Slot }

// Extras are those of the slot.
func (s Slot) Extras() Extras { return Extras{s} }

// sweep keeps what a worktree holds, and clears it.
type sweep struct{ Slot }

func (s Slot) sweep() sweep { return sweep{s} }
