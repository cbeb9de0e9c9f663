package provider

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

const script = `
# a reader's line
on You are the worker
	run orange task wait
	say Done.
on the limit$
	limit 90s
on a failure
	fail 500
on a hang
	hang
on the limit that ends
	limited 20ms say It is over.
on a slow one
	after 1ms say Slow.
on write (\w+) into (\w+)
	run echo {1} >{2}
`

// notes is a log that several requests may write to.
type notes struct {
	mu    sync.Mutex
	text  bytes.Buffer
	first sync.Once
	noted chan struct{} // closed with the first line
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.first.Do(func() { close(n.noted) })
	return n.text.Write(p)
}

func start(t *testing.T) (url string, log *notes) {
	t.Helper()
	play, err := Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	log = &notes{noted: make(chan struct{})}
	endpoint, err := Start(play, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := endpoint.Close(); err != nil {
			t.Error(err)
		}
	})
	if !strings.HasPrefix(endpoint.URL, "http://127.0.0.1:") {
		t.Errorf("it listens on %s, which is not loopback", endpoint.URL)
	}
	return endpoint.URL, log
}

func ask(t *testing.T, url, body string) (int, http.Header, string) {
	t.Helper()
	answer, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(text)
}

// dialect is how one protocol writes a conversation.
type dialect struct {
	path   string
	tools  string // the field with the shell tool
	turns  string // the field of turns
	user   string // a message of the user; TEXT stands for it
	result string // what a tool led to
	call   string // what a call of the tool looks like in the answer
	text   string // what a text looks like in the answer
	limit  string // what a limit of 90 seconds looks like
}

func dialects() map[string]dialect {
	const parameters = `{"type":"object","required":["NAME"],"properties":{"NAME":{"type":"string"}}}`
	with := func(name string) string { return strings.ReplaceAll(parameters, "NAME", name) }
	return map[string]dialect{
		"chat completions": {
			path: "/v1/chat/completions", turns: "messages", user: `{"role":"user","content":"TEXT"}`,
			tools:  `[{"type":"function","function":{"name":"bash","parameters":` + with("command") + `}}]`,
			result: `{"role":"tool","tool_call_id":"call-1","content":[{"type":"text","text":"ok"}]}`,
			call:   `"function":{"arguments":"{\"command\":\"orange task wait\"}","name":"bash"}`,
			text:   `"content":"TEXT"`, limit: "try again in 1m30s",
		},
		"responses": {
			path: "/v1/responses", turns: "input",
			user:   `{"type":"message","role":"user","content":[{"type":"input_text","text":"TEXT"}]}`,
			tools:  `[{"type":"function","name":"exec_command","parameters":` + with("cmd") + `}]`,
			result: `{"type":"function_call_output","call_id":"call-1","output":"ok"}`,
			call:   `"arguments":"{\"cmd\":\"orange task wait\"}"`,
			text:   `"text":"TEXT"`, limit: `"resets_in_seconds":90`,
		},
		"messages": {
			path: "/v1/messages", turns: "messages",
			user: `{"role":"user","content":[{"type":"text","text":"<system-reminder>\nToday is\n</system-reminder>\n"},` +
				`{"type":"text","text":"TEXT"}]}`,
			tools: `[{"name":"Bash","input_schema":` + with("command") + `}]`,
			result: `{"role":"user","content":[{"type":"tool_result","tool_use_id":"call-1",` +
				`"content":[{"type":"text","text":"ok"}]}]}`,
			call: `"partial_json":"{\"command\":\"orange task wait\"}"`,
			text: `"text":"TEXT"`, limit: "try again in 1m30s",
		},
		"generate content": {
			path: "/v1beta/models/scripted:streamGenerateContent", turns: "contents",
			user: `{"role":"user","parts":[{"text":"TEXT"}]}`,
			tools: `[{"functionDeclarations":[{"name":"run_shell_command","parametersJsonSchema":` +
				with("command") + `}]}]`,
			result: `{"role":"user","parts":[{"functionResponse":{"response":{"output":"ok"}}}]}`,
			call:   `"functionCall":{"args":{"command":"orange task wait"}`,
			text:   `"parts":[{"text":"TEXT"}]`, limit: `"retryDelay":"90s"`,
		},
	}
}

func (d dialect) body(turns ...string) string {
	return `{"tools":` + d.tools + `,"` + d.turns + `":[` + strings.Join(turns, ",") + `]}`
}

func (d dialect) says(text string) string { return strings.ReplaceAll(d.user, "TEXT", text) }

