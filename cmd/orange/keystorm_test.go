package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Random keys on the real dashboard over thirty tasks: nothing breaks it or makes it blank, and no agent starts,
// nothing is pushed and gh is not called before the person confirmed a form; that of an agent names its task. How fast
// it answers is printed next to the echo of a bare pane; a long run that is too slow fails.
func TestKeyStorm(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	seeds, keys, limit := []uint64{uint64(time.Now().UnixNano() % 1e9)}, 300, time.Minute
	if isLong() {
		seeds, keys, limit = nil, 1<<30, 2*time.Minute // five times two minutes
		for n := range 5 {
			seeds = append(seeds, uint64(time.Now().UnixNano()%1e9)+uint64(n))
		}
	}
	if text := os.Getenv("ORANGE_TEST_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = []uint64{seed}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s := newKeyStorm(t, seed)
			s.blow(keys, limit)
			s.tell()
			if isLong() {
				s.judge()
			}
		})
	}
}

// keyStorm is a person who presses keys at random.
type keyStorm struct {
	*world
	*desk
	t     *testing.T
	seed  uint64
	dice  *rand.Rand
	pane  string // where the dashboard runs
	echo  string // a pane that only echoes
	width int

	branches  map[string]string // by the id of the task
	confirmed []string          // what the forms said that the person confirmed
	trail     []string          // the last keys
	seen      map[string]int    // how many lines of each log were looked at
	lent      bool              // a key that opens the editor or the pager was pressed lately

	answers, redraws, echoes []time.Duration
	pressed, restarts        int
}

const agentDouble = `printf '%s %s\n' "$ORANGE_TASK_ID" "$ORANGE_ROLE" >>"$1/agents"
exec cat
`

// newKeyStorm makes thirty tasks: some begun, some reviewed, some not. The editor, the pager, gh and the repository
// that is pushed to write down when they are called.
func newKeyStorm(t *testing.T, seed uint64) *keyStorm {
	t.Helper()
	t.Logf("seed %d: run this again with ORANGE_TEST_SEED=%d", seed, seed)
	w := newWorld(t)
	s := &keyStorm{world: w, t: t, seed: seed, dice: rand.New(rand.NewPCG(seed, 1)), width: 120,
		branches: map[string]string{}, seen: map[string]int{}}
	notes := filepath.Join(w.dir, "notes")
	double := func(name string) {
		s.script("doubles/"+name, fmt.Sprintf("#!/bin/sh\necho \"$*\" >>'%s/%s'\n", notes, name))
	}
	s.write("notes/README", "who was called\n")
	double("editor")
	double("pager")
	double("gh")
	s.write("doubles/agent", agentDouble)
	s.script("origin.git/hooks/post-receive", fmt.Sprintf("#!/bin/sh\ncat >>'%s/push'\n", notes))
	s.must("git", "init", "-q", "--bare", filepath.Join(w.dir, "origin.git"))
	s.must("git", "remote", "add", "origin", filepath.Join(w.dir, "origin.git"))
	s.must("git", "push", "-q", "origin", "main")
	_ = os.Remove(filepath.Join(notes, "push"))
	command := fmt.Sprintf("{command: [sh, %q, %q]}", filepath.Join(w.dir, "doubles", "agent"), notes)
	s.write("orange/harnesses/idle.yml", "name: idle\nworker: "+command+"\nreviewer: "+command+"\n")
	w.env = append(w.env, "EDITOR="+filepath.Join(w.dir, "doubles", "editor"),
		"PAGER="+filepath.Join(w.dir, "doubles", "pager"),
		"PATH="+filepath.Join(w.dir, "doubles")+":"+built.dir+":"+os.Getenv("PATH"))
	s.must("orange", "project", "update", "--pool-size", "30")
	for n := range 30 {
		branch, more := fmt.Sprintf("feat/number-%02d", n), []string{"--no-spawn"}
		switch {
		case n < 4:
			more = nil
		case n < 8:
			more = []string{"--status", "reviewing"}
		}
		s.branches[s.create(branch, more...)] = branch
	}
	s.seen["agents"] = len(entries(filepath.Join(notes, "agents")))
	s.desk = w.newDesk(s.width, 30)
	s.echo = s.open("exec cat")
	s.pane = s.open(fmt.Sprintf("trap : INT; while :; do '%s'; echo left $? >>'%s/left'; done",
		filepath.Join(built.dir, "orange"), notes))
	return s
}

