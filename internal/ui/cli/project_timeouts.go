package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// withTimeouts is a project with some timeouts set or taken away: "STATE=6h", "STATE=none", "STATE=" for the
// workflow's own again.
func withTimeouts(h *Services, project task.Project, words []string) (task.Project, error) {
	all := map[string]string{}
	maps.Copy(all, project.Timeouts)
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
	known, unread, err := statesOf(h)
	if err != nil || slices.Contains(known, name) {
		return err
	}
	text := fmt.Sprintf("found the state %q in --timeout, %s", name, yaml.Expected(name, known))
	if len(unread) > 0 {
		text += "; these workflows could not be read: " + strings.Join(unread, ", ")
	}
	return usage("%s", text)
}

// timeoutsOf is a project's own timeouts in words.
func timeoutsOf(project task.Project) string {
	var words []string
	for _, state := range slices.Sorted(maps.Keys(project.Timeouts)) {
		words = append(words, state+"="+project.Timeouts[state])
	}
	return strings.Join(words, " ")
}
