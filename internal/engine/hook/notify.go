package hook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"orange/internal/rules/action"
	"orange/internal/rules/harness"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/proc"
	"orange/internal/work/worktree"
)

const (
	desktopTime = 10 * time.Second
	webhookTime = 10 * time.Second
	mostAnswer  = 64 << 10 // bytes that are read of a webhook's answer
	toldAnswer  = 300      // bytes of it that a failure tells

	needTime    = 10 * time.Second // to find out why the task needs a person
	mostText    = 64 << 10         // bytes of that in the environment of a command: Linux starts none with 128 KB
	desktopText = 400              // characters of that which fit on a desktop
)

// varMessage stands for the message in the words of a command.
const varMessage = "message"

// notify tells a person, or another program, what the workflow wants told.
func (h *Executor) notify(ctx context.Context, job record.Job) (record.Effect, error) {
	now := job.Task
	job = asOf(job)
	view := h.folder(job.Task)
	var err error
	if job.Hook.Via == action.ViaCommand || speaksOfTree(job.Hook.Message) {
		// Only then: news of a worktree that is in trouble must not need the worktree.
		if view, err = h.place(ctx, job.Task); err != nil {
			return record.Effect{}, err
		}
	}
	values := h.variables(job, view)
	message := strings.TrimSpace(workflow.Expand(job.Hook.Message, values))
	text, answer := h.whole(ctx, now, job.Task.Status)
	switch job.Hook.Via {
	case action.ViaDesktop:
		err = h.show(ctx, job, view, message, text)
	case action.ViaWebhook:
		err = post(ctx, job, message, text, answer)
	case action.ViaCommand:
		values[varMessage] = message
		view.Env = append(slices.Clip(view.Env), "ORANGE_MESSAGE="+inEnvironment(message),
			"ORANGE_TEXT="+inEnvironment(text))
		_, err = h.runWords(ctx, job, view, values)
	default:
		err = fmt.Errorf("cannot notify via %q: this version of orange cannot; use the version that queued the hook",
			job.Hook.Via)
	}
	if err != nil {
		return record.Effect{}, err
	}
	return record.Effect{Said: "told via " + job.Hook.Via}, nil
}

// whole is the whole text of why a task needs a person, and the command that people use there. Both are empty where no
// one is needed, where it cannot be found out, which holds no notice up, and where the task has left the status of
// which the notice tells: the text would be of another one.
func (h *Executor) whole(ctx context.Context, now task.Task, status task.Status) (text, answer string) {
	if h.Need == nil || now.Status != status {
		return "", ""
	}
	if strings.HasPrefix(now.Attention, record.HookMark+action.Notify+":") {
		now.Attention = "" // a notice that failed before is not what this one tells
	}
	ctx, off := context.WithTimeout(ctx, needTime)
	defer off()
	need, _ := h.Need(ctx, now) // with an error it has what is known
	if len(need.Commands) > 0 {
		answer = need.Commands[0]
	}
	return strings.ToValidUTF8(cmp.Or(need.Text, need.Reason), "\uFFFD"), answer
}

// inEnvironment is a text as the environment of a program can hold it. The program gets it as it is, without a NUL.
func inEnvironment(text string) string {
	text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	if len(text) > mostText {
		text = strings.ToValidUTF8(text[:mostText], "") + "..."
	}
	return text
}

