package workflow

import (
	"fmt"
	"path"
	"strings"
)

// engines are the names in a task's folder that the engine uses itself, whatever lies below them.
func engines() []string {
	return []string{"TASK.md", "history.jsonl", "evidence", "prompts", "checks"}
}

// checkProjections: no projection stands where the engine or another projection writes, however its path is written.
// Names that differ in capitals alone are one name: some systems have it so.
func (r reader) checkProjections(d *Definition) {
	for i, p := range d.Projections {
		if p.File == "" {
			continue // told already
		}
		if why := taken(d.Projections[:i], p.File); why != "" {
			r.Problem(p.Pos, "projection", "found the projection %q, expected another name: %s", p.File, why)
		}
	}
}

// taken says why a projection cannot have its name beside the earlier ones; empty when it can.
func taken(earlier []Projection, found string) string {
	file := strings.ToLower(path.Clean(found))
	top, _, _ := strings.Cut(file, "/")
	for _, name := range engines() {
		if top == strings.ToLower(name) {
			return "the file is the engine's"
		}
	}
	for _, other := range earlier {
		place := strings.ToLower(path.Clean(other.File))
		if other.File != "" && (place == file || strings.HasPrefix(place, file+"/") || strings.HasPrefix(file, place+"/")) {
			return fmt.Sprintf("%q is in its place", other.File)
		}
	}
	return ""
}
