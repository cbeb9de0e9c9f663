package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/looplab/fsm"
	"github.com/qmuntal/stateless"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// decisions compares a decision with what two libraries take for a transition between the same states.
func decisions(l *lab) ([]row, error) {
	usual, err := os.ReadFile(filepath.Join(l.root, "workflows", "usual.yml"))
	if err != nil {
		return nil, err
	}
	implied, err := workflow.ParseUsual("usual.yml", usual)
	if err != nil {
		return nil, err
	}
	free, err := workflow.Parse("moves.yml", []byte(files("")["workflows/moves.yml"]), implied)
	if err != nil {
		return nil, err
	}
	gated, err := workflow.Parse("gated.yml", []byte(files("")["workflows/gated.yml"]), implied)
	if err != nil {
		return nil, err
	}
	fastest, name := time.Duration(0), ""
	for _, peer := range []struct {
		name string
		run  func(b *testing.B)
	}{{"qmuntal/stateless", benchStateless}, {"looplab/fsm", benchLooplab}} {
		if took := perRun(peer.run); fastest == 0 || took.took < fastest {
			fastest, name = took.took, peer.name
		}
	}
	section := "DONE: " + strings.Repeat("what was asked for, and its tests. ", 1024/35) + "\n"
	ev := decide.Evidence{Document: document.Read([]byte("---\nid: T1\n---\n\n## Plan\n\nAPPROACH: x\n\n" +
		"## Handoff\n\n" + section))}
	simple := perRun(benchDecision(free, decide.Evidence{}))
	checked := perRun(benchDecision(gated, ev))
	line := func(what string, f figure, ratio, allocations float64) row {
		found := float64(f.took) / float64(fastest)
		result := judge(found, ratio)
		if float64(f.allocations) > allocations {
			result = missed
		}
		return row{What: what, Ours: fmt.Sprintf("%s, %d allocations", f.text(), f.allocations),
			Against: fmt.Sprintf("%s, %d ns", name, fastest), Ratio: fmt.Sprintf("%.2f", found),
			Goal: fmt.Sprintf("at most %g, %g allocations", ratio, allocations), Verdict: result}
	}
	return []row{
		line("decision without a gate", simple, 0.5, 2),
		line("decision with a section gate, 1 KB", checked, 8, 10),
	}, nil
}

// figure is what one execution took.
type figure struct {
	took        time.Duration
	allocations int64
	bytes       int64
}

func (f figure) text() string { return millis(f.took) }

// perRun is the fastest of three measurements: what disturbs one only ever adds to it.
func perRun(run func(b *testing.B)) figure {
	var best figure
	for i := range 3 {
		r := testing.Benchmark(run)
		f := figure{time.Duration(r.NsPerOp()), r.AllocsPerOp(), r.AllocedBytesPerOp()}
		if i == 0 || f.took < best.took {
			best = f
		}
	}
	return best
}

func benchDecision(def *workflow.Definition, ev decide.Evidence) func(b *testing.B) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	t := task.Task{ID: "T1", Project: "shop", Branch: "topic", Summary: "Mend it", Status: "a", Live: true, Version: 7,
		Seq: 3}
	req := task.Request{Task: t.ID, To: "b", Actor: task.Actor{Role: task.RoleHuman}}
	return func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if d, err := decide.Transition(def, t, ev, req, noon); err != nil || !d.Moved {
				b.Fatal(d, err)
			}
		}
	}
}

func benchStateless(b *testing.B) {
	b.ReportAllocs()
	m := stateless.NewStateMachine("a")
	m.Configure("a").Permit("go", "b")
	m.Configure("b").Permit("go", "a").Permit("end", "over")
	for b.Loop() {
		if err := m.Fire("go"); err != nil {
			b.Fatal(err)
		}
	}
}

func benchLooplab(b *testing.B) {
	b.ReportAllocs()
	m := fsm.NewFSM("a", fsm.Events{{Name: "there", Src: []string{"a"}, Dst: "b"},
		{Name: "back", Src: []string{"b"}, Dst: "a"}, {Name: "end", Src: []string{"a", "b"}, Dst: "over"}}, nil)
	there := true
	for b.Loop() {
		event := "back"
		if there {
			event = "there"
		}
		there = !there
		if err := m.Event(context.Background(), event); err != nil {
			b.Fatal(err)
		}
	}
}

// listsAndFences is a document as agents write them, of about as many bytes.
func listsAndFences(size int) string {
	const part = "- [x] the login, with its `session` and a test\n  - a nested item that goes on\n" +
		"    on a second line\n1. first\n2. second\n\n```go\nfunc main() {\n\t## no heading\n}\n```\n\n" +
		"A paragraph of **prose** that says why.\n\n"
	return strings.Repeat(part, size/len(part)+1)
}

func prose(size int) string {
	const part = "The login was wrong because the session was read before it was written; now it is read\n" +
		"after that.\n" +
		"Nothing else reads it, and the tests say so.\n\n"
	return strings.Repeat(part, size/len(part)+1)
}

// parses measures readings of TASK.md: of the usual size, and of the largest.
func parses(*lab) ([]row, error) {
	const header = "---\nid: T1\n---\n\n## Handoff\n\nDONE: it\n\n## Log\n\n"
	var rows []row
	for _, kind := range []struct {
		name string
		text func(int) string
	}{{"lists and fences", listsAndFences}, {"prose", prose}} {
		for _, size := range []struct {
			name  string
			bytes int
			most  time.Duration
			goal  string
		}{{"4 KB", 4 << 10, time.Millisecond, "under 1 ms"}, {"2 MB", 2 << 20, time.Second, "under 1 s"}} {
			text := []byte(header + kind.text(size.bytes))[:size.bytes]
			ours := perRun(func(b *testing.B) {
				for b.Loop() {
					document.Read(text)
				}
			})
			rows = append(rows, row{What: fmt.Sprintf("parse of TASK.md, %s, %s", size.name, kind.name),
				Ours: ours.text(), Goal: size.goal,
				Verdict: judge(float64(ours.took), float64(size.most))})
		}
	}
	return rows, nil
}
