package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"orange/internal/run/proc"
	"orange/internal/testkit/provider"
)

// programsFolder names the folder that tools/harnesses/install has filled.
const programsFolder = "ORANGE_TEST_PROGRAMS"

// pairs are who works and who reviews in the stories that every program goes through.
func pairs() [][2]string {
	return [][2]string{{"pi", "codex"}, {"codex", "pi"}, {"claude", "codex"}, {"codex", "claude"}, {"claude", "pi"},
		{"pi", "claude"}, {"copilot", "codex"}, {"codex", "copilot"}, {"copilot", "pi"}, {"pi", "copilot"},
		{"gemini", "gemini"}, {"opencode", "opencode"}, {"qwen", "qwen"}}
}

// limits is how a program's screen tells of a limit. opencode and qwen are not here: they show that they are at work
// until the limit ends, and a terminal that moves is not read.
func limits() map[string]string {
	return map[string]string{"pi": "429 Rate limit reached", "codex": "hit your usage limit",
		"claude": `API Error: Request rejected \(429\)`, "copilot": "429 Rate limit reached",
		"gemini": "Usage limit reached"}
}

// resumes reports whether a worker that is started again goes on with its conversation. opencode chooses the names of
// its sessions itself, tells them to no command, and takes no prompt with one that it goes on with.
func resumes(program string) bool { return program != "opencode" }

// continues is the request of a worker that was started again: its earlier conversation, which began with the story's
// first rule, comes along or does not.
func continues(program string) string {
	if resumes(program) {
		return `"rule":2,"step":1,"came":\[1[],]`
	}
	return `"rule":2,"step":1,"run"`
}

// The real agent programs go through the default workflow, as the built-in harness files call them. A provider on
// loopback answers them as each story says; nothing else is reached.
func TestAgentPrograms(t *testing.T) {
	dir := os.Getenv(programsFolder)
	if dir == "" {
		t.Skip("needs real agent programs; make test-harnesses installs them")
	}
	for _, pair := range pairs() {
		t.Run(pair[0]+"-and-"+pair[1], func(t *testing.T) {
			needPrograms(t, dir, pair[:]...)
			variables := map[string]string{"WORKER": pair[0], "REVIEWER": pair[1], "SAYS": limits()[pair[0]],
				"CONTINUES": continues(pair[0]), "RESUMED": strconv.FormatBool(resumes(pair[0]))}
			tellOfPrograms(t, testscript.Params{Dir: "testdata/programs/each"}, dir, variables, pair[:]...)
			if variables["SAYS"] != "" {
				tellOfPrograms(t, testscript.Params{Dir: "testdata/programs/limited"}, dir, variables, pair[:]...)
			}
			if slices.Contains([]string{"pi", "codex", "claude", "copilot"}, pair[0]) { // the others have their own
				tellOfPrograms(t, testscript.Params{Dir: "testdata/programs/rests"}, dir, variables, pair[:]...)
			}
		})
	}
	// those of certain programs, by whose names their files begin
	stories, err := filepath.Glob("testdata/programs/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range stories {
		name := strings.TrimSuffix(filepath.Base(story), ".txtar")
		programs, _, _ := strings.Cut(name, "_")
		names := strings.Split(programs, "+")
		t.Run(name, func(t *testing.T) {
			needPrograms(t, dir, names...)
			tellOfPrograms(t, testscript.Params{Files: []string{story}}, dir, nil, names...)
		})
	}
}

// needPrograms skips what needs a program that is not installed.
func needPrograms(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name, "node_modules", ".bin", name)); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
}

func tellOfPrograms(t *testing.T, p testscript.Params, dir string, variables map[string]string, names ...string) {
	t.Helper()
	p.RequireExplicitExec, p.RequireUniqueNames = true, true
	p.Setup = func(env *testscript.Env) error {
		for name, value := range variables {
			env.Setenv(name, value)
		}
		return errors.Join(setUp(env, ""), setUpPrograms(env, dir, names))
	}
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){
		"keep": keep, "patiently": patiently, "repo": makeRepo, "asked": asked,
		"provider": startProvider, "gone": gone, "keys": pressKeys, "reaches": reaches,
		"screen": screen, "slay": slay, "window": window, "trust": trust,
	}
	testscript.Run(t, p)
}

