package workflow

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// mostTime is the longest that a command or a webhook may be given: the one who waits for the hooks behind it waits
// as long.
const mostTime = time.Hour

// hookKey is a key that only some actions take.
type hookKey struct {
	name string
	key  action.Keys
	want string // what an action that needs the key lacks without it
}

// hookKeys lists the keys that only some actions take. Every action takes "increment", the short form of "field".
func hookKeys() []hookKey {
	vias := fmt.Sprintf("%q, %q, %q", action.ViaDesktop, action.ViaWebhook, action.ViaCommand)
	return []hookKey{
		{"prompt", action.KeyPrompt, "a prompt, expected the name of one"},
		{"harness", action.KeyHarness, "harness"},
		{"permissions", action.KeyPermissions, "permissions"},
		{"field", action.KeyField, "a field, expected the name of a counter"},
		{"value", action.KeyValue, "value"},
		{"role", action.KeyRole, "role, expected the role whose agent shall end"},
		{"folder", action.KeyFolder, "folder, expected what shall be set aside"},
		{"via", action.KeyVia, "via, expected one of " + vias},
		{"message", action.KeyMessage, "message, expected what to say"},
		{"url", action.KeyURL, "url, expected where to post"},
		{"run", action.KeyRun, "run, expected a program and its arguments"},
		{"timeout", action.KeyTimeout, "timeout"},
	}
}

func (r reader) hook(n *yaml.Node) Hook {
	h := Hook{Pos: yaml.PosOf(n)}
	said := map[string]yaml.Pos{}
	key := func(name string, read func(*yaml.Node)) yaml.Key {
		return yaml.May(name, func(n *yaml.Node) { said[name] = yaml.PosOf(n); read(n) })
	}
	r.Mapping(n, "a hook", []yaml.Key{
		key("action", func(n *yaml.Node) { h.Action = r.OneOf(n, "an action", action.Names()...) }),
		key("prompt", func(n *yaml.Node) { h.Prompt, h.prompt = r.Name(n, "a prompt"), yaml.PosOf(n) }),
		key("harness", func(n *yaml.Node) { h.Harness = r.Name(n, "harness") }),
		key("permissions", func(n *yaml.Node) {
			h.Permissions = r.OneOf(n, "permissions", task.PermissionsFull, task.PermissionsReduced)
		}),
		key("increment", func(n *yaml.Node) { h.Field = r.counter(n, "increment") }),
		key("field", func(n *yaml.Node) { h.Field = r.counter(n, "field") }),
		key("value", func(n *yaml.Node) { h.Value = r.Integer(n, "value", -maxGuard, maxGuard) }),
		key("role", func(n *yaml.Node) { h.Role, h.role = r.Name(n, "role"), yaml.PosOf(n) }),
		key("folder", func(n *yaml.Node) { h.Folder = r.inside(n, "folder") }),
		key("via", func(n *yaml.Node) {
			h.Via = r.OneOf(n, "via", action.ViaDesktop, action.ViaWebhook, action.ViaCommand)
		}),
		key("message", func(n *yaml.Node) { h.Message = r.Name(n, "message") }),
		key("url", func(n *yaml.Node) { h.URL = r.address(n) }),
		key("run", func(n *yaml.Node) { h.Run = r.words(n) }),
		key("timeout", func(n *yaml.Node) { h.Timeout = int(r.Duration(n, "timeout", mostTime) / time.Second) }),
	})
	_, acts := said["action"]
	if _, increments := said["increment"]; increments && !acts {
		h.Action, acts = action.Increment, true // "increment: field" is a hook of its own
	}
	if r.IsMapping(n) && !acts {
		r.Problem(h.Pos, "missing-key", "found no %q in a hook, expected it", "action")
	}
	if h.Action != "" {
		r.checkKeys(h, said)
	}
	return h
}

func (r reader) address(n *yaml.Node) string {
	text := r.Name(n, "url")
	parsed, err := url.Parse(text)
	if text != "" && (err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https") {
		r.Problem(yaml.PosOf(n), "value", "found %q as url, expected an address such as %q", text,
			"https://example.com/hook")
		return ""
	}
	return text
}

func (r reader) words(n *yaml.Node) []string {
	var out []string
	r.List(n, "run", func(n *yaml.Node) {
		if len(out) == 0 {
			out = append(out, r.Name(n, "the program of run"))
			return
		}
		out = append(out, r.Text(n, "a word of run"))
	})
	if len(out) == 0 && r.IsList(n) { // else it is reported already that it is none
		r.Problem(yaml.PosOf(n), "value", "found no program as run, expected a list of words such as %s",
			`["make", "test"]`)
	}
	return out
}

// checkKeys reports the keys that the hook's action has no use for, and what is missing or too much between the others.
// A prompt and a counter may still come from what is usual: checkHooks looks for them.
func (r reader) checkKeys(h Hook, said map[string]yaml.Pos) {
	spec, _ := action.Of(h.Action)
	for _, k := range hookKeys() {
		at, found := said[k.name]
		switch usual := k.key == action.KeyPrompt || k.key == action.KeyField; {
		case found && !spec.Takes.Has(k.key):
			takers := action.With(func(s action.Spec) bool { return s.Takes.Has(k.key) })
			r.Problem(at, "hook", "found %s in the hook %s, expected it only in %s", k.name, h.Action,
				joinWithAnd(takers))
		case !found && !usual && spec.Needs.Has(k.key):
			r.Problem(h.Pos, "hook", "found %s without %s", h.Action, k.want)
		}
	}
	if h.Folder != "" && engines(h.Folder) {
		r.Problem(said["folder"], "hook", "found %q to be set aside, expected a folder that is not the engine's",
			h.Folder)
	}
	if h.Action == action.Notify && h.Via != "" {
		r.checkVia(h, said)
	}
}

