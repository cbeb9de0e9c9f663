package cli

import (
	"cmp"
	"context"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/rules/decide"
	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

const (
	tryTime = 3 * time.Minute // how long a program may take to do what its first prompt asks for
	toyTime = 5 * time.Minute // and how long agents may take for the toy task
	// toyProject is the project of the toy task. Setup removes it.
	toyProject = "orange-toy"
)

func setupCommand(p *Program) *cobra.Command {
	var s setup
	c := &cobra.Command{
		Use: "setup", Short: "Choose your usual agent program, try it, and do a toy task with it", Args: between(0, 0),
		Long: `Choose which of the agent programs on PATH is your usual one, and see what it may do unattended.
Then Orange tries it once, writes it into config.yml, offers the skills of "orange install", and has
it do a toy task in a repository of its own, up to the merge.

Orange asks before each step that costs tokens or writes a file, and you may run setup again. It
tries programs in $ORANGE_HOME/try, which it keeps: a program that asks there whether you trust a
folder asks once. With --yes it asks nothing.`,
		Example: "  orange setup\n  orange setup --harness codex --yes\n  orange setup --harness claude --yes --json",
		RunE: p.runForPerson("set Orange up", func(ctx context.Context, h *Services, _ []string) error {
			ctx, off := whileTheTerminalIsThere(ctx)
			defer off()
			s.p, s.h = &p.input, h
			return s.run(ctx)
		}),
	}
	c.Flags().StringVar(&s.Harness, "harness", "", "the usual agent program; without it Orange asks")
	c.Flags().BoolVar(&s.noToy, "no-toy", false, "do no toy task")
	c.Flags().BoolVarP(&s.yes, "yes", "y", false, "ask nothing: try the program, write the files, do the toy task")
	return c
}

// whileTheTerminalIsThere ends with the person's terminal, so that what was started for a trial ends too.
func whileTheTerminalIsThere(ctx context.Context) (context.Context, context.CancelFunc) {
	if signal.Ignored(syscall.SIGHUP) { // as under nohup
		return ctx, func() {}
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}

// setup is what was chosen and done.
type setup struct {
	Harness string           `json:"harness"`
	Tried   *harness.Started `json:"tried,omitempty"`
	Config  string           `json:"config,omitempty"` // the file that names the usual harness
	Skills  int              `json:"skills"`           // how many files of skills were written
	Toy     string           `json:"toy,omitempty"`    // the toy task, which was merged

	p          *input
	h          *Services
	yes, noToy bool
}

func (s *setup) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.choose, s.try, s.write, s.teach, s.play, s.tell,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// choose finds out which program is the usual one, and shows what it may do.
func (s *setup) choose(ctx context.Context) error {
	all, err := s.h.Home.ListHarnesses(proc.Getenv(ctx, "PATH"))
	if err != nil {
		return err
	}
	var there []string
	for _, one := range all {
		if one.Path != "" && one.Problem == "" {
			there = append(there, one.Name)
		}
	}
	usual, err := s.h.Home.UsualHarness()
	switch {
	case err != nil:
		return err
	case !s.yes && !s.p.Terminal:
		return usage("nothing was set up: no person can be asked here; name the program with --harness, and add --yes")
	case s.Harness != "":
	case len(there) == 0:
		return fmt.Errorf("no agent program is on PATH; install one, such as claude, codex, gemini, opencode or pi, " +
			"and run orange setup again")
	case s.yes && usual != "":
		s.Harness = usual
	case s.yes:
		s.Harness = firstOf(there)
	default:
		if !slices.Contains(there, usual) {
			usual = firstOf(there)
		}
		s.Harness = cmp.Or(s.p.asked(fmt.Sprintf("Agent programs on PATH: %s\nYour usual one [%s]: ",
			strings.Join(there, ", "), usual)), usual)
	}
	for _, role := range []string{task.RoleWorker, task.RoleReviewer} {
		if err := s.h.Home.There(s.Harness, role, proc.Getenv(ctx, "PATH")); err != nil {
			return err
		}
	}
	one, err := s.h.Home.Harness(s.Harness)
	if err != nil || s.p.json {
		return err
	}
	s.p.say("%s runs unattended in worktrees, and changes nothing in your checkout:", s.Harness)
	s.p.field("worker", "may run any command and change any file that you may: "+mainWords(one, task.RoleWorker))
	s.p.field("reviewer", "may do what this lets it: "+mainWords(one, task.RoleReviewer))
	s.p.field("you", "merge. Each agent costs what its program costs you; orange task cancel ends it")
	return s.p.flush()
}

// firstOf is the first of some harnesses in the order in which Orange takes them.
func firstOf(there []string) string {
	for _, name := range decide.UsualHarnesses() {
		if slices.Contains(there, name) {
			return name
		}
	}
	return there[0]
}

// mainWords are the program and its first flags, at most five, with which a role is started: they say what it may do.
func mainWords(h *harness.Harness, role string) string {
	permissions := task.PermissionsFull
	if role == task.RoleReviewer {
		permissions = task.PermissionsReduced
	}
	argv := h.Argv(role, permissions, map[string]string{harness.Prompt: "PROMPT"})
	var words []string
	for _, word := range argv {
		if strings.ContainsAny(word, " \n{") || len(words) == 5 {
			break
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// agrees asks before a step that costs tokens or writes a file.
func (s *setup) agrees(question string) bool { return s.yes || s.p.agreed(question) }

// try starts the program once.
func (s *setup) try(ctx context.Context) error {
	if !s.agrees("Try " + s.Harness + " once? Its model answers one prompt, which may cost tokens.") {
		return nil
	}
	s.p.warn("waits up to %s until %s has done what its prompt asks for", tryTime, s.Harness)
	started, err := s.h.Prober.Start(ctx, s.Harness, tryTime)
	if err != nil {
		if screen := strings.TrimSpace(started.Screen); screen != "" && !s.p.json {
			s.p.field("its window", screen)
		}
		return fmt.Errorf("%s cannot be used yet: %w", s.Harness, err)
	}
	s.Tried = &started
	if !s.p.json {
		sayStarted(&s.p.printer, started, nil)
	}
	return s.p.flush()
}

// write makes the program the usual one.
func (s *setup) write(ctx context.Context) error {
	if usual, err := s.h.Home.UsualHarness(); err != nil || usual == s.Harness {
		return err
	}
	if !s.agrees("Make " + s.Harness + " your usual program, in config.yml?") {
		return nil
	}
	file, err := s.h.Home.SetUsualHarness(ctx, s.Harness)
	if s.Config = file; err == nil && !s.p.json {
		s.p.say("wrote harness: %s to %s", s.Harness, file)
	}
	return err
}

// teach offers the skills.
func (s *setup) teach(ctx context.Context) error {
	wanted := harness.SkillsWanted{Harness: s.Harness}
	plan, err := s.h.Skills.Plan(ctx, wanted)
	if err != nil || plan.Open() == 0 {
		return nil // orange install says why there are none for it
	}
	if !s.agrees(fmt.Sprintf("Teach %s to make and follow tasks for you? That writes %s.", s.Harness,
		files(plan.Open()))) {
		return nil
	}
	done, err := s.h.Skills.Install(ctx, wanted, plan)
	s.Skills = len(done)
	return err
}

// play has agents do a toy task, and merges it.
func (s *setup) play(ctx context.Context) error {
	if s.noToy || !s.agrees("Do a toy task, from its plan to the merge? Two agents take some minutes, which "+
		"costs tokens.") {
		return nil
	}
	dir, err := s.h.Prober.Toy(ctx)
	if err != nil {
		return err
	}
	project, err := s.h.Home.Project(toyProject)
	switch { // it is there where a setup before this one was cut short
	case err != nil:
		if project, err = s.h.Home.AddRepository(ctx, dir, task.Project{Name: toyProject}); err != nil {
			return err
		}
	case project.Path != dir:
		return fmt.Errorf("no toy task was done: the project %q is yours, in %q", toyProject, project.Path)
	}
	live, err := s.h.Queries.Tasks(ctx, record.Filter{Project: toyProject, Live: true})
	if err != nil {
		return err
	}
	if len(live) > 0 {
		return fmt.Errorf("no toy task was done: an earlier one is %s; look at it with %q, or give it up with %q",
			live[0].Status, "orange task why "+live[0].ID, "orange task cancel "+live[0].ID)
	}
	actor, err := s.h.Identity.Actor(ctx, "", "")
	if err != nil {
		return err
	}
	n, err := s.h.Commands.Fill(ctx, task.New{Project: project,
		Summary: fmt.Sprintf("Add the line hello %s to the file hello.txt", time.Now().UTC().Format(time.RFC3339)),
		Harness: s.Harness, ReviewHarness: s.Harness, Spawn: true, Actor: actor})
	if err != nil {
		return err
	}
	out, err := s.h.Commands.Create(ctx, n)
	if err != nil {
		return err
	}
	id := out.Task.ID
	s.p.warn("the toy task %s is at work; waits up to %s, and %q shows its agent", id, toyTime,
		"orange task attach "+id)
	waited, err := s.h.Commands.Wait(ctx, id, actor, toyTime)
	if err != nil {
		return err
	}
	if err := s.mergeToy(ctx, waited, actor); err != nil {
		return err
	}
	s.Toy = id
	return s.h.Home.RemoveProject(ctx, toyProject)
}

func (s *setup) mergeToy(ctx context.Context, waited record.Waited, actor task.Actor) error {
	id := waited.Task.ID
	e, err := s.h.Queries.Why(ctx, id)
	if err != nil {
		return err
	}
	if waited.Blocked || e.Need.Kind != record.NeedsPerson {
		why := "it has not come that far in " + toyTime.String()
		if e.Need.Kind != "" {
			why = e.Need.String()
		}
		return fmt.Errorf("the toy task %s is %s, and not reviewed: %s; give it up with %q", id, e.Task.Status, why,
			"orange task cancel "+id)
	}
	if _, _, err := s.h.Commands.Merge(ctx, id, task.Merge{Local: true}, actor); err != nil {
		return err
	}
	if !s.p.json {
		s.p.say("merged the toy task %s: planned, built, reviewed by a second agent, merged", id)
	}
	return nil
}

// tell ends with what a person may want next.
func (s *setup) tell(_ context.Context) error {
	if s.p.json {
		return s.p.printJSON(map[string]any{"setup": s})
	}
	s.p.say("next, in a repository of yours:")
	s.p.say("  orange project add")
	s.p.say("  orange task create \"...\"")
	s.p.say("after a reboot agents go on by themselves with a unit: orange monitor --print-unit")
	if line := mcpLine(s.Harness); line != "" {
		s.p.say("your own sessions with %s get tools for tasks with: %s", s.Harness, line)
	}
	return nil
}

// mcpLine is the command with which a program gets the tools of orange mcp; empty where Orange knows none.
func mcpLine(name string) string {
	switch name {
	case "claude":
		return "claude mcp add --scope user orange -- orange mcp"
	case "codex":
		return "codex mcp add orange -- orange mcp"
	case "gemini", "qwen":
		return name + " mcp add --scope user orange orange mcp"
	}
	return ""
}