// setUpPrograms puts the programs on PATH, and no others: one brings a node of its own.
func setUpPrograms(env *testscript.Env, dir string, names []string) error {
	path := []string{built.dir}
	for _, name := range names {
		path = append(path, filepath.Join(dir, name, "node_modules", ".bin"))
	}
	env.Setenv("PATH", strings.Join(append(path, os.Getenv("PATH")), string(os.PathListSeparator)))
	for name, value := range offline() {
		env.Setenv(name, value)
	}
	harnesses, err := filepath.Abs("../../harnesses")
	if err != nil {
		return err
	}
	env.Setenv("HARNESSES", harnesses)
	return os.CopyFS(filepath.Join(env.WorkDir, "play"), os.DirFS("testdata/programs/play"))
}

// offline are variables with which the programs ask no one but their provider.
func offline() map[string]string {
	return map[string]string{
		"NO_PROXY": "127.0.0.1", "HTTPS_PROXY": "http://127.0.0.1:9", // port 9 of loopback discards what it gets
		"NO_BROWSER": "1",
		"PI_OFFLINE": "1", "PI_TELEMETRY": "0",
		"GEMINI_TELEMETRY_ENABLED": "false", "GEMINI_API_KEY": "dummy",
		"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS": "1", "OPENCODE_DISABLE_SHARE": "1", "OPENCODE_DISABLE_CLAUDE_CODE": "1",
		"LOOP_KEY":          "dummy",
		"ANTHROPIC_API_KEY": "dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
		"IS_SANDBOX":      "1", // a person's promise, without which claude does not run as root
		"COPILOT_OFFLINE": "true", "COPILOT_MODEL": "scripted",
		"OPENAI_API_KEY": "dummy", "OPENAI_MODEL": "scripted", "QWEN_USAGE_STATISTICS_ENABLED": "false",
	}
}

// provider FILE starts a provider that answers as the file says, and tells every program where it is.
func startProvider(ts *testscript.TestScript, _ bool, args []string) {
	play, err := provider.Parse(ts.ReadFile(args[0]))
	ts.Check(err)
	log, err := os.Create(requests(ts))
	ts.Check(err)
	endpoint, err := provider.Start(play, log)
	ts.Check(err)
	ts.Defer(func() { _, _ = endpoint.Close(), log.Close() })

	home := ts.Getenv("HOME")
	for _, f := range configurations(endpoint.URL, filepath.Join(ts.Getenv("WORK"), "coffee")) {
		path := filepath.Join(home, f.path)
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
		ts.Check(os.WriteFile(path, []byte(f.text), 0o600))
	}
	ts.Setenv("PI_CODING_AGENT_DIR", filepath.Join(home, ".pi/agent"))
	ts.Setenv("CODEX_HOME", filepath.Join(home, ".codex"))
	ts.Setenv("ANTHROPIC_BASE_URL", endpoint.URL)
	ts.Setenv("COPILOT_PROVIDER_BASE_URL", endpoint.URL+"/v1")
	ts.Setenv("GOOGLE_GEMINI_BASE_URL", endpoint.URL)
	ts.Setenv("OPENAI_BASE_URL", endpoint.URL+"/v1")
	ts.Setenv("OPENCODE_CONFIG", filepath.Join(home, "opencode.json"))
}

// trust FOLDER... is what a person does who answers Claude Code in these folders that they are trusted.
func trust(ts *testscript.TestScript, _ bool, args []string) {
	path := filepath.Join(ts.Getenv("HOME"), ".claude.json")
	var config map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(path)), &config))
	projects, is := config["projects"].(map[string]any)
	if !is {
		ts.Fatalf("%s has no projects", path)
	}
	for _, folder := range args {
		projects[folder] = map[string]any{"hasTrustDialogAccepted": true, "allowedTools": []string{}}
	}
	text, err := json.Marshal(config)
	ts.Check(err)
	ts.Check(os.WriteFile(path, text, 0o600))
}

