package remote_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orange/internal/api/remote"
	"orange/internal/rules/task"
)

func call(words ...string) remote.Call {
	return remote.Call{V: remote.Version, Argv: append([]string{"task"}, words...)}
}

func keyed(key string, words ...string) remote.Call {
	c := call(words...)
	c.Key = key
	return c
}

func TestReadCall_readsWhatWasSent(t *testing.T) {
	t.Parallel()
	for _, c := range []remote.Call{
		{V: 1}, {V: 1, Find: "4Fz"}, call("list", "--all", "--json"), keyed("k", "next", "--reason=a b", "--", "4Fz"),
		{V: 1, Argv: []string{"task", "say", "--", "4Fz", "-"}, Stdin: "wörds\n\x1b[2J", Key: "K.1"},
		{V: 1, Argv: []string{"task", "create", "--context=notes.md", "--", "", "x"},
			Files: map[string]string{"notes.md": "all"}},
	} {
		text, err := c.Text()
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		again, err := remote.ReadCall(text)
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%s: found %+v, %v", text, again, err)
		}
		if strings.Count(string(text), "\n") != 1 {
			t.Errorf("%q is not one line", text)
		}
	}
}

func TestCheck_refusesWhatMayNotBeForwarded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]remote.Call{
		"a window":               call("attach", "--", "4Fz"),
		"what follows":           call("watch", "--", "4Fz"),
		"what waits":             call("wait", "--", "4Fz"),
		"a check":                call("check", "--", "4Fz"),
		"another command":        {V: 1, Argv: []string{"project", "remove", "web"}},
		"no command":             {V: 1, Argv: []string{"task"}},
		"help":                   {V: 1, Argv: []string{"--help"}},
		"a list that follows":    call("list", "--watch"),
		"the same, with a value": call("list", "--watch=true"),
		"a window of a new task": call("create", "--attach", "--", "x"),
		"a hook of an agent":     call("why", "--stop-hook", "--", "4Fz"),
		"an agent's answer":      call("why", "--for-agent", "--", "4Fz"),
		"all agents":             call("respawn", "--all"),
		"a flag without --":      call("list", "-h"),
		"a value by itself":      call("next", "--reason", "--attach"),
		"an argument before --":  call("show", "4Fz"),
		"nothing but dashes":     call("show", "--=x"),
		"a key among the words":  call("next", "--key=k", "--", "4Fz"),
		"a key that is none":     keyed("a b", "next", "--", "4Fz"),
		"a key to read under":    keyed("k", "show", "--", "4Fz"),
		"a key to delete under":  keyed("k", "delete", "--yes", "--", "4Fz"),
		"a NUL":                  call("say", "--", "4Fz", "a\x00b"),
		"too many words":         call(slices.Repeat([]string{"list"}, 300)...),
		"no version":             {Find: "4Fz"},
		"a later version":        {V: remote.Version + 1, Find: "4Fz"},
		"two questions":          {V: 1, Find: "4Fz", Argv: []string{"task", "list"}},
		"a text for no one":      {V: 1, Stdin: "x"},
		"a file for no one":      {V: 1, Files: map[string]string{"a": "b"}},
	} {
		if err := c.Check(); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%s is taken: %v", name, err)
		}
		if _, err := c.Text(); err == nil {
			t.Errorf("%s is sent", name)
		}
	}
	most := append([]string{"say", "--"}, slices.Repeat([]string{"x"}, 253)...)
	for name, c := range map[string]remote.Call{
		"an argument that looks like a flag": call("say", "--role=worker", "--", "4Fz", "--watch"),
		"a command alone":                    call("list"),
		"a short flag":                       call("list", "--a"),
		"as many words as there may be":      call(most...),
	} {
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := call(append(most, "x")...).Check(); err == nil {
		t.Error("a word more than there may be is taken")
	}
}

func TestWords_hasTheKeyAsAFlag(t *testing.T) {
	t.Parallel()
	want := []string{"task", "next", "--key=k", "--json", "--", "4Fz"}
	if got := keyed("k", "next", "--json", "--", "4Fz").Words(); !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
	if got := call("show", "--json", "--", "4Fz").Task(); got != "4Fz" || call("list").Task() != "" {
		t.Errorf("its task is %q", got)
	}
	if got := call("list").Words(); !slices.Equal(got, []string{"task", "list"}) {
		t.Errorf("found %q", got)
	}
}

func TestReadCall_refusesWhatIsNoCall(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "task list", "a list": "[]", "an unknown name": `{"v":1,"sudo":true}`,
		"more behind it": `{"v":1} {"v":1}`, "a broken end": `{"v":1,"find":"x"`, "numbers": `{"v":1,"argv":[1]}`,
		"what may not be forwarded": `{"v":1,"argv":["project","remove","web"]}`,
		"too long":                  `{"v":1,"find":"` + strings.Repeat("x", remote.MostOfCall) + `"}`,
	} {
		if c, err := remote.ReadCall([]byte(text)); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%s: found %+v, %v", name, c, err)
		}
	}
	longest := `{"v":1,"find":"` + strings.Repeat("x", remote.MostOfCall-17) + `"}`
	if _, err := remote.ReadCall([]byte(longest)); err != nil || len(longest) != remote.MostOfCall {
		t.Errorf("one of %d bytes is refused: %v", len(longest), err)
	}
	_, err := remote.ReadCall([]byte(`{"v":9,"what":{"is":"new"}}`))
	if err == nil || err.Error() != "update orange here (has 1, needs 9)" {
		t.Errorf("a later version: %v", err)
	}
}