func TestTheAnswerFollowsFromTheConversationAlone(t *testing.T) {
	t.Parallel()
	for name, d := range dialects() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, log := start(t)
			prompt := d.says("You are the worker of this task")
			for what, want := range map[string]string{
				d.body(prompt):                         d.call,
				d.body(d.says("Rules."), prompt):       d.call, // what comes before does not matter
				d.body(prompt, d.result):               strings.ReplaceAll(d.text, "TEXT", "Done."),
				d.body(prompt, d.result, d.result):     strings.ReplaceAll(d.text, "TEXT", "Nothing is left to do."),
				d.body(prompt, d.result, prompt):       d.call, // a newer message begins from the first step
				d.body(d.says("a slow one"), prompt):   d.call,
				d.body(prompt, d.says("a slow one")):   strings.ReplaceAll(d.text, "TEXT", "Slow."),
				d.body(prompt, d.says("Hm.")):          d.call, // no rule is about it
				d.body(d.says("write this into that")): "echo this ",
				d.body(d.says("Hm.")):                  strings.ReplaceAll(d.text, "TEXT", "No rule matches."),
				`{"` + d.turns + `":[` + prompt + `]}`: strings.ReplaceAll(d.text, "TEXT", "A title"),
			} {
				for range 2 { // and again: nothing is remembered
					if status, _, got := ask(t, url+d.path, what); status != 200 || !strings.Contains(got, want) {
						t.Errorf("%s\ngot %d %s\nwant %s", what, status, got, want)
					}
				}
			}
			if !strings.Contains(log.text.String(), `"rule":1,"step":1,"run":"orange task wait",`+
				`"user":"You are the worker of this task"`) {
				t.Errorf("the log has no line of the first step:\n%s", log.text.String())
			}
		})
	}
}

func TestALimitNamesItsTimeInTheWordsOfTheProtocol(t *testing.T) {
	t.Parallel()
	for name, d := range dialects() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, _ := start(t)
			status, header, got := ask(t, url+d.path, d.body(d.says("the limit")))
			if status != http.StatusTooManyRequests || header.Get("Retry-After") != "90" ||
				!strings.Contains(got, d.limit) {
				t.Errorf("got %d, %v, %s", status, header, got)
			}
			status, header, _ = ask(t, url+d.path, d.body(d.says("a failure")))
			if status != http.StatusInternalServerError || header.Get("Retry-After") != "" {
				t.Errorf("got %d, %v of a failure", status, header)
			}
		})
	}
}

func TestALimitThatEndsRefusesUntilThen(t *testing.T) {
	t.Parallel()
	url, _ := start(t)
	d := dialects()["responses"]
	body := d.body(d.says("the limit that ends"))
	status, header, _ := ask(t, url+d.path, body)
	if status != http.StatusTooManyRequests || header.Get("Retry-After") != "1" {
		t.Fatalf("got %d, %v at first", status, header)
	}
	for status != http.StatusOK { // until it is over
		var got string
		if status, _, got = ask(t, url+d.path, body); status == http.StatusOK && !strings.Contains(got, "It is over.") {
			t.Errorf("got %s in the end", got)
		}
	}
}

func TestAHangEndsOnlyWithTheProgramsPatience(t *testing.T) {
	t.Parallel()
	url, log := start(t)
	d := dialects()["responses"]
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+d.path,
		strings.NewReader(d.body(d.says("a hang"))))
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error)
	go func() {
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			err = answer.Body.Close()
		}
		answered <- err
	}()
	<-log.noted // before it hangs
	leave()
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Errorf("it was answered: %v", err)
	}
}

func TestWhatIsNotUnderstoodIsToldAndNoted(t *testing.T) {
	t.Parallel()
	url, log := start(t)
	d := dialects()["chat completions"]
	shell := d
	shell.tools = `[{"type":"function","function":{"name":"read"}}]`
	for path, body := range map[string]string{
		"/v1/models": "", d.path: "no JSON", "/v1beta/models/scripted:countTokens": "{}",
	} {
		if status, _, got := ask(t, url+path, body); status != 404 && status != 400 {
			t.Errorf("%s: got %d %s", path, status, got)
		}
	}
	if status, _, got := ask(t, url+d.path, shell.body(d.says("You are the worker"))); status != 400 ||
		!strings.Contains(got, "offers no shell among its 1 tools") {
		t.Errorf("got %d %s", status, got)
	}
	if lines := bufio.NewScanner(&log.text); !lines.Scan() {
		t.Error("nothing was noted")
	}
}

func TestMistakesInAScriptAreToldWithTheirLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"say Hello.":           `line 1: found "say Hello." before the first rule`,
		"on (":                 "line 1: error parsing regexp",
		"on x\n\nanswer y":     `line 3: found "answer y", expected on, after, limited, run, say`,
		"on x\nlimit soon":     "line 2: time: invalid duration",
		"on x\nfail badly":     "line 2: strconv.Atoi",
		"on x\nafter 1s":       `line 2: found "", expected`,
		"on x\nafter x say hi": "line 2: time: invalid duration",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// gemini asks so for the summary of an earlier session.
func TestAnAnswerThatIsNoStreamIsOnePieceOfJSON(t *testing.T) {
	t.Parallel()
	url, _ := start(t)
	status, header, got := ask(t, url+"/v1beta/models/scripted:generateContent",
		`{"contents":[{"role":"user","parts":[{"text":"You are the worker"}]}]}`)
	if status != http.StatusOK || header.Get("Content-Type") != "application/json" ||
		!strings.HasPrefix(got, `{"candidates":[`) || !strings.Contains(got, `"text":"A title"`) {
		t.Errorf("got %d %s %s", status, header.Get("Content-Type"), got)
	}
}