// onDesktop is a message with the beginning of a text below it. What agents write is shown, and never obeyed.
func (h *Executor) onDesktop(message, text string) string {
	if text == "" {
		return message
	}
	if all := []rune(text); len(all) > desktopText {
		text = string(all[:desktopText]) + "..."
	}
	text = printable.Text(text)
	if h.System == "linux" { // notify-send reads escapes, and desktops read markup
		text = strings.NewReplacer(`\`, `\\`, "&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	}
	return message + "\n" + text
}

// speaksOfTree reports whether a message has a variable that only the worktree tells.
func speaksOfTree(message string) bool {
	for _, name := range []string{workflow.VarBase, workflow.VarTaskFile, workflow.VarWorktree} {
		if strings.Contains(message, "{"+name+"}") {
			return true
		}
	}
	return false
}

// show shows a message on the desktop, and a text below it. The words of a person never become a script.
func (h *Executor) show(ctx context.Context, job record.Job, view worktree.View, message, text string) error {
	title, message := "Orange: "+job.Task.Project, h.onDesktop(message, text)
	var argv []string
	switch h.System {
	case "linux":
		argv = []string{"notify-send", "--app-name=Orange", "--", title, message}
	case "darwin":
		argv = []string{
			"osascript", "-e", "on run argv", "-e",
			"display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", title, message,
		}
	default:
		return fmt.Errorf("cannot show a message on the desktop of %q: only Linux and macOS are known; notify "+
			"via webhook or command", h.System)
	}
	env, err := h.Setup.Environment(ctx, job.Task)
	if err != nil {
		return err
	}
	if _, err := h.Processes.FindProgram(argv[0], harness.Value(env, "PATH")); err != nil {
		return fmt.Errorf("cannot show a message on the desktop: %w; install it, or notify via webhook or command", err)
	}
	if err := h.run(ctx, job, argv, view, desktopTime); err != nil {
		return fmt.Errorf("cannot show a message on the desktop: %w", err)
	}
	return nil
}

// notice is what a webhook gets.
type notice struct {
	Task    string      `json:"task"`
	Project string      `json:"project"`
	Branch  string      `json:"branch"`
	Status  task.Status `json:"status"`
	From    task.Status `json:"from"`
	Message string      `json:"message"`
	Hook    int64       `json:"hook"`
	Text    string      `json:"text"`
	Answer  string      `json:"answer"`
}

// post posts a message. The address may hold a secret: a failure names its host and no more.
func post(ctx context.Context, job record.Job, message, text, answer string) error {
	t := job.Task
	body, err := json.Marshal(notice{t.ID, t.Project, t.Branch, t.Status, t.Previous, message, job.Hook.ID, text,
		answer})
	if err != nil {
		return fmt.Errorf("write the message: %w", err)
	}
	limit := webhookTime
	if job.Hook.Timeout > 0 {
		limit = time.Duration(job.Hook.Timeout) * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, job.Hook.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("cannot notify via webhook: its url cannot be read; correct it in the workflow")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "orange")
	request.Header.Set("Orange-Hook-Id", strconv.FormatInt(job.Hook.ID, 10))
	status, said, err := send(request)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("cannot notify via webhook: %q gave no answer within %s: %w", request.URL.Host, limit,
			context.DeadlineExceeded)
	case err != nil:
		return fmt.Errorf("cannot notify via webhook: %q could not be reached: %w", request.URL.Host, err)
	case !success(status):
		return fmt.Errorf("cannot notify via webhook: %q answered with status %d: %s", request.URL.Host, status, said)
	}
	return nil
}

// proxies are those that the environment of ctx names.
func proxies(ctx context.Context) func(*http.Request) (*url.URL, error) {
	of := func(upper, lower string) string { return cmp.Or(proc.Getenv(ctx, upper), proc.Getenv(ctx, lower)) }
	config := httpproxy.Config{HTTPProxy: of("HTTP_PROXY", "http_proxy"), HTTPSProxy: of("HTTPS_PROXY", "https_proxy"),
		NoProxy: of("NO_PROXY", "no_proxy")}
	find := config.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return find(r.URL) }
}

// authorities are those of SSL_CERT_FILE and SSL_CERT_DIR of the environment of a request, and the system's; nil where
// the request asks for none, or its environment names none. As for every program that knows these variables, what
// cannot be read trusts no one.
func authorities(request *http.Request) (*tls.Config, error) {
	ctx := request.Context()
	if request.URL.Scheme != "https" {
		return nil, nil
	}
	var files []string
	if file := proc.Getenv(ctx, "SSL_CERT_FILE"); file != "" {
		files = append(files, file)
	}
	for _, dir := range filepath.SplitList(proc.Getenv(ctx, "SSL_CERT_DIR")) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				files = append(files, name)
			}
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("cannot read which authorities the system trusts: %w", err)
	}
	for _, file := range files {
		if text, err := proc.ReadFile(file); err == nil {
			pool.AppendCertsFromPEM(text) // a folder has other files too
		}
	}
	return &tls.Config{RootCAs: pool}, nil
}

// send sends a request over a connection of its own. It follows no redirect to another address, and what is said
// next to a status is read only where that is no success: there it may tell why.
func send(request *http.Request) (status int, said string, err error) {
	trusted, err := authorities(request)
	if err != nil {
		return 0, "", err
	}
	wire := &http.Transport{Proxy: proxies(request.Context()), TLSClientConfig: trusted, DisableKeepAlives: true,
		ForceAttemptHTTP2: true}
	client := &http.Client{Transport: wire, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	response, err := client.Do(request)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	if success(response.StatusCode) {
		return response.StatusCode, "", nil
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	said = strings.TrimSpace(strings.ToValidUTF8(string(answer[:min(len(answer), toldAnswer)]), "\uFFFD"))
	if err != nil {
		said += fmt.Sprintf(" (and no more could be read: %v)", err)
	}
	return response.StatusCode, said, nil
}

func success(status int) bool { return status >= 200 && status <= 299 }