func TestText_sendsNothingThatWouldBeAnother(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]remote.Call{
		"no UTF-8": call("say", "--", "4Fz", "\xff"), "a text that is none": {V: 1, Argv: []string{"task", "say"},
			Stdin: "\xff"},
		"a file that is none": {V: 1, Argv: []string{"task", "say"}, Files: map[string]string{"a": "\xff"}},
		"a signed text that is none": {V: 1, Argv: []string{"task", "say"},
			Signed: &remote.Signed{Text: "\xff", Signature: "x"}},
		"too long": {V: 1, Argv: []string{"task", "say"}, Stdin: strings.Repeat("x", remote.MostOfCall)},
	} {
		if text, err := c.Text(); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%s is sent: %.40s, %v", name, text, err)
		}
	}
	say := remote.Call{V: 1, Argv: []string{"task", "say"}, Stdin: "<"}
	short, err := say.Text()
	if err != nil || !strings.Contains(string(short), `"<"`) {
		t.Fatalf("%s, %v", short, err)
	}
	say.Stdin = strings.Repeat("x", remote.MostOfCall-len(short)+1)
	if text, err := say.Text(); err != nil || len(text) != remote.MostOfCall {
		t.Errorf("one of %d bytes is not sent: %v", len(text), err)
	}
}

func TestReadReply_takesTheLastLine(t *testing.T) {
	t.Parallel()
	r := remote.Reply{V: 1, Exit: 3, Stdout: "a\nb\n", Stderr: "orange: no\n", Found: []remote.Found{{ID: "x"}}}
	text, err := r.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, exit := range []int{0, 255} {
		if got, err := remote.ReadReply(fmt.Appendf(nil, `{"v":1,"exit":%d}`, exit)); err != nil || got.Exit != exit {
			t.Errorf("status %d: %+v, %v", exit, got, err)
		}
	}
	for _, before := range []string{"", "Welcome!\n{\"v\":1}\n"} {
		got, err := remote.ReadReply([]byte(before + string(text)))
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("behind %q: %+v, %v", before, got, err)
		}
	}
	for name, text := range map[string]string{
		"nothing": " \n", "a greeting": "Welcome!", "another program": `{"version":1}`, "no version": `{"exit":0}`,
		"a later one": `{"v":2,"exit":0}`, "no exit status": `{"v":1,"exit":-1}`,
		"a greater one": `{"v":1,"exit":256}`, "an unknown name": `{"v":1,"x":1}`,
		"a greeting behind it": `{"v":1,"exit":0}` + "\nBye!",
	} {
		if r, err := remote.ReadReply([]byte(text)); err == nil {
			t.Errorf("%s: found %+v", name, r)
		}
	}
}

func FuzzReadCall(f *testing.F) {
	for _, c := range []remote.Call{{V: 1}, {V: 1, Find: "x"}, keyed("k", "next", "--json", "--", "4Fz")} {
		text, err := json.Marshal(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"v":1,"argv":["task","list","--watch"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := remote.ReadCall(text)
		if err != nil {
			return
		}
		if err := c.Check(); err != nil {
			t.Fatalf("%q was read, and is refused: %v", text, err)
		}
		if len(c.Argv) > 0 && (c.Argv[0] != "task" || remote.RepeatOf(c.Argv[1]) == 0) {
			t.Fatalf("%q is forwarded", c.Argv)
		}
		for _, word := range c.Words() {
			if word == "--" {
				break
			}
			if strings.HasPrefix(word, "--watch") || strings.HasPrefix(word, "--attach") {
				t.Fatalf("%q is forwarded", c.Argv)
			}
		}
		sent, err := c.Text()
		if err != nil { // what JSON writes longer than it was
			return
		}
		if again, err := remote.ReadCall(sent); err != nil || !slices.Equal(again.Argv, c.Argv) || again.Key != c.Key {
			t.Fatalf("%q becomes %+v, %v", sent, again, err)
		}
	})
}

func TestFailure_isWhatTheCommandSaid(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]remote.Reply{
		"not taken":               {Refused: "not taken", Stdout: `{"error": "other"}`, Exit: 2},
		"cannot find it":          {Stdout: `{"error": "cannot find it", "code": "not_found"}` + "\n", Exit: 4},
		"orange: broken":          {Stdout: "half of", Stderr: "orange: broken\nmore\n", Exit: 1},
		"orange: no":              {Stdout: `{"status": "done"}`, Stderr: "orange: no\n", Exit: 1},
		"it ended with status 77": {Exit: 77},
	} {
		if got := r.Failure(); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}

func TestCall_saysWhatAPersonHasToSign(t *testing.T) {
	t.Parallel()
	for command, needs := range map[string]bool{"show": false, "list": false, "next": true, "create": true,
		"delete": true, "retry": true, "say": true, "leave": true, "snapshot": true, "restore": true} {
		if c := (remote.Call{V: 1, Argv: []string{"task", command}}); c.NeedsSignature() != needs {
			t.Errorf("%s needs one: %v", command, !needs)
		}
	}
	if (remote.Call{V: 1, Find: "x"}).NeedsSignature() {
		t.Error("a look for a task needs one")
	}
	c := remote.Call{V: 1, Argv: []string{"task", "create", "--id=x", "--", "b", "--epoch=2"}}
	if c.Flag("id") != "x" || c.Flag("epoch") != "" || strings.Join(c.Arguments(), " ") != "b --epoch=2" {
		t.Errorf("the flags are %q and %q, the arguments %q", c.Flag("id"), c.Flag("epoch"), c.Arguments())
	}
	if words := (remote.Call{V: 1, Argv: []string{"task", "list"}}).Arguments(); len(words) > 0 {
		t.Errorf("without dashes: %q", words)
	}
}