// checkVia reports what the via of a notice lacks, or has no use for.
func (r reader) checkVia(h Hook, said map[string]yaml.Pos) {
	for _, k := range []struct{ key, via, what string }{
		{"url", action.ViaWebhook, "where to post"}, {"run", action.ViaCommand, "a program and its arguments"},
	} {
		at, found := said[k.key]
		switch {
		case !found && h.Via == k.via:
			r.Problem(h.Pos, "hook", "found %s via %s without %s, expected %s", h.Action, h.Via, k.key, k.what)
		case found && h.Via != k.via:
			r.Problem(at, "hook", "found %s in the hook %s via %s, expected it only via %s", k.key, h.Action,
				h.Via, k.via)
		}
	}
	if at, found := said["timeout"]; found && h.Via == action.ViaDesktop {
		r.Problem(at, "hook", "found timeout in the hook %s via %s, expected it only via %s", h.Action, h.Via,
			joinWithAnd([]string{action.ViaWebhook, action.ViaCommand}))
	}
}

func joinWithAnd(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

func (r reader) counter(n *yaml.Node, what string) string {
	name := r.Text(n, what)
	if name != "" && !isFieldName(name) {
		r.Problem(yaml.PosOf(n), "value", "found %q as %s, expected the name of a counter such as %q", name, what,
			task.ReviewRound)
	}
	return name
}

// RoleIn reports the role of the agent that a hook starts or speaks to in a state; empty when it does neither.
// One whose hook does not name a role has the state's.
func RoleIn(s State, h task.Hook) string {
	if h.Action == action.NotifyWorker {
		return task.RoleWorker
	}
	role := SpawnRole(h)
	if h.Role == "" && role == task.RoleWorker && s.Role != "" && s.Role != task.RoleReviewer &&
		s.Role != task.RoleHuman {
		return s.Role
	}
	return role
}

// SpawnRole reports the role of the agent that a hook starts; empty when it starts none.
func SpawnRole(h task.Hook) string {
	switch {
	case h.Action != action.SpawnAgent && h.Action != action.SpawnReviewer:
		return ""
	case h.Role != "":
		return h.Role
	case h.Action == action.SpawnReviewer || h.Harness == task.HarnessReview:
		return task.RoleReviewer
	}
	return task.RoleWorker
}

// StartIn is the hook that starts the agent of a state by itself, as a respawn does; false for a state in which none
// works. It starts what the first move in the file starts that leads there, else a birth there, with its harness and
// its permissions, and has it read the respawn_prompt; without one it reads what that move has it read.
func (d *Definition) StartIn(s State) (h task.Hook, starts bool) {
	if s.Role == task.RoleHuman {
		return h, false
	}
	into := func(to task.Status, hooks []Hook) {
		for _, first := range hooks {
			if to == s.Name && !starts && SpawnRole(first.Hook) != "" && RoleIn(s, first.Hook) == s.Role {
				h, starts = first.Hook, true
				h.Field = "" // it is the same start, counted when the task came here
			}
		}
	}
	for i := range d.Transitions {
		into(d.Transitions[i].To, d.Transitions[i].Hooks)
	}
	for i := range d.Births {
		into(d.Births[i].To, d.Births[i].Hooks)
	}
	if d.PlanFile != nil {
		into(d.PlanFile.To, d.PlanFile.Hooks)
	}
	if s.RespawnPrompt.Name == "" {
		return h, starts
	}
	if !starts {
		h = usualStart(s.Role)
	}
	h.Prompt = s.RespawnPrompt.Name
	return h, true
}

// usualStart is how an agent of a role starts where no move says it.
func usualStart(role string) task.Hook {
	h := task.Hook{Action: action.SpawnAgent, Harness: task.HarnessTask, Permissions: task.PermissionsFull}
	switch role {
	case task.RoleReviewer:
		h = task.Hook{Action: action.SpawnReviewer, Harness: task.HarnessReview, Permissions: task.PermissionsReduced}
	case task.RoleWorker:
	default:
		h.Role = role
	}
	return h
}

func (d *Definition) eachHook(visit func(Hook)) {
	d.eachList(func(hooks []Hook) {
		for _, h := range hooks {
			visit(h)
		}
	})
}

func (r reader) checkHooks(d *Definition) {
	// who has no agent
	names := slices.DeleteFunc(d.RoleNames(), func(name string) bool { return name == task.RoleHuman })
	d.eachHook(func(h Hook) {
		spec, _ := action.Of(h.Action)
		for _, k := range hookKeys() {
			if spec.Needs.Has(k.key) && (k.key == action.KeyPrompt && h.Prompt == "" ||
				k.key == action.KeyField && h.Field == "") {
				r.Problem(h.Pos, "hook", "found %s without %s", h.Action, k.want)
			}
		}
		if h.Role != "" && !r.Full() && !slices.Contains(names, h.Role) {
			r.Problem(h.role, "role", "found the unknown role %q in a hook, %s", h.Role, yaml.Expected(h.Role, names))
		}
	})
}
