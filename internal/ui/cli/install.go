package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
)

func installCommand(p *Program) *cobra.Command {
	var wanted harness.SkillsWanted
	var yes bool
	c := &cobra.Command{
		Use: "install", Short: "Teach the coding agents on this machine how to use Orange", Args: between(0, 1),
		Long: `Write two skills to where agent programs look for skills: orange-orchestrator for an agent that you
talk to and that makes and follows tasks for you, and orange-worker for an agent inside a task.

Without flags they go to your own folder of every program on PATH whose folder is known, such as
~/.claude/skills. With --project they go into the checkout of the project that you are in, or of the
one that is named, as .claude/skills; git ignores them there unless it tracks that folder.

Orange shows each file first, and asks. It never overwrites a file that you wrote or changed. You
may run it again after an update of Orange; "orange uninstall" removes what it wrote.`,
		Example: "  orange install\n  orange install --harness claude --yes\n  orange install --project",
		RunE: p.runForPerson("install skills", func(ctx context.Context, h *Services, args []string) error {
			if p.project != "" {
				if err := projectToInstall(ctx, &p.finder, h, &wanted, args); err != nil {
					return err
				}
			} else if len(args) > 0 {
				return usage("found the argument %q, expected none without --project", args[0])
			}
			return installSkills(ctx, &p.input, h.Skills, wanted, yes)
		}),
	}
	c.Flags().StringVar(&wanted.Harness, "harness", "", "only for this agent program, whether it is on PATH or not")
	c.Flags().StringVar(&p.project, "project", "", "into the checkout of the project that you are in, or of this one")
	c.Flags().Lookup("project").NoOptDefVal = projectHere
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// projectHere is the value of --project where no name follows.
const projectHere = "the one here"

// projectToInstall is the project that is named, or that of the folder. A name may follow --project without =, too.
func projectToInstall(ctx context.Context, p *finder, h *Services, wanted *harness.SkillsWanted,
	args []string) error {
	switch {
	case p.project != projectHere && len(args) > 0:
		return usage("found the argument %q, expected none", args[0])
	case p.project == projectHere:
		p.project = strings.Join(args, "")
	}
	project, err := p.projectOf(ctx, h)
	wanted.Project = project.Path
	return err
}

func installSkills(ctx context.Context, p *input, skills Skills, wanted harness.SkillsWanted, yes bool) error {
	plan, err := skills.Plan(ctx, wanted)
	if err != nil {
		return err
	}
	if !p.json {
		if err := saySkills(&p.printer, plan.Files); err != nil {
			return err
		}
		for _, note := range plan.Notes {
			p.warn("%s", note)
		}
	}
	var done []harness.SkillFile
	if open := plan.Open(); open > 0 {
		err := p.sure(task.Actor{Role: task.RoleHuman}, yes, fmt.Sprintf("Write %s?", files(open)),
			"nothing was written")
		if err != nil {
			return err
		}
		if done, err = skills.Install(ctx, wanted, plan); err != nil {
			return err
		}
	}
	if p.json {
		return p.printJSON(map[string]any{"files": plan.Files, "written": orEmpty(done), "notes": orEmpty(plan.Notes)})
	}
	if len(done) == 0 {
		p.say("nothing to write")
		return nil
	}
	p.say("wrote %s; %q removes them", files(len(done)), "orange uninstall")
	return nil
}

func uninstallCommand(p *Program) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "uninstall", Short: "Remove what orange install has written", Args: between(0, 0),
		Long: `Remove the skills that "orange install" has written, for you and in projects. A file that you have
changed stays. Orange shows each file first, and asks. Tasks, projects and Orange itself stay as
they are.`,
		Example: "  orange uninstall\n  orange uninstall --yes",
		RunE: p.runForPerson("remove installed skills", func(ctx context.Context, h *Services, _ []string) error {
			there, err := h.Skills.Installed(ctx)
			if err != nil {
				return err
			}
			if !p.json {
				if err := saySkills(&p.printer, there); err != nil {
					return err
				}
			}
			err = p.sure(task.Actor{Role: task.RoleHuman}, yes || len(there) == 0,
				"Remove the files that Orange wrote there?", "nothing was removed")
			if err != nil {
				return err
			}
			done, err := h.Skills.Uninstall(ctx)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(map[string]any{"files": there, "removed": orEmpty(done)})
			}
			if len(done) == 0 {
				p.say("nothing to remove")
				return nil
			}
			p.say("removed %s", files(len(done)))
			return nil
		}),
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// saySkills lists files, and says what becomes of each.
func saySkills(p *printer, all []harness.SkillFile) error {
	var rows [][]string
	for _, one := range all {
		why := strings.Join(one.Harnesses, ", ")
		if one.State == harness.SkillYours {
			why = "you wrote or changed it; it stays as it is"
		}
		rows = append(rows, []string{one.State, one.Path, why})
	}
	if len(rows) == 0 {
		return nil
	}
	return p.table(table{rows: append([][]string{{"FILE", "PATH", "FOR"}}, rows...)})
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}
