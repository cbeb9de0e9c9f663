package main_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// Where the server says that it is, and what programs have to show it. The certificate of the server is for this name;
// a proxy on loopback leads there.
const (
	githubHost  = "github.example.com"
	githubToken = "gho_never-to-be-seen-anywhere"
)

// github is a small GitHub on loopback: it speaks what gh asks for, about one repository that is a folder.
type github struct {
	mu     sync.Mutex
	origin string
	pulls  []*githubPull
	mood   string // "", "limit", "hang" or "nonsense"
	left   int    // calls
	asked  []string
	quit   chan struct{}
	issue  map[string]any
}

type githubPull struct {
	Branch, Base, Title, Body, State, Head, Merge string
	Login, Association                            string
	Fork                                          string // the repository that it comes from, where that is another one
	Checks, Log                                   string
	Run                                           int
	Reviews                                       []map[string]any
}

// startGitHub starts the server for a story, and tells every program where it is.
func startGitHub(env *testscript.Env) (*github, error) {
	g := &github{origin: filepath.Join(env.WorkDir, "origin.git"), left: 5000, quit: make(chan struct{})}
	tls := httptest.NewTLSServer(g)
	proxy := httptest.NewServer(tunnel(tls.Listener.Addr().String()))
	env.Defer(func() {
		close(g.quit)
		proxy.CloseClientConnections()
		proxy.Close()
		tls.CloseClientConnections()
		tls.Close()
	})
	authority := filepath.Join(env.WorkDir, "authority.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw})
	for name, value := range map[string]string{
		"GH_HOST": githubHost, "GH_ENTERPRISE_TOKEN": githubToken, "HTTPS_PROXY": proxy.URL, "NO_PROXY": "",
		"SSL_CERT_FILE": authority, "GH_CONFIG_DIR": filepath.Join(env.WorkDir, "gh-config"),
	} {
		env.Setenv(name, value)
	}
	return g, os.WriteFile(authority, certificate, 0o600)
}

// tunnel is a proxy that leads to one place, whatever is asked for.
func tunnel(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		there, err := net.Dial("tcp", to)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer there.Close()
		here, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer here.Close()
		if _, err := io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
			return
		}
		go func() {
			_, _ = io.Copy(there, buffered)
			_ = there.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(here, there)
	})
}

func (g *github) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.mu.Lock()
	known := r.Header.Get("Authorization") == "token "+githubToken
	g.asked = append(g.asked, r.URL.Path+" "+string(body))
	mood := g.mood
	w.Header().Set("X-Ratelimit-Limit", "5000")
	w.Header().Set("X-Ratelimit-Reset", "4070908800") // the year 2099
	w.Header().Set("X-Ratelimit-Remaining", strconv.Itoa(g.left))
	g.mu.Unlock()
	switch {
	case !known:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"message": "Bad credentials"}`)
		return
	case mood == "limit":
		w.Header().Set("X-Ratelimit-Remaining", "0")
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"message": "API rate limit exceeded for user ID 1."}`)
		return
	case mood == "hang":
		select {
		case <-time.After(30 * time.Second):
		case <-r.Context().Done():
		case <-g.quit:
		}
		return
	case mood == "nonsense":
		_, _ = io.WriteString(w, "<html>we are down for a moment</html>")
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if strings.Contains(r.URL.Path, "/issues/") {
		_ = json.NewEncoder(w).Encode(g.issue)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/logs") {
		g.log(w, r.URL.Path)
		return
	}
	if _, number, found := strings.Cut(r.URL.Path, "/repos/a/coffee/pulls/"); found {
		g.pull(w, number)
		return
	}
	var asked struct {
		Query     string
		Variables map[string]any
	}
	_ = json.Unmarshal(body, &asked) // what is no question gets no answer
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(map[string]any{"data": g.answer(asked.Query, asked.Variables)})
}

func (g *github) log(w io.Writer, path string) {
	for _, p := range g.pulls {
		if strings.Contains(path, "/jobs/"+strconv.Itoa(p.Run)+"/") {
			_, _ = io.WriteString(w, p.Log)
		}
	}
}

