package cli

import (
	"fmt"
	"sort"
	"strings"

	"orange/internal/task"
	"orange/internal/yaml"
)

// withTimeouts is a project with some timeouts set or taken away: "STATE=6h", "STATE=none", "STATE=" for the
// workflow's own again.
func withTimeouts(h *Services, project task.Project, words []string) (task.Project, error) {
	all := map[string]string{}
	for state, after := range project.Timeouts { // one map into another: the order does not matter
		all[state] = after
	}
	for _, word := range words {
		state, after, split := strings.Cut(word, "=")
		if !split || state == "" {
			return project, usage("found %q as --timeout, expected STATE=TIME such as %q, STATE=%s for no "+
				"timeout, or STATE= for the workflow's own", word, "working=6h", task.NoTimeout)
		}
		if after == "" {
			delete(all, state)
			continue
		}
		if err := knownState(h, state); err != nil {
			return project, err
		}
		if _, err := task.ReadTimeout(after); err != nil {
			return project, usage("--timeout %s: %v", word, err)
		}
		all[state] = after
	}
	project.Timeouts = all
	return project, nil
}

// knownState says what is wrong with the name of a state: some workflow that can be had must have it.
// A workflow that cannot be read may be the one.
func knownState(h *Services, name string) error {
	files, err := h.Workflows.Workflows()
	if err != nil {
		return err
	}
	var known, unread []string
	for _, file := range files {
		def, _, err := h.Workflows.Workflow(file.Name)
		if err != nil {
			unread = append(unread, fmt.Sprintf("%q", file.Name))
			continue
		}
		if _, exists := def.State(task.Status(name)); exists {
			return nil
		}
		for i := range def.States {
			known = append(known, string(def.States[i].Name))
		}
	}
	sort.Strings(known)
	text := fmt.Sprintf("found the state %q in --timeout, %s", name, yaml.Expected(name, distinct(known)))
	if len(unread) > 0 {
		text += "; these workflows could not be read: " + strings.Join(unread, ", ")
	}
	return usage("%s", text)
}

// distinct is a sorted list with every word once.
func distinct(sorted []string) []string {
	var out []string
	for _, word := range sorted {
		if len(out) == 0 || out[len(out)-1] != word {
			out = append(out, word)
		}
	}
	return out
}

// timeoutsOf is a project's own timeouts in words.
func timeoutsOf(project task.Project) string {
	words := make([]string, 0, len(project.Timeouts))
	for state, after := range project.Timeouts { // sorted below
		words = append(words, state+"="+after)
	}
	sort.Strings(words)
	return strings.Join(words, " ")
}
