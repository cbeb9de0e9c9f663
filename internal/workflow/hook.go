package workflow

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"orange/internal/task"
	"orange/internal/yaml"
)

// mostTime is the longest that a command or a webhook may be given: the one who waits for the hooks behind it waits
// as long.
const mostTime = time.Hour

// useful lists the keys that only some actions have a use for, with those. Every action may increment.
func useful() []struct {
	key     string
	actions []string
} {
	return []struct {
		key     string
		actions []string
	}{
		{"prompt", []string{task.SpawnAgent, task.SpawnReviewer, task.NotifyWorker}},
		{"harness", []string{task.SpawnAgent, task.SpawnReviewer}},
		{"permissions", []string{task.SpawnAgent, task.SpawnReviewer}},
		{"field", []string{task.Increment, task.SetField}},
		{"value", []string{task.SetField}},
		{"role", []string{task.SpawnAgent, task.SpawnReviewer, task.KillAgent}},
		{"folder", []string{task.SetAside}},
		{"via", []string{task.Notify}},
		{"message", []string{task.Notify}},
		{"url", []string{task.Notify}},
		{"run", []string{task.Notify, task.RunCommand}},
		{"timeout", []string{task.Notify, task.RunCommand}},
	}
}

func (r reader) hook(n *yaml.Node) Hook {
	h := Hook{Pos: yaml.PosOf(n)}
	said := map[string]yaml.Pos{}
	key := func(name string, read func(*yaml.Node)) yaml.Key {
		return yaml.May(name, func(n *yaml.Node) { said[name] = yaml.PosOf(n); read(n) })
	}
	r.Mapping(n, "a hook", []yaml.Key{
		key("action", func(n *yaml.Node) { h.Action = r.OneOf(n, "an action", task.Actions()...) }),
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
		key("via", func(n *yaml.Node) { h.Via = r.OneOf(n, "via", task.ViaDesktop, task.ViaWebhook, task.ViaCommand) }),
		key("message", func(n *yaml.Node) { h.Message = r.Name(n, "message") }),
		key("url", func(n *yaml.Node) { h.URL = r.address(n) }),
		key("run", func(n *yaml.Node) { h.Run = r.words(n) }),
		key("timeout", func(n *yaml.Node) { h.Timeout = int(r.Duration(n, "timeout", mostTime) / time.Second) }),
	})
	_, acts := said["action"]
	if _, increments := said["increment"]; increments && !acts {
		h.Action, acts = task.Increment, true // "increment: field" is a hook of its own
	}
	if r.IsMapping(n) && !acts {
		r.Problem(h.Pos, "missing-key", "found no %q in a hook, expected it", "action")
	}
	if h.Action != "" {
		r.checkKeys(h, said)
	}
	return h
}

// address reads where a webhook is posted to.
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

// words reads a program with its arguments.
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
func (r reader) checkKeys(h Hook, said map[string]yaml.Pos) {
	for _, u := range useful() {
		at, found := said[u.key]
		if found && !slices.Contains(u.actions, h.Action) {
			r.Problem(at, "hook", "found %s in the hook %s, expected it only in %s", u.key, h.Action, listed(u.actions))
		}
	}
	has := func(key string) bool { _, found := said[key]; return found }
	need := func(key, what string) {
		if !has(key) {
			r.Problem(h.Pos, "hook", "found %s without %s, expected %s", h.Action, key, what)
		}
	}
	switch h.Action {
	case task.KillAgent:
		need("role", "the role whose agent shall end")
	case task.SetAside:
		need("folder", "what shall be set aside")
		if engines(h.Folder) {
			r.Problem(said["folder"], "hook",
				"found %q to be set aside, expected a folder that is not the engine's", h.Folder)
		}
	case task.RunCommand:
		need("run", "a program and its arguments")
	case task.Notify:
		need("message", "what to say")
		need("via", "one of "+strings.Join(quoted(task.ViaDesktop, task.ViaWebhook, task.ViaCommand), ", "))
		if h.Via != "" {
			r.checkWay(h, said)
		}
	}
}

// checkWay reports what the way of a notice lacks, or has no use for.
func (r reader) checkWay(h Hook, said map[string]yaml.Pos) {
	for _, k := range []struct{ key, via, what string }{
		{"url", task.ViaWebhook, "where to post"}, {"run", task.ViaCommand, "a program and its arguments"},
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
	if at, found := said["timeout"]; found && h.Via == task.ViaDesktop {
		r.Problem(at, "hook", "found timeout in the hook %s via %s, expected it only via %s", h.Action, h.Via,
			listed([]string{task.ViaWebhook, task.ViaCommand}))
	}
}

func quoted(words ...string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = `"` + w + `"`
	}
	return out
}

func listed(words []string) string {
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

func (d *Definition) eachHook(visit func(Hook)) {
	d.eachList(func(hooks []Hook) {
		for _, h := range hooks {
			visit(h)
		}
	})
}

func (r reader) checkHooks(d *Definition) {
	// who has no agent
	names := slices.DeleteFunc(d.roleNames(), func(name string) bool { return name == task.RoleHuman })
	d.eachHook(func(h Hook) {
		switch h.Action {
		case task.SpawnAgent, task.SpawnReviewer:
			if h.Prompt == "" {
				r.Problem(h.Pos, "hook", "found %s without a prompt, expected the name of one", h.Action)
			}
		case task.Increment, task.SetField:
			if h.Field == "" {
				r.Problem(h.Pos, "hook", "found %s without a field, expected the name of a counter", h.Action)
			}
		}
		if h.Role != "" && !r.Full() && !slices.Contains(names, h.Role) {
			r.Problem(h.role, "role", "found the unknown role %q in a hook, %s", h.Role, yaml.Expected(h.Role, names))
		}
	})
}
