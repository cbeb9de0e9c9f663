package evidence

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/workflow"
)

// jqStart is the time that the process that runs the programs gets in addition to theirs, on a machine with a lot
// to do.
const jqStart = 10 * time.Second

// jqRequest is what that process reads.
type jqRequest struct {
	Time     time.Duration `json:"time"` // what each program may take
	Programs []jqProgram   `json:"programs"`
}

// question is one program that a part asks.
type question struct {
	key     string
	program jqProgram
}

// jqProgram is one program with all that it may see.
type jqProgram struct {
	Program string            `json:"program"`
	Names   []string          `json:"names"`
	Values  []json.RawMessage `json:"values"` // of the names, in their order
	Input   json.RawMessage   `json:"input"`
}

// jqAnswer is the answer to one program.
type jqAnswer struct {
	Number int    `json:"number"` // of the program, from 0
	Holds  bool   `json:"holds"`
	Found  string `json:"found,omitempty"` // why it does not hold
}

// question prepares a part's program. The fact is complete but for its answer, or tells why it cannot be asked.
// Where the program sees other files too, they belong to what was seen: they are in the fact's text, and so in
// its digest, and in the name of its source, because the file alone is another piece of evidence.
func (v *view) question(p workflow.Part, fact decide.Fact, input []byte) decide.Fact {
	q := question{key: p.Key(), program: jqProgram{Program: p.JQ, Input: input}}
	fact.Want = "make this true of it: " + short(p.JQ)
	var seen strings.Builder
	seen.WriteString(fact.Text)
	var beside []string
	for _, w := range p.With {
		c := v.bytesOf(w.File)
		text := withoutMark(c.text)
		switch {
		case c.missing:
			text = []byte("null")
		case c.trouble != "":
			fact.Found, fact.Where, fact.Want = c.trouble, w.File, "make "+w.File+" a readable file"
			return fact
		default:
			if found, line, column := wrongJSON(text); found != "" {
				fact.Found, fact.Want = "no JSON: "+found, "make "+w.File+" valid JSON"
				fact.Where = fmt.Sprintf("%s:%d:%d", w.File, line, column)
				return fact
			}
		}
		q.program.Names = append(q.program.Names, w.Name)
		q.program.Values = append(q.program.Values, text)
		normal, digest := "", "missing"
		if !c.missing {
			normal = document.Normalise(string(text))
			digest = document.Digest(normal)
		}
		fmt.Fprintf(&seen, "$%s %s %s\n%s", w.Name, w.File, digest, normal)
		beside = append(beside, w.File)
	}
	if len(beside) > 0 {
		fact.Source += " with " + strings.Join(beside, ", ")
		fact.Text = seen.String()
		fact.Digest = document.Digest(fact.Text)
	}
	v.questions = append(v.questions, q)
	return fact
}

// askJQ has all prepared programs run. One that ends the process that runs it ends its own turn only: the others
// get another one.
func (v *view) askJQ(ctx context.Context) error {
	for left := v.questions; len(left) > 0; {
		request := jqRequest{Time: v.JQTime}
		for _, q := range left {
			request.Programs = append(request.Programs, q.program)
		}
		text, err := json.Marshal(request)
		if err != nil {
			return fmt.Errorf("ask jq: %w", err)
		}
		said, err := v.Programs.RunJQ(ctx, text, time.Duration(len(left))*(v.JQTime+jqLate)+jqStart)
		if err != nil {
			return fmt.Errorf("ask jq: %w", err)
		}
		answers := answersIn(said)
		done := 0
		for ; done < len(left) && answers[done] != nil; done++ {
			v.answer(left[done], *answers[done])
		}
		if done == 0 {
			v.answer(left[0], jqAnswer{Found: "its program broke the one that ran it"})
			done = 1
		}
		left = left[done:]
	}
	return nil
}

func (v *view) answer(q question, a jqAnswer) {
	fact := v.facts[q.key]
	fact.Holds = a.Holds
	switch {
	case a.Holds:
		fact.Found, fact.Want = "", ""
	case fact.Found != "": // that there is nothing of which it could be true
		fact.Found += ", and " + a.Found
	default:
		fact.Found = a.Found
	}
	v.facts[q.key] = fact
}

// answersIn reads the answers, by number. Lines that are none are a crash's last words.
func answersIn(said string) map[int]*jqAnswer {
	out := map[int]*jqAnswer{}
	for line := range strings.Lines(said) {
		decoder := json.NewDecoder(bytes.NewReader([]byte(line)))
		decoder.DisallowUnknownFields()
		var a jqAnswer
		if decoder.Decode(&a) == nil && out[a.Number] == nil {
			out[a.Number] = &a
		}
	}
	return out
}

// short is a text on one line, cut where it is long.
func short(text string) string {
	const most = 200
	words := []rune(strings.Join(strings.Fields(text), " "))
	if len(words) > most {
		return string(words[:most]) + "..."
	}
	return string(words)
}
