package home

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"orange/internal/proof/explore"
	"orange/internal/rules/edition"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
	"orange/internal/run/proc"
)

// ProvedPath is where it is noted what came of following a task through the workflow with that digest.
func (h *Home) ProvedPath(digest string) string {
	return strings.TrimSuffix(h.KeptPath(digest), ".yml") + ".proved"
}

// verdict is what came of following a task through a workflow, as it is noted. A note that says anything else, or is of
// another edition, is as good as none.
type verdict struct {
	Digest   string              `json:"digest"`
	Edition  string              `json:"edition"`
	Vast     bool                `json:"vast"` // there was more than is followed at a creation
	Findings int                 `json:"findings"`
	Told     bool                `json:"told"`  // a person who created a task has heard of them
	Table    bool                `json:"table"` // what a task has passed was found out, too
	Passed   []guarantee.GoodEnd `json:"passed"`
}

func (k verdict) text() []byte {
	text, _ := json.MarshalIndent(k, "", "  ") // it has nothing that JSON cannot say
	return append(text, '\n')
}

// prove follows a task through a workflow, once for each text: a digest never comes to name another one. Those that
// ship are proved before they do. The news are of findings, once, and each time that not all could be followed.
func (h *Home) prove(def *workflow.Definition, of task.Project) (news []string, err error) {
	k, fresh, err := h.judge(def, of)
	if err != nil {
		return nil, err
	}
	if _, again := h.vast.LoadOrStore(def.Digest, true); k.Vast && !again {
		news = append(news, fmt.Sprintf("the workflow %q is not proved: there is more to follow than is followed "+
			"while you wait; %q follows more, and says what is too much", def.Name, "orange workflow check "+def.Name))
	}
	if k.Findings > 0 && !k.Told {
		news = append(news, fmt.Sprintf("the workflow %q has %s: orange workflow check %s", def.Name,
			countOfFindings(k.Findings), def.Name))
		k.Told, fresh = true, true
	}
	if fresh {
		err = h.note(k)
	}
	return news, err // the news with an error, too: a person hears of them once
}

// judge is what is known of a workflow, nothing where it ships, and whether that is noted nowhere yet. Where findings
// refuse the workflow they are the error, and so is a promise that is not kept.
func (h *Home) judge(def *workflow.Definition, of task.Project) (k verdict, fresh bool, err error) {
	if text, err := h.shippedText(def.Digest); err != nil {
		return verdict{}, false, err
	} else if text != nil {
		return verdict{}, false, h.Promises(def, of.Promise)
	}
	refuses, err := h.refuses(def, of.Strict)
	if err != nil {
		return verdict{}, false, err
	}
	k, fresh, err = h.verdictOn(def, len(def.Promise)+len(of.Promise) > 0)
	if err == nil {
		err = promiseProblem(def, of.Promise, k.Passed, !k.Vast)
	}
	if err == nil && refuses != "" && k.Findings > 0 {
		err = refusal(def, refuses, h.check(def, false))
	}
	return k, fresh, err
}

// refuses says what has findings refuse a workflow; empty where nothing does.
func (h *Home) refuses(def *workflow.Definition, project bool) (string, error) {
	config, err := h.Config()
	switch {
	case err != nil:
		return "", err
	case def.FindingsRefuse:
		return "strict: true in the file", nil
	case project:
		return "its project is strict", nil
	case config.Strict:
		return "strict: true in config.yml", nil
	}
	return "", nil
}

// verdictOn is what this program, or another one in this home, came to, with what a task has passed where that is
// wanted; fresh says that it is noted nowhere yet.
func (h *Home) verdictOn(def *workflow.Definition, table bool) (k verdict, fresh bool, err error) {
	have, there := h.proved.Load(def.Digest)
	if there {
		k = have.(verdict)
	} else if k, there, err = h.noteOn(def.Digest); err != nil {
		return verdict{}, false, err
	}
	if fresh = !there || table && !k.Table; fresh {
		report := h.check(def, table)
		k = verdict{Digest: def.Digest, Edition: edition.Rules, Vast: len(report.NotProved()) > 0,
			Findings: len(report.Failed()) + len(slipsOf(def)), Told: k.Told, Table: table, Passed: report.Passed}
	}
	h.proved.Store(def.Digest, k)
	return k, fresh, nil
}

// slipsOf are the findings in a text, wherever it is: that a file has another name than it says is no part of its text.
func slipsOf(def *workflow.Definition) yaml.Problems {
	return slices.DeleteFunc(def.Warnings(), func(p yaml.Problem) bool { return p.Rule == "name" })
}

