package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"orange/internal/work/git"
)

// BenchmarkWarm compares a warm acquire with the two commands that it cannot do without.
func BenchmarkWarm(b *testing.B) {
	for _, files := range []int{50, 20000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			root := b.TempDir()
			h := home{root: root, Repo: git.Repo{Path: root + "/top", DefaultBranch: "main"}}
			run := func(dir string, args ...string) {
				if _, err := try(dir, args...); err != nil {
					b.Fatal(err)
				}
			}
			run(root, "init", "-q", "top")
			fill(b, h.Path, files)
			run(h.Path, "add", "-A")
			run(h.Path, "commit", "-q", "-m", "all")
			s := h.slot(1)
			free := func() {
				if _, err := s.Prepare(b.Context(), "topic", "T"); err != nil {
					b.Fatal(err)
				}
				if _, err := s.Release(b.Context(), "T"); err != nil {
					b.Fatal(err)
				}
			}
			free()
			b.Run("Prepare", func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Prepare(b.Context(), "topic", "T"); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					free()
					b.StartTimer()
				}
			})
			b.Run("SwitchAndClean", func(b *testing.B) {
				for b.Loop() {
					run(s.Dir, "switch", "-q", "topic")
					run(s.Dir, "clean", "-q", "-fd")
					b.StopTimer()
					run(s.Dir, "switch", "-q", "--detach", "main")
					b.StartTimer()
				}
			})
		})
	}
}

func fill(b *testing.B, dir string, files int) {
	const each = 100 // files of a folder
	for n := range files {
		folder := filepath.Join(dir, fmt.Sprint(n/each))
		if n%each == 0 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(n)), []byte(fmt.Sprint(n)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}