// pull answers with one pull request as the older interface describes it.
func (g *github) pull(w http.ResponseWriter, number string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > len(g.pulls) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"message": "Not Found"}`)
		return
	}
	p := g.pulls[i-1]
	g.describe(i - 1) // it looks where the head is
	side := func(ref, sha, repository string) map[string]any {
		return map[string]any{"ref": ref, "sha": sha, "repo": map[string]any{"full_name": repository}}
	}
	state := "open"
	if p.State != "OPEN" {
		state = "closed"
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"number": i, "html_url": g.address(i - 1), "title": p.Title, "body": p.Body, "state": state,
		"merged": p.State == "MERGED", "merge_commit_sha": p.Merge, "author_association": p.Association,
		"maintainer_can_modify": false, "user": map[string]any{"login": p.Login, "type": "User"},
		"head": side(p.Branch, p.Head, cmp.Or(p.Fork, "a/coffee")), "base": side(p.Base, "", "a/coffee"),
	})
}

// answer is what a question in GitHub's language gets, by the words in it.
func (g *github) answer(query string, v map[string]any) any {
	repository := map[string]any{"id": "R1", "name": "coffee", "owner": map[string]any{"login": "a"},
		"viewerPermission": "ADMIN", "hasIssuesEnabled": true, "defaultBranchRef": map[string]any{"name": "main"},
		"mergeCommitAllowed": true, "squashMergeAllowed": true, "rebaseMergeAllowed": true}
	switch {
	case strings.Contains(query, "createPullRequest("):
		input := v["input"].(map[string]any)
		branch := input["headRefName"].(string)
		branch = branch[strings.LastIndex(branch, ":")+1:]
		p := &githubPull{Branch: branch, State: "OPEN", Title: input["title"].(string), Body: input["body"].(string),
			Base: input["baseRefName"].(string)}
		g.pulls = append(g.pulls, p)
		return map[string]any{"createPullRequest": map[string]any{"pullRequest": map[string]any{
			"id": "P" + strconv.Itoa(len(g.pulls)), "url": g.address(len(g.pulls) - 1)}}}
	case strings.Contains(query, "resource(url:"):
		found := map[string]any{}
		for name, address := range v {
			for i := range g.pulls {
				if address == g.address(i) {
					found["p"+strings.TrimPrefix(name, "u")] = g.describe(i)
				}
			}
		}
		return found
	case strings.Contains(query, "issue(number:") || strings.Contains(query, "issueOrPullRequest("):
		return map[string]any{"repository": map[string]any{"issue": nil}}
	case strings.Contains(query, "pullRequests("):
		var nodes []any
		for i := len(g.pulls) - 1; i >= 0; i-- {
			if open := strings.Contains(query, "states: OPEN"); open && g.pulls[i].State != "OPEN" {
				continue
			}
			if head := v["headBranch"]; head == nil || head == g.pulls[i].Branch {
				nodes = append(nodes, g.describe(i))
			}
		}
		repository["pullRequests"] = map[string]any{"totalCount": len(nodes), "nodes": nodes}
	}
	return map[string]any{"repository": repository}
}

func (g *github) address(i int) string {
	return fmt.Sprintf("https://%s/a/coffee/pull/%d", githubHost, i+1)
}

func (g *github) describe(i int) map[string]any {
	p := g.pulls[i]
	if p.State == "OPEN" && p.Fork == "" {
		out, err := exec.Command("git", "-C", g.origin, "rev-parse", "--verify", "refs/heads/"+p.Branch).Output()
		if err == nil {
			p.Head = strings.TrimSpace(string(out))
		}
	}
	var merge any
	if p.Merge != "" {
		merge = map[string]any{"oid": p.Merge}
	}
	return map[string]any{
		"__typename": "PullRequest", "id": "P" + strconv.Itoa(i+1), "number": i + 1, "url": g.address(i),
		"title": p.Title, "body": p.Body, "state": p.State, "headRefName": p.Branch, "headRefOid": p.Head,
		"isCrossRepository": p.Fork != "", "baseRefName": p.Base, "mergeCommit": merge,
		"headRepositoryOwner": map[string]any{"login": "a"}, "reviews": map[string]any{"nodes": p.Reviews},
		"commits": map[string]any{"nodes": []any{map[string]any{"commit": map[string]any{
			"oid": p.Head, "statusCheckRollup": p.rollup()}}}},
	}
}

func (p *githubPull) rollup() any {
	status, conclusion := "COMPLETED", p.Checks
	switch p.Checks {
	case "":
		return nil
	case "PENDING":
		status, conclusion = "IN_PROGRESS", ""
	}
	run := map[string]any{"__typename": "CheckRun", "databaseId": p.Run, "name": "build", "status": status,
		"conclusion": conclusion, "detailsUrl": "https://" + githubHost + "/run", "title": "it ran", "summary": "",
		"checkSuite": map[string]any{"app": map[string]any{"slug": "github-actions"}}}
	return map[string]any{"state": p.Checks, "contexts": map[string]any{"nodes": []any{run}}}
}

// command is the word "github" of a story: it does to the newest pull request what others do there.
//
//	github checks RESULT [FILE]             its checks end so, with the log in the file
//	github review ID LOGIN ASSOCIATION FILE [NOTE]
//	                                        someone asks for changes, with a note about line 3 of README.md
//	github opens BRANCH LOGIN ASSOCIATION FILE [FORK HEAD]
//	                                        someone opens another one
//	github turned BRANCH                    it is to be merged into that branch
//	github issue LOGIN ASSOCIATION FILE     someone has opened the issue
//	github merged COMMIT, github closed
//	github mood [limit|hang|nonsense]       how it answers from now on
//	github left N                           calls
//	github asked WORD N                     fails unless N calls had that word
//	github title TEXT, github body FILE     fails unless the pull request has them
func (g *github) command(ts *testscript.TestScript, _ bool, args []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(args) == 0 {
		ts.Fatalf("github: say what")
	}
	word, args := args[0], append(args[1:], "", "", "", "", "", "")
	switch word {
	case "issue":
		g.issue = map[string]any{"title": "It \x1b[2Jfails", "body": ts.ReadFile(args[2]),
			"author_association": args[1],
			"html_url":           "https://" + githubHost + "/a/coffee/issues/7",
			"user":               map[string]any{"login": args[0], "type": "User"}}
		return
	case "mood":
		g.mood = args[0]
		return
	case "left":
		left, err := strconv.Atoi(args[0])
		ts.Check(err)
		g.left = left
		return
	case "asked":
		count := 0
		for _, one := range g.asked {
			if strings.Contains(one, args[0]) {
				count++
			}
		}
		if strconv.Itoa(count) != args[1] {
			ts.Fatalf("%d calls had %q", count, args[0])
		}
		return
	}
	if word == "opens" {
		g.pulls = append(g.pulls, &githubPull{Branch: args[0], Base: "main", State: "OPEN", Title: "The \x1b[2Jtitle",
			Body: ts.ReadFile(args[3]), Login: args[1], Association: args[2], Fork: args[4], Head: args[5]})
		return
	}
	if len(g.pulls) == 0 {
		ts.Fatalf("there is no pull request")
	}
	p := g.pulls[len(g.pulls)-1]
	switch word {
	case "checks":
		p.Checks = args[0]
		p.Run += 100
		if args[1] != "" {
			p.Log = ts.ReadFile(args[1])
		}
	case "review":
		review := map[string]any{"id": args[0], "state": "CHANGES_REQUESTED",
			"body": ts.ReadFile(args[3]), "authorAssociation": args[2], "commit": map[string]any{"oid": p.Head},
			"author": map[string]any{"__typename": "User", "login": args[1]}}
		if args[4] != "" {
			review["comments"] = map[string]any{"nodes": []any{map[string]any{"path": "README.md", "line": 3,
				"body": ts.ReadFile(args[4])}}}
		}
		p.Reviews = append(p.Reviews, review)
	case "turned":
		p.Base = args[0]
	case "merged":
		p.State, p.Merge = "MERGED", args[0]
	case "closed":
		p.State = "CLOSED"
	case "title":
		if p.Title != args[0] {
			ts.Fatalf("the title is %q", p.Title)
		}
	case "body":
		if want := os.Expand(ts.ReadFile(args[0]), ts.Getenv); p.Body != want {
			ts.Fatalf("the text is\n%s\nwant\n%s", p.Body, want)
		}
	default:
		ts.Fatalf("github: unknown word %q", word)
	}
}

// tellWithGitHub tells the stories with a program gh against the small GitHub, and looks for the token while they run
// and after.
func tellWithGitHub(t *testing.T, program string) {
	t.Helper()
	var g *github
	var seen atomic.Bool
	t.Cleanup(func() { // after all stories
		if !seen.Load() {
			t.Error("no process of gh was seen")
		}
	})
	testscript.Run(t, testscript.Params{
		Dir: "testdata/gh", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			if err := setUp(env, ""); err != nil {
				return err
			}
			dir := filepath.Join(env.WorkDir, "programs")
			if err := os.Mkdir(dir, 0o755); err != nil {
				return err
			}
			if err := os.Symlink(program, filepath.Join(dir, "gh")); err != nil {
				return err
			}
			env.Setenv("PATH", dir+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("TOKEN", githubToken)
			var err error
			if g, err = startGitHub(env); err != nil {
				return err
			}
			env.Values["github"] = g
			watchArguments(t, env, &seen)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "keep": keep, "await": await, "quiet": quiet, "repo": makeRepo, "harness": makeHarness,
			"github": func(ts *testscript.TestScript, neg bool, args []string) {
				ts.Value("github").(*github).command(ts, neg, args)
			},
			"unseen": unseen,
		},
	})
}

// watchArguments looks for the token in the arguments of every process until the story is over, and notes whether it
// saw those of gh.
func watchArguments(t *testing.T, env *testscript.Env, seen *atomic.Bool) {
	t.Helper()
	done, over := make(chan struct{}), make(chan struct{})
	own := []byte(filepath.Join(env.WorkDir, "programs", "gh") + "\x00")
	go func() {
		defer close(over)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, file := range files {
				text, _ := os.ReadFile(file)
				if strings.Contains(string(text), githubToken) {
					t.Errorf("the token is an argument: %q", text)
					return
				}
				if bytes.HasPrefix(text, own) {
					seen.Store(true)
				}
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	env.Defer(func() {
		close(done)
		<-over
	})
}

// unseen fails where a file of Orange's, or of a worktree, has the text; "! unseen" where none has it, which shows that
// it would be found.
func unseen(ts *testscript.TestScript, neg bool, args []string) {
	looked, found := 0, ""
	ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // a file that is gone by now has nothing
		}
		looked++
		if text, _ := os.ReadFile(path); strings.Contains(string(text), args[0]) {
			found = path
		}
		return nil
	}))
	switch {
	case looked == 0:
		ts.Fatalf("there are no files")
	case neg && found == "":
		ts.Fatalf("no file has it")
	case !neg && found != "":
		ts.Fatalf("%s has it", found)
	}
}

// The real gh against a small GitHub on loopback, as Debian has it and a newer one.
func TestGitHubByTheRealProgram(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for a program that hangs")
	}
	there := false
	for name, program := range realPrograms() {
		there = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tellWithGitHub(t, program)
		})
	}
	if !there {
		t.Skip("gh is not installed, and bin/gh is not built (make test-forge)")
	}
}

// realPrograms are the programs gh that are there, by what they say of themselves.
func realPrograms() map[string]string {
	found := map[string]string{}
	own, err := filepath.Abs("../../bin/forge/gh")
	if err != nil {
		return nil
	}
	for _, program := range []string{own, "gh"} {
		if path, err := exec.LookPath(program); err == nil {
			said, _ := exec.Command(path, "--version").Output()
			words := strings.Fields(string(said) + " gh unknown unknown")
			found[words[2]] = path
		}
	}
	return found
}