// requests is the file in which the provider notes what it was asked.
func requests(ts *testscript.TestScript) string { return filepath.Join(ts.Getenv("WORK"), "requests") }

// asked REGEXP waits until the provider was asked something: a program asks a while after a text was typed into it.
// "! asked REGEXP" checks that it was not asked so far.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	pattern := regexp.MustCompile(args[0])
	late := time.After(programPatience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		text := ts.ReadFile(requests(ts))
		switch found := pattern.MatchString(text); {
		case neg && found:
			ts.Fatalf("found requests that match %q, want none; there were:\n%s", args[0], text)
		case neg || found:
			return
		}
		select {
		case <-tick.C:
		case <-late:
			ts.Fatalf("found no requests that match %q; there were:\n%s", args[0], text)
		}
	}
}

// reaches STATUS ID waits until a task is in a status, and shows its agents' windows where it does not get there.
func reaches(ts *testscript.TestScript, _ bool, args []string) {
	late := time.After(programPatience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	want := `"status": "` + args[0] + `"`
	for {
		out, _ := command(ts, []string{"orange", "task", "show", args[1], "--json"}).CombinedOutput()
		if strings.Contains(string(out), want) {
			return
		}
		select {
		case <-tick.C:
			continue
		case <-late:
		}
		for _, name := range []string{"worker", "review-1", "review-2"} {
			shown, err := capture(ts, name)
			ts.Logf("the window %s (%v):\n%s", name, err, shown)
		}
		out, _ = command(ts, []string{"orange", "task", "history", args[1]}).CombinedOutput()
		ts.Fatalf("the task never reached %s; its history:\n%s\nThe provider was asked:\n%s", args[0], out,
			ts.ReadFile(requests(ts)))
	}
}

type configuration struct{ path, text string }

// configurations are what a person would have set up once for each program: who the provider is. The story is in the
// folder of temporary files: a reviewer of codex that may write there could write everything. Claude Code was used in
// the person's own repository, and nowhere else.
func configurations(url, repository string) []configuration {
	return []configuration{
		{".claude.json", `{"hasCompletedOnboarding":true,"customApiKeyResponses":{"approved":["dummy"],"rejected":[]},` +
			`"projects":{"` + repository + `":{"hasTrustDialogAccepted":true,"allowedTools":[]}}}`},
		{".pi/agent/models.json", `{"providers":{"loop":{"baseUrl":"` + url + `/v1","api":"openai-completions",` +
			`"apiKey":"dummy","models":[{"id":"scripted"}]}}}`},
		{".pi/agent/settings.json", `{"defaultProvider":"loop","defaultModel":"scripted","quietStartup":true,` +
			`"enableInstallTelemetry":false,"retry":{"enabled":false}}`},
		{".codex/config.toml", `model = "scripted"
model_provider = "loop"
[analytics]
enabled = false
[feedback]
enabled = false
[history]
persistence = "none"
[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true
[model_providers.loop]
name = "loop"
base_url = "` + url + `/v1"
wire_api = "responses"
env_key = "LOOP_KEY"
request_max_retries = 0
stream_max_retries = 0
`},
		{".gemini/settings.json", `{"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},` +
			`"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},` +
			`"security":{"auth":{"selectedType":"gemini-api-key"}},"model":{"name":"gemini-2.5-flash"},` +
			`"ide":{"enabled":false,"hasSeenNudge":true}}`},
		{".qwen/settings.json", `{"general":{"enableAutoUpdate":false},"telemetry":{"enabled":false},` +
			`"memory":{"enableManagedAutoMemory":false},"security":{"auth":{"selectedType":"openai"}}}`},
		{"opencode.json", `{"autoupdate":false,"share":"disabled","model":"loop/scripted",` +
			`"small_model":"loop/scripted","enabled_providers":["loop"],"provider":{"loop":{` +
			`"npm":"@ai-sdk/openai-compatible","name":"loop","options":{"baseURL":"` + url + `/v1",` +
			`"apiKey":"dummy"},"models":{"scripted":{"name":"scripted","tool_call":true,` +
			`"limit":{"context":128000,"output":4096}}}}}}`},
	}
}

// programPatience is how long a program may take: the slowest needs ten seconds to start, and most of a minute on a
// busy machine.
const programPatience = 4 * time.Minute

// patiently REGEXP COMMAND... is await, with the patience that a program takes.
func patiently(ts *testscript.TestScript, _ bool, args []string) { awaitFor(ts, programPatience, args) }

// window NAME REGEXP waits until an agent's window shows something.
func window(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: window NAME REGEXP")
	}
	pattern := regexp.MustCompile("(?m)" + args[1])
	late := time.After(programPatience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		shown, err := capture(ts, args[0])
		if err == nil && pattern.MatchString(shown) {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			ts.Fatalf("the window %q never showed %q (%v); at last it was:\n%s", args[0], args[1], err, shown)
		}
	}
}