// note keeps what is known of a workflow, for this program and those after it, with what another one has found out or
// told meanwhile.
func (h *Home) note(k verdict) error {
	other, there, err := h.noteOn(k.Digest)
	if err == nil {
		if k.Told = k.Told || other.Told; there && other.Table && !k.Table {
			k.Table, k.Passed = true, other.Passed
		}
		err = keepAt(h.ProvedPath(k.Digest), k.text())
	}
	if err != nil {
		return fmt.Errorf("note that the workflow was proved: %w", err)
	}
	h.proved.Store(k.Digest, k)
	return nil
}

// noteOn is the note on a workflow, if there is one.
func (h *Home) noteOn(digest string) (k verdict, there bool, err error) {
	text, err := proc.ReadFile(h.ProvedPath(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return verdict{}, false, nil
	}
	if err != nil {
		return verdict{}, false, fmt.Errorf("check whether the workflow was proved: %w", err)
	}
	if json.Unmarshal(text, &k) != nil || !bytes.Equal(text, k.text()) || k.Digest != digest ||
		k.Edition != edition.Rules {
		return verdict{}, false, nil
	}
	return k, true, nil
}

// PassedBy is what a task has passed at each good end of the workflow that is pinned by a reference. It is empty where
// there was too much to follow.
func (h *Home) PassedBy(ctx context.Context, ref task.WorkflowRef) ([]guarantee.GoodEnd, error) {
	def, err := h.Pinned(ctx, ref)
	if err != nil {
		return nil, err
	}
	return h.Passed(def)
}

// Passed is what a task has passed at each good end of a workflow. It is empty where there was too much to follow.
func (h *Home) Passed(def *workflow.Definition) ([]guarantee.GoodEnd, error) {
	text, err := h.shippedText(def.Digest)
	if err != nil {
		return nil, err
	}
	if text == nil {
		k, fresh, err := h.verdictOn(def, true)
		if fresh {
			_ = h.note(k) // this is a look: what cannot be noted now is found out again
		}
		return k.Passed, err
	}
	tables := map[string][]guarantee.GoodEnd{}
	if text, err = fs.ReadFile(h.Workflows, "passed.json"); err == nil {
		err = json.Unmarshal(text, &tables)
	}
	if err != nil {
		return nil, fmt.Errorf("read what ships: %w", err)
	}
	return tables[def.Name], nil
}

// Promises refuses a workflow that leads around its own promise, or that cannot keep a project's. What is too much to
// follow is not refused: each task is held to its promise at its end.
func (h *Home) Promises(def *workflow.Definition, promise []string) error {
	if len(def.Promise)+len(promise) == 0 {
		return nil
	}
	table, err := h.Passed(def)
	if err != nil {
		return err
	}
	return promiseProblem(def, promise, table, len(table) > 0)
}

func promiseProblem(def *workflow.Definition, promise []string, table []guarantee.GoodEnd, whole bool) error {
	if broken := guarantee.Broken(def, table); len(broken) > 0 {
		return broken
	}
	if unkept := guarantee.Unkept(def, promise, table); whole && len(unkept) > 0 {
		return task.Notef(task.ErrUsage, "the workflow %q cannot keep what its project promises: %s; use another "+
			"workflow (--workflow NAME), or change the promise (orange project update --promise LINE)", def.Name,
			strings.Join(unkept, "\n"))
	}
	return nil
}

func (h *Home) check(def *workflow.Definition, table bool) explore.Report {
	switch {
	case h.Check != nil:
		return h.Check(def, explore.MostAtCreation)
	case table:
		return explore.Check(def, explore.MostAtCreation)
	}
	return explore.Findings(def, explore.MostAtCreation)
}

// refusal reports what "orange workflow check" tells.
func refusal(def *workflow.Definition, why string, report explore.Report) error {
	warnings := slipsOf(def)
	lines := []string{fmt.Sprintf("cannot use the workflow %q: it has %s (%s)", def.Name,
		countOfFindings(len(report.Failed())+len(warnings)), why)}
	for _, w := range warnings {
		lines = append(lines, w.Finding())
	}
	for _, v := range report.Failed() {
		lines = append(lines, v.Tell(def.File))
	}
	said := "correct it"
	if len(report.Failed()) > 0 {
		said += ", or say in the file why it is right: " + report.Excuse()
	}
	return task.Notef(task.ErrUsage, "%s", strings.Join(append(lines, said), "\n"))
}

func countOfFindings(findings int) string {
	if findings == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", findings)
}