// script writes a program.
func (s *keyStorm) script(name, text string) {
	s.write(name, text)
	if err := os.Chmod(filepath.Join(s.dir, name), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *keyStorm) notes(name string) []string { return entries(filepath.Join(s.dir, "notes", name)) }

// everyKey are all keys of a keyboard, as tmux names them.
func everyKey() []string {
	out := []string{"Enter", "Escape", "Tab", "BTab", "BSpace", "DC", "IC", "Up", "Down", "Left", "Right", "Home",
		"End", "PPage", "NPage", "Space", "M-Left", "M-Right", "M-BSpace", "M-Enter", "S-Up", "C-Left", "C-Right"}
	for n := 1; n <= 12; n++ {
		out = append(out, fmt.Sprintf("F%d", n))
	}
	for letter := 'a'; letter <= 'z'; letter++ {
		out = append(out, fmt.Sprintf("C-%c", letter), fmt.Sprintf("M-%c", letter))
	}
	for letter := '!'; letter <= '~'; letter++ {
		out = append(out, "literal "+string(letter))
	}
	return out
}

// formFoot is at the foot of the screen while a form is open that does something. The palette does not: what it finds
// asks by itself.
var formFoot = regexp.MustCompile(`Esc +(leave it|throws it away)`)

func isForm(picture []string) bool {
	foot := lastLine(picture)
	return formFoot.MatchString(foot) && !strings.Contains(foot, "does it")
}

// formText is what a form says, without the screen behind it: what is in its box, or the line in which the person says
// something to an agent; all of the screen where it covers that.
func formText(picture []string) string {
	from, to := -1, -1
	var inside []string
	for _, line := range picture {
		letters := []rune(line)
		if at := slices.Index(letters, '╭'); at >= 0 {
			from, to = at, slices.Index(letters, '╮')
		}
		if from >= 0 && to > from && to < len(letters) {
			inside = append(inside, string(letters[from+1:to]))
		}
		if from >= 0 && slices.Contains(letters, '╰') {
			return strings.Join(inside, "\n")
		}
		if strings.HasPrefix(line, "Say to the ") {
			return line
		}
	}
	return strings.Join(picture, "\n")
}

func lastLine(picture []string) string {
	for i := len(picture) - 1; i >= 0; i-- {
		if strings.TrimSpace(picture[i]) != "" {
			return picture[i]
		}
	}
	return ""
}

// blow presses keys, so many or so long, whatever ends first.
func (s *keyStorm) blow(keys int, limit time.Duration) {
	s.t.Helper()
	until := time.Now().Add(limit)
	all := everyKey()
	picture := s.ready()
	// What may start something is pressed on a task that waits, whatever the dice say, and left at its question.
	first := slices.Repeat([]string{"literal j"}, 6)
	for _, asks := range []string{"Enter", "literal p", "literal t", "literal x", "literal d"} {
		first = append(first, asks, "Escape")
	}
	for _, name := range first {
		picture = s.press(name, picture)
		s.audit(name)
	}
	for s.pressed < keys && time.Now().Before(until) {
		name := all[s.dice.IntN(len(all))]
		switch s.dice.IntN(6) { // what most keys do is reached now and then, not once in a hundred keys
		case 0, 1:
			usual := "jjjjkGmMxrSpdt*Ai:Dwbq"
			name = "literal " + string(usual[s.dice.IntN(len(usual))])
		case 2, 3:
			name = []string{"Enter", "Enter", "literal y", "C-s"}[s.dice.IntN(4)]
		}
		picture = s.press(name, picture)
		s.audit(name)
		if s.t.Failed() {
			s.t.Fatalf("after the keys %q the screen is:\n%s", s.trail, strings.Join(picture, "\n"))
		}
	}
}

// patienceWithKeys is how long a key may take before the screen is made another size to see whether it does anything.
const patienceWithKeys = 100 * time.Millisecond

// press presses a key, waits for what it does, and answers what is shown then.
func (s *keyStorm) press(name string, before []string) []string {
	s.t.Helper()
	s.pressed++
	s.trail = append(s.trail[max(0, len(s.trail)-20):], name)
	if slices.Contains([]string{"literal y", "literal f", "literal c", "literal s", "Enter", "C-s", "C-j", "C-m",
		"M-Enter"}, name) {
		if !isForm(before) {
			// What changed after the key before may have been the clock alone: its form is yet to be drawn.
			s.redraw(name)
			before = s.ready()
		}
		if isForm(before) {
			s.confirmed = append(s.confirmed, formText(before))
		}
	}
	if slices.Contains([]string{"literal e", "literal P", "C-e", "Enter", "C-m", "C-j"}, name) {
		s.lent = true
	}
	began := time.Now()
	took, answered := s.key(s.pane, name, patienceWithKeys)
	if answered {
		s.answers = append(s.answers, took)
	} else {
		s.redraw(name) // most keys change nothing where they have no meaning
		s.redraws = append(s.redraws, time.Since(began))
	}
	if s.pressed%10 == 0 {
		echoed, _ := s.key(s.echo, "literal x", 5*time.Second)
		s.echoes = append(s.echoes, echoed)
	}
	return s.ready()
}

// redraw makes the terminal another size and waits until the dashboard drew it. The dashboard takes one message after
// the other: what was pressed before was done with by then.
func (s *keyStorm) redraw(name string) {
	s.t.Helper()
	resized := time.Now()
	s.width = 241 - s.width
	s.ask("resize-window -t %s -x %d -y 30", s.pane, s.width)
	if _, drawn := s.changedAfter(s.pane, resized, 10*time.Second); !drawn {
		s.t.Errorf("nothing changed for ten seconds, at the key %q", name)
	}
}

// ready is what the dashboard shows, once it shows something of its own. Where a key attached to an agent, it goes
// back; where one ended the dashboard, it comes again.
func (s *keyStorm) ready() []string {
	s.t.Helper()
	deadline, pause := time.Now().Add(20*time.Second), time.NewTicker(20*time.Millisecond)
	defer pause.Stop()
	for looks := 0; ; looks++ {
		picture := s.picture(s.pane)
		text := strings.Join(picture, "\n")
		if len(picture) > 0 && strings.HasPrefix(picture[0], "orange  ") && !isBlank(picture) {
			return picture
		}
		if strings.Contains(text, "the dashboard broke") || strings.Contains(text, "panic:") {
			s.t.Fatalf("the dashboard broke after the keys %q:\n%s", s.trail, text)
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the dashboard was not there, or blank, for 20 seconds after the keys %q:\n%s", s.trail, text)
		}
		if looks%25 == 24 && strings.Contains(text, "F12") {
			s.ask("send-keys -t %s F12", s.pane) // the way back from an agent's terminal
		}
		<-pause.C
	}
}

// isBlank reports whether a screen has nothing between its first line and the keys at its foot.
func isBlank(picture []string) bool {
	body := picture[1:max(1, len(picture)-2)]
	return !slices.ContainsFunc(body, func(line string) bool { return strings.TrimSpace(line) != "" })
}

// audit looks at what was called since the last key.
func (s *keyStorm) audit(name string) {
	s.t.Helper()
	fresh := func(log string) []string {
		all := s.notes(log)
		out := all[min(s.seen[log], len(all)):]
		s.seen[log] = len(all)
		return out
	}
	for _, line := range fresh("agents") {
		id, _, _ := strings.Cut(line, " ")
		branch, known := s.branches[id]
		if !s.wasConfirmed(branch) && known || !known && len(s.confirmed) == 0 {
			s.t.Errorf("after the key %q an agent of %q started, and no form that names it was confirmed", name, branch)
		}
	}
	for _, log := range []string{"push", "gh"} {
		if lines := fresh(log); len(lines) > 0 && len(s.confirmed) == 0 {
			s.t.Errorf("after the key %q %s was called, and no form was confirmed: %q", name, log, lines)
		}
	}
	for _, log := range []string{"editor", "pager"} {
		if lines := fresh(log); len(lines) > 0 && !s.lent {
			s.t.Errorf("after the key %q the %s was opened, and no key for it was pressed: %q", name, log, lines)
		}
	}
	for _, line := range fresh("left") {
		s.restarts++
		if line != "left 0" {
			s.t.Errorf("after the key %q the dashboard %s", name, line)
		}
	}
}

// wasConfirmed reports whether a form that the person confirmed names a branch. A form may break a name at the end of a
// line.
func (s *keyStorm) wasConfirmed(branch string) bool {
	return slices.ContainsFunc(s.confirmed, func(form string) bool {
		return strings.Contains(strings.Join(strings.Fields(form), ""), branch)
	})
}

// judge fails where a key had no answer for a second, or where one in a hundred had none for a tenth of a second, each
// on top of what the echo of a bare pane took on this machine. Of a key without an answer in time it is known when the
// screen was drawn again. How many take longer than patienceWithKeys tell prints: a key that changes nothing, and a
// clock that does, look alike from outside.
func (s *keyStorm) judge() {
	s.t.Helper()
	limit, usual := time.Second, 100*time.Millisecond
	if len(s.echoes) > 0 {
		limit += 2 * slices.Max(s.echoes)
		usual += 4 * p99(s.echoes)
	}
	if len(s.answers) > 0 && p99(s.answers) > usual {
		s.t.Errorf("one answer in a hundred took %s or more, want at most %s", p99(s.answers), usual)
	}
	for what, all := range map[string][]time.Duration{"an answer": s.answers, "a screen drawn again": s.redraws} {
		if len(all) > 0 && slices.Max(all) > limit {
			s.t.Errorf("%s took %s, want at most %s", what, slices.Max(all), limit)
		}
	}
}

// tell prints what was done and how fast the answers came.
func (s *keyStorm) tell() {
	figures := func(all []time.Duration) string {
		if len(all) == 0 {
			return "none"
		}
		over := 0
		for _, one := range all {
			if one > time.Second {
				over++
			}
		}
		all = slices.Sorted(slices.Values(all))
		return fmt.Sprintf("p50 %.1f ms, p99 %.1f ms, longest %.1f ms, over a second: %d", ms(all[len(all)/2]),
			ms(p99(all)), ms(all[len(all)-1]), over)
	}
	s.t.Logf("seed %d: %d keys, %d of them without an answer in time, %d forms confirmed, %d quits; agents %d, "+
		"pushes %d, gh %d, editor %d, pager %d", s.seed, s.pressed, len(s.redraws), len(s.confirmed), s.restarts,
		len(s.notes("agents")), len(s.notes("push")), len(s.notes("gh")), len(s.notes("editor")), len(s.notes("pager")))
	s.t.Logf("answers: %s", figures(s.answers))
	s.t.Logf("without one after %s, and then drawn again in another size, from the key on: %s", patienceWithKeys,
		figures(s.redraws))
	s.t.Logf("echo of a bare pane: %s", figures(s.echoes))
}

// p99 is the time that one in a hundred takes, or takes longer.
func p99(all []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(all))[len(all)*99/100]
}