// keys WINDOW KEY... presses keys in an agent's window, as a person who has attached does.
func pressKeys(ts *testscript.TestScript, _ bool, args []string) {
	pane, err := ofWindow(ts, args[0], "#{pane_id}")
	ts.Check(err)
	_, err = onAgents(ts, append([]string{"send-keys", "-t", pane}, args[1:]...)...)
	ts.Check(err)
}

// slay WINDOW kills the program of an agent as a crash would: its launcher and its tools live on.
func slay(ts *testscript.TestScript, _ bool, args []string) {
	launcher, err := ofWindow(ts, args[0], "#{pane_pid}")
	ts.Check(err)
	threads, err := filepath.Glob("/proc/" + launcher + "/task/*/children") // each thread has its own
	ts.Check(err)
	var programs []int
	for _, thread := range threads {
		children, err := os.ReadFile(thread)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // the thread is gone; its children are another's now
		}
		ts.Check(err)
		for word := range strings.FieldsSeq(string(children)) {
			pid, err := strconv.Atoi(word)
			ts.Check(err)
			programs = append(programs, pid)
		}
	}
	if len(programs) != 1 {
		ts.Fatalf("the launcher %s has %d programs, expected 1", launcher, len(programs))
	}
	ts.Check(syscall.Kill(programs[0], syscall.SIGKILL)) // at last: the launcher ends with it, and its threads
}

// gone WORD... checks whether no agent of this story runs a command any more.
func gone(ts *testscript.TestScript, _ bool, args []string) {
	all, err := proc.WithEnvironment("ORANGE_HOME=" + ts.Getenv("ORANGE_HOME"))
	ts.Check(err)
	for _, p := range all {
		words, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
		if err == nil && string(words) == strings.Join(args, "\x00")+"\x00" {
			ts.Fatalf("process %d still runs %q", p.PID, args)
		}
	}
}

// capture is what the window of that name shows now.
func capture(ts *testscript.TestScript, name string) (string, error) {
	id, err := ofWindow(ts, name, "#{window_id}")
	if err != nil {
		return "", err
	}
	return onAgents(ts, "capture-pane", "-p", "-t", id)
}

// ofWindow is what tmux says of the window of that name; with the branch of its task before a colon where there are
// several.
func ofWindow(ts *testscript.TestScript, name, what string) (string, error) {
	list, err := onAgents(ts, "list-panes", "-a", "-F", what+" #{session_name}:#{window_name}")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(list) {
		said, called, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasSuffix(called, ":"+name) || strings.HasSuffix(called, "/"+name) {
			return said, nil
		}
	}
	return "", fmt.Errorf("there is no such window among:\n%s", list)
}

// onAgents asks the server of the agents' windows.
func onAgents(ts *testscript.TestScript, words ...string) (string, error) {
	sockets, err := filepath.Glob(filepath.Join(ts.Getenv("TMUX_TMPDIR"), "tmux-*", "orange-*"))
	if err != nil || len(sockets) != 1 {
		return "", fmt.Errorf("found %d sockets, expected 1: %w", len(sockets), err)
	}
	said, err := exec.Command("tmux", append([]string{"-S", sockets[0]}, words...)...).Output()
	return string(said), err
}
