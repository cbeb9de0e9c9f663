package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// Trial is a place where merges are tried without a trace: a repository of its own, which has the objects of the real
// one and nothing else of it. What git makes there is thrown away with it. No setting of the repository's, nor of the
// person's, has a say: no merge driver, no other program and no hook runs, no lock of the repository is taken, no
// missing object is fetched. A file that a driver would merge is merged as text.
type Trial struct {
	repo   git.Repo
	common string // git's own folder of the real repository
	dir    string
	env    []string
	ready  bool // it has the attributes of files
}

// Bounds of trials. What is older than trialIsOld, a process left that was killed.
const (
	trialPrefix  = ".trial-"
	trialIsOld   = time.Hour // another process is done with its own long before
	trialBatch   = 100       // merges of one process: what it found is lost where it is ended
	mostAttempts = 20        // processes that are started again after a pair that cannot be merged
	mostRules    = 1 << 20   // bytes of the attributes of files that are read
)

// Trial makes a place to try merges in, in a folder. The commit is one of those that will be asked about: its name
// tells which kind of names the repository has.
func (r Into) Trial(ctx context.Context, folder, commit string) (t *Trial, err error) {
	defer git.Explain(&err, "cannot make a place to try merges in")
	common, err := r.CommonDir(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, task.PrivateFolder); err != nil {
		return nil, err
	}
	if err := removeOldTrials(folder, time.Now()); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(folder, trialPrefix)
	if err != nil {
		return nil, err
	}
	t = &Trial{repo: r.Repo, common: common, dir: dir, env: []string{
		"GIT_DIR=" + dir, "GIT_OBJECT_DIRECTORY=" + filepath.Join(dir, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + entry(filepath.Join(common, "objects")),
		"GIT_SHALLOW_FILE=" + filepath.Join(common, "shallow"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=0",
		"GIT_CONFIG_PARAMETERS=",
		"GIT_NO_LAZY_FETCH=1", git.Reading,
	}}
	if err := t.lay(commit); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// entry writes a path as an entry of a list, whatever characters it has.
func entry(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// lay makes the files of a repository without anything in it.
func (t *Trial) lay(commit string) error {
	format := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsync = none\n\tlooseCompression = 0\n"
	const sha256 = 64 // digits of a name
	if len(commit) == sha256 {
		format = strings.Replace(format, "= 0", "= 1", 1) + "[extensions]\n\tobjectformat = sha256\n"
	}
	for _, folder := range []string{"objects", "refs", "info"} {
		if err := os.Mkdir(filepath.Join(t.dir, folder), task.PrivateFolder); err != nil {
			return err
		}
	}
	return errors.Join(
		proc.WriteFile(filepath.Join(t.dir, "config"), []byte(format), task.PrivateFile),
		proc.WriteFile(filepath.Join(t.dir, "HEAD"), []byte("ref: refs/heads/none\n"), task.PrivateFile))
}

// Close throws the place away, with all that was made there.
func (t *Trial) Close() error { return os.RemoveAll(t.dir) }

// removeOldTrials removes what processes left that were killed.
func removeOldTrials(folder string, now time.Time) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), trialPrefix) || now.Sub(info.ModTime()) < trialIsOld {
			continue // another process may just have removed it
		}
		if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// git runs in the trial's own repository.
func (t *Trial) git(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	out, err := t.repo.Do(ctx, git.Call{Dir: t.dir, Env: t.env, Args: args, Stdin: stdin})
	return out.Stdout, err
}

// Changed lists the paths that differ between the tip and where it left the base; a file that was moved has both of
// its paths.
func (t *Trial) Changed(ctx context.Context, base, tip string) ([]string, error) {
	if err := t.repo.CheckComparable(ctx, t.repo.Path, base, tip); err != nil {
		return nil, err
	}
	out, err := t.git(ctx, "", "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=none", base+"..."+tip, "--")
	if err != nil {
		return nil, fmt.Errorf("cannot list what changed since %s: %w", base, err)
	}
	return nulls(out), nil
}

func nulls(out []byte) []string {
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
}

// TrialResult is what the trial of one merge came to.
type TrialResult struct {
	Files []string // in conflict; none where the merge needs no help
	Err   error    // why git cannot say
}

// errNoBatch says that this git takes one merge at a time.
var errNoBatch = errors.New("it takes one merge at a time")

// Merges tries to merge pairs of commits, in their order. base is the commit whose rules for files count. Where time
// ran out, or git can do no more, the answer has fewer entries than there are pairs, and the error says why.
func (t *Trial) Merges(ctx context.Context, base string, pairs [][2]string) ([]TrialResult, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	if err := t.attributes(ctx, base); err != nil {
		return nil, err
	}
	var all []TrialResult
	for attempts := 0; len(all) < len(pairs); {
		rest := pairs[len(all):]
		some, err := t.batch(ctx, rest[:min(len(rest), trialBatch)])
		if errors.Is(err, errNoBatch) {
			return t.OneByOne(ctx, pairs)
		}
		all = append(all, some...)
		if err == nil {
			continue
		}
		if attempts++; ctx.Err() != nil || attempts > mostAttempts || git.ExitCode(err) < 0 {
			return all, err
		}
		all = append(all, TrialResult{Err: err}) // git ends at the first pair that it cannot merge
	}
	return all, nil
}

// batch tries merges in one process. Where git ends before the last of them, the answer has those before.
func (t *Trial) batch(ctx context.Context, pairs [][2]string) ([]TrialResult, error) {
	var lines strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&lines, "%s %s\n", p[0], p[1])
	}
	out, err := t.git(ctx, lines.String(), "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages",
		"--stdin")
	const usage = 129
	if git.ExitCode(err) == usage {
		return nil, errNoBatch // before 2.39
	}
	all, whole := readBatch(out)
	if err == nil && (!whole || len(all) != len(pairs)) {
		err = fmt.Errorf("git merge-tree answered about %d of %d merges", len(all), len(pairs))
	}
	return all[:min(len(all), len(pairs))], err
}

