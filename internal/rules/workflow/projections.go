package workflow

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"orange/internal/rules/task"
)

// engines reports whether a path in a task's folder is the engine's own, or lies below one that is.
// Names that differ in capitals alone are one name: some systems have it so.
func engines(found string) bool {
	top, _, _ := strings.Cut(strings.ToLower(path.Clean(found)), "/")
	return slices.Contains([]string{"task.md", "history.jsonl", "evidence", "prompts", "checks", task.AsideFolder}, top)
}

// checkProjections: no projection is where the engine or another projection writes, however its path is written.
func (r reader) checkProjections(d *Definition) {
	for i, p := range d.Projections {
		if p.File == "" {
			continue // reported already
		}
		if why := whyTaken(d.Projections[:i], p.File); why != "" {
			r.Problem(p.Pos, "projection", "found the projection %q, expected another name: %s", p.File, why)
		}
	}
}

// whyTaken reports why a projection cannot have its name, given the earlier ones; empty when it can.
func whyTaken(earlier []Projection, found string) string {
	file := strings.ToLower(path.Clean(found))
	if engines(found) {
		return "the file is the engine's"
	}
	for _, other := range earlier {
		place := strings.ToLower(path.Clean(other.File))
		if other.File != "" && (place == file || strings.HasPrefix(place, file+"/") ||
			strings.HasPrefix(file, place+"/")) {
			return fmt.Sprintf("%q is in its place", other.File)
		}
	}
	return ""
}
