package worktree

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/work/git"
)

// An index is a file in the reach of who works in the worktree, and git takes a file for unchanged whose times and size
// are those that the index has of it.
func TestAnIndexThatAnAgentHasForged_hidesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	before, err := s.Files().Trees(t.Context(), "T1")
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.Dir, "a.txt", "forged\n")
	forge(t, s, "a.txt")
	want(t, "what git says by itself", gitIn(t, s.Dir, "status", "--porcelain"), "")

	want(t, "modified", strings.Join(stand(t, s).Modified, "|"), "a.txt")
	changed, err := s.Files().ChangedSince(t.Context(), before.Whole)
	want(t, "changed since", strings.Join(changed, "|"), "a.txt")
	want(t, "error", err, nil)
	shown, err := s.Files().Diff(t.Context())
	want(t, "a diff shows it", strings.Contains(shown, "+forged"), true)
	want(t, "error", err, nil)
	patch, err := s.Files().Patch(t.Context(), "")
	want(t, "a patch is told to have what is not committed", patch.Loose, true)
	want(t, "error", err, nil)
	made, left, err := s.WorkCommit(t.Context(), "T1", func(string, int64) bool { return true })
	want(t, "a snapshot has it", gitIn(t, h.Path, "show", made+":a.txt"), "forged")
	want(t, "left out", len(left), 0)
	want(t, "error", err, nil)
	wantError(t, Worktrees{Repo: h.Repo}.Remove(t.Context(), s.Dir), "uncommitted changes")

	kept := release(t, s, "T1")
	if len(kept) != 1 {
		t.Fatalf("rescued: %+v", kept)
	}
	want(t, "rescued", gitIn(t, h.Path, "show", kept[0].Commit+":a.txt"), "forged")
	prepare(t, s, "next", "T2")
	want(t, "what the next task finds", read(t, s.Dir, "a.txt"), "one\n")
}

// forge has the slot's index tell of a file what the file is now.
func forge(t *testing.T, s Slot, file string) {
	t.Helper()
	dir, err := git.DirOf(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	index := []byte(read(t, dir, "index"))
	const fields, name = 10, 62 // numbers of an entry, of four bytes each; bytes before its name
	at := bytes.Index(index, []byte("\x00"+string(rune(len(file)))+file+"\x00")) + len("\x00\x00") - name
	if at < 0 {
		t.Fatalf("the index does not name %s", file)
	}
	var info syscall.Stat_t
	if err := syscall.Lstat(filepath.Join(s.Dir, file), &info); err != nil {
		t.Fatal(err)
	}
	for i, value := range [fields]int64{info.Ctim.Sec, info.Ctim.Nsec, info.Mtim.Sec, info.Mtim.Nsec, int64(info.Dev),
		int64(info.Ino), int64(info.Mode), int64(info.Uid), int64(info.Gid), info.Size} {
		binary.BigEndian.PutUint32(index[at+4*i:], uint32(value))
	}
	sum := sha1.Sum(index[:len(index)-sha1.Size])
	copy(index[len(index)-sha1.Size:], sum[:])
	if err := os.WriteFile(filepath.Join(dir, "index"), index, 0o644); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour) // git reads a file that is as young as the index
	if err := os.Chtimes(filepath.Join(dir, "index"), later, later); err != nil {
		t.Fatal(err)
	}
}