// readBatch reads what git says about merges: for each its status, its tree, the files in conflict, and an empty
// field. It also reports whether there was nothing else.
func readBatch(out []byte) (all []TrialResult, whole bool) {
	fields := bytes.Split(out, []byte{0})
	for len(fields) > 1 {
		const least = 3 // status, tree, end
		end := 0
		for end < len(fields)-1 && (end < least-1 || len(fields[end]) > 0) {
			end++
		}
		status := string(fields[0])
		if end >= len(fields)-1 || status != "0" && status != "1" || !git.IsCommit(string(fields[1])) {
			return all, false
		}
		one := TrialResult{}
		for _, file := range fields[least-1 : end] {
			one.Files = append(one.Files, string(file))
		}
		if status == "0" && len(one.Files) == 0 {
			one.Err = errors.New("git merge-tree found a conflict and named no file")
		}
		all, fields = append(all, one), fields[end+1:]
	}
	return all, len(fields[0]) == 0
}

// OneByOne tries merges in a process each.
func (t *Trial) OneByOne(ctx context.Context, pairs [][2]string) ([]TrialResult, error) {
	var all []TrialResult
	for _, p := range pairs {
		out, err := t.git(ctx, "", "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", p[0], p[1])
		parts := nulls(out)
		switch {
		case err == nil:
			all = append(all, TrialResult{})
		case git.ExitCode(err) == 1 && len(parts) > 1:
			all = append(all, TrialResult{Files: parts[1:]})
		case git.ExitCode(err) < 0:
			return all, err
		default:
			all = append(all, TrialResult{Err: err})
		}
	}
	return all, nil
}

// attributes takes over the rules for files that need no program, such as which are merged line by line and which
// are no text: those at the top of the base, and those of the repository alone.
func (t *Trial) attributes(ctx context.Context, base string) error {
	if t.ready {
		return nil
	}
	const name = ".gitattributes"
	out, err := t.git(ctx, base+":"+name+"\n", "cat-file", "--batch")
	if err != nil {
		return fmt.Errorf("cannot read %s at %s: %w", name, base, err)
	}
	head, rules, _ := bytes.Cut(out, []byte("\n"))
	if fields := strings.Fields(string(head)); len(fields) != 3 || fields[1] != "blob" || len(rules) > mostRules {
		rules = nil // there is none, or it is no file
	}
	own, err := proc.ReadFile(filepath.Join(t.common, "info", "attributes"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot read the repository's own attributes: %w", err)
	}
	if len(own) > mostRules {
		own = nil
	}
	t.ready = true
	return proc.WriteFile(filepath.Join(t.dir, "info", "attributes"), append(append(rules, '\n'), own...),
		task.PrivateFile)
}
