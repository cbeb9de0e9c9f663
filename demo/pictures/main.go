// Pictures draws the README's pictures of the dashboard: it fills a throw-away home with tasks on which scripted
// agents work, opens the real dashboard in a real terminal, presses its keys, and writes what the screen shows as
// SVG.
//
// usage: pictures PROGRAM AGENT FOLDER      (the program orange, the scripted agent, and where the pictures go)
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/run/proc"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) != 3 {
		return errors.New("usage: pictures PROGRAM AGENT FOLDER")
	}
	place, err := os.MkdirTemp("", "orange-pictures")
	if err != nil {
		return err
	}
	s := &studio{place: place, program: args[0], agent: args[1], folder: args[2]}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.furnish(ctx); err != nil {
		return err
	}
	return s.shoot(ctx)
}

// Size of the terminal.
const (
	columns = 120
	rows    = 34
)

// patience is how long a screen may take to show what is waited for.
const patience = 60 * time.Second

// studio is the throw-away home, and the terminal in which the dashboard runs.
type studio struct{ place, program, agent, folder string }

func (s *studio) env() []string {
	return []string{
		"ORANGE_HOME=" + filepath.Join(s.place, "home"), "TMUX_TMPDIR=" + s.place, "TMUX=", "TERM=xterm-256color",
		"NO_COLOR=",
		"PATH=" + filepath.Join(s.place, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"ORANGE_SEAT=", "ORANGE_TASK_ID=", "ORANGE_PROJECT=", "ORANGE_ROLE=",
	}
}

func (s *studio) repo() string { return filepath.Join(s.place, "garden") }

// do runs a program in the repository.
func (s *studio) do(ctx context.Context, name string, args ...string) (string, error) {
	out, err := proc.Run(ctx, proc.Command{Name: name, Args: args, Dir: s.repo(), Env: s.env()})
	return string(out.Stdout), err
}

func (s *studio) orange(ctx context.Context, args ...string) error {
	_, err := s.do(ctx, s.program, args...)
	return err
}

// furnish makes a repository, the harnesses, and tasks that stand in different places.
func (s *studio) furnish(ctx context.Context) error {
	files := map[string]string{
		"home/harnesses/scripted.yml": fmt.Sprintf("name: scripted\nworker: {command: [%q, "+
			"\"{prompt_file}\"]}\nreviewer: {command: [%q, \"{prompt_file}\"]}\n", s.agent, s.agent),
		"home/harnesses/patient.yml": "name: patient\nworker: {command: [sh, -c, \"printf 'I read the plan " +
			"and think about it.\\\\n\\\\n  12 files read\\\\n  3 places found that say how much water tomatoes want" +
			"\\\\n\\\\nworking on docs/watering.md\\\\n'; exec cat\"]}\n",
		"home/harnesses/asking.yml": "name: asking\nworker: {command: [sh, -c, \"printf '\\\\n## Questions\\\\n\\\\n" +
			"1. Which unit: mm or litres?\\\\n' >>TASK.md; orange task update --status clarification; exec cat\"]}\n",
		"home/harnesses/hasty.yml": "name: hasty\nworker: {command: [sh, -c, \"echo 'out of memory'; exit 3\"]}\n",
		"home/harnesses/coder.yml": fmt.Sprintf("name: coder\nworker: {command: [sh, %q]}\n",
			filepath.Join(s.place, "coder")),
		"home/config.yml":   "harness: scripted\n",
		"garden/README.md":  "# The garden\n",
		"garden/harvest.go": harvest,
		"export.go":         exported,
		"coder":             coder,
	}
	for name, text := range files {
		path := filepath.Join(s.place, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(s.place, "bin"), 0o755),
		os.Symlink(s.program, filepath.Join(s.place, "bin", "orange"))); err != nil {
		return err
	}
	for _, words := range [][]string{
		{"git", "init", "-q", "-b", "main"}, {"git", "config", "user.name", "Demo"},
		{"git", "config", "user.email", "demo@localhost"},
		{"git", "add", "README.md", "harvest.go"}, {"git", "commit", "-q", "-m", "Begin"},
		{s.program, "project", "add", ".", "--name", "garden"},
		{s.program, "task", "create", "fix/login", "Users who forget their name cannot log in"},
		{s.program, "task", "create", "feature/export", "Export the harvest as CSV, one row for each bed",
			"--harness", "coder"},
		{s.program, "task", "create", "docs/watering", "Say in the docs how often tomatoes want water",
			"--harness", "patient"},
		{s.program, "task", "create", "feature/frost-alarm", "Warn a day before the first frost", "--harness", "hasty"},
		{s.program, "task", "create", "feature/rain", "Record how much it has rained", "--harness", "asking"},
		{s.program, "task", "create", "chore/upgrade-deps", "Bring the dependencies up to date", "--no-spawn"},
	} {
		if _, err := s.do(ctx, words[0], words[1:]...); err != nil {
			return err
		}
	}
	return s.reviewed(ctx)
}

// reviewed waits until the scripted agents have nothing more to do: the first two tasks are a person's then.
func (s *studio) reviewed(ctx context.Context) error {
	list, err := s.do(ctx, s.program, "task", "list")
	if err != nil {
		return err
	}
	for _, line := range strings.Split(list, "\n") {
		if strings.Contains(line, "fix/login") || strings.Contains(line, "feature/export") {
			if err := s.orange(ctx, "task", "wait", strings.Fields(line)[0], "--timeout",
				patience.String()); err != nil {
				return err
			}
		}
	}
	return nil
}

// shot is one picture: the keys that lead to it, and the words that stand there when it is ready. One without a
// name is only waited for.
type shot struct {
	name string
	keys []string
	want string
}

func (s *studio) shoot(ctx context.Context) error {
	open := []string{"new-session", "-d", "-s", "pictures", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows),
		s.program}
	if _, err := s.tmux(ctx, open...); err != nil {
		return err
	}
	for _, one := range []shot{
		{"", nil, "asks: which unit"},
		{"", []string{"/", "rain", "Enter"}, "holding"},
		{"inbox", []string{"Escape"}, "review passed"},
		{"", []string{"/", "watering", "Enter"}, "docs/watering"},
		{"", []string{"M"}, "clarification  "},
		{"refusal", []string{"j", "Enter"}, "this move is closed"},
		{"", []string{"Escape"}, "holding"},
		{"agent", []string{"Escape"}, "12 files read"},
		{"", []string{"/", "export", "Enter"}, "holding"},
		{"", []string{"D"}, "lines 1"},
		{"", []string{"]", "]", "j", "j", "j", "j", "c"}, "Comment on"},
		{"review", []string{"How much is a pound?", "C-s"}, "1 comment to send"},
	} {
		if err := s.take(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// take presses the keys, waits until the words are there and the screen stands still, and writes the picture.
func (s *studio) take(ctx context.Context, one shot) error {
	for _, key := range one.keys {
		if _, err := s.tmux(ctx, "send-keys", "-t", "pictures", key); err != nil {
			return err
		}
	}
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for before := ""; ; {
		screen, err := s.tmux(ctx, "capture-pane", "-e", "-p", "-N", "-t", "pictures")
		if err != nil {
			return err
		}
		if strings.Contains(strings.ToLower(screen), strings.ToLower(one.want)) && screen == before {
			if one.name == "" {
				return nil
			}
			return os.WriteFile(filepath.Join(s.folder, one.name+".svg"), []byte(svg(screen, columns, rows)), 0o644)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the picture %q did not show %q:\n%s", one.name, one.want, screen)
		}
		before = screen
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// tmux asks a server of this program's own.
func (s *studio) tmux(ctx context.Context, words ...string) (string, error) {
	return s.do(ctx, "tmux", append([]string{"-L", "pictures", "-f", "/dev/null"}, words...)...)
}

// close ends everything that was started and takes the place away.
func (s *studio) close() error {
	ctx, off := context.WithTimeout(context.Background(), patience)
	defer off()
	_, _ = s.tmux(ctx, "kill-server") // there is none where nothing was opened
	var left []error
	list, err := s.do(ctx, s.program, "task", "list", "--all")
	left = append(left, err)
	for i, line := range strings.Split(strings.TrimSpace(list), "\n") {
		if i > 0 {
			left = append(left, s.orange(ctx, "task", "delete", strings.Fields(line)[0], "--yes"))
		}
	}
	return errors.Join(append(left, os.RemoveAll(s.place))...)
}
