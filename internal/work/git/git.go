package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"orange/internal/run/proc"
)

// Call is one run of git.
type Call struct {
	Dir     string
	Args    []string
	Env     []string
	Index   string // an index other than that of the checkout
	Stdin   string
	upwards bool      // look for the repository in the folders above too
	Hooks   bool      // let the repository's own hooks run
	Whole   bool      // lay out all files, whatever a sparse checkout leaves out
	Most    int       // bytes of the answer that are kept; 0 keeps all
	stdout  io.Writer // gets the answer; nil keeps it
}

// Refusal is git's own refusal, without the long argument list.
type Refusal struct {
	Verb      string
	Said      string
	misplaced string // what is in git's folder and is not git's; empty where nothing is
	err       error
}

func (e *Refusal) Error() string {
	if e.misplaced != "" {
		return "git " + e.Verb + ": " + e.Said + "; " + e.misplaced
	}
	return "git " + e.Verb + ": " + e.Said
}

func (e *Refusal) Unwrap() error { return e.err }

// Explain begins the error of a function with what could not be done, at its end.
func Explain(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

// failed is git's least status that is no answer.
const failed = 128

// MostSaid is how much is kept of the beginning and of the end of what git said.
const MostSaid = 4 << 10

// ExitCode is the status that git ended with, and -1 when it did not come to that.
func ExitCode(err error) int {
	if ended, is := errors.AsType[*proc.Error](err); is {
		return ended.Code
	}
	return -1
}

// RefusedWith reports whether git's error message contains the words. Git is always run in the C locale, so that
// it can be read.
func RefusedWith(err error, words string) bool {
	refused, is := errors.AsType[*Refusal](err)
	return is && strings.Contains(refused.Said, words)
}

// Another git may hold a lock for an instant: 16 slots share one repository.
// A lock that outlives this patience belongs to a git that was killed. That of a workspace or of one ref is
// removed where no live process can hold it (see abandoned); any other lock is for a person to remove. What is no file
// in the place of a lock no git made, and it is not waited for.
const (
	lockAttempts  = 30
	firstLockWait = 5 * time.Millisecond
	longLockWait  = 250 * time.Millisecond
	lockIsOld     = 3 * time.Second
)

// Do runs git, and again where another git was in the way.
func (r Repo) Do(ctx context.Context, c Call) (proc.Result, error) {
	wait, began := firstLockWait, time.Now()
	for attempt := 1; ; attempt++ {
		result, err := r.runOnce(ctx, c)
		if err != nil && attempt > 1 && ctx.Err() != nil {
			return result, fmt.Errorf("wait for git's lock: %w", ctx.Err())
		}
		if err == nil || attempt == lockAttempts || !busy(err) && r.unfinishedIn(err) == "" {
			return result, err
		}
		lock := lockMet(c.Dir, err)
		if isNoFile(lock) && (!r.private(c.Dir, lock) || os.Remove(lock) != nil) {
			return result, fmt.Errorf("git %s: %q is in the place of a lock, and it is no file that git made; look at "+
				"what it is, and move it away", c.Args[0], lock)
		}
		if r.IsAbandoned(c.Dir, lock, time.Now()) {
			if err := os.Remove(lock); err != nil && !errors.Is(err, os.ErrNotExist) {
				return result, fmt.Errorf("remove the lock of a git that was killed: %w", err)
			}
		}
		if time.Since(began) >= lockIsOld && isOld(lock, time.Now()) { // it is the lock that was there all the time
			return result, err
		}
		if unfinishedFolder := r.unfinishedFolder(err, time.Now()); unfinishedFolder != "" {
			if err := os.RemoveAll(unfinishedFolder); err != nil {
				return result, fmt.Errorf("remove the beginning of a worktree whose git was killed: %w", err)
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return result, fmt.Errorf("wait for git's lock: %w", ctx.Err())
		case <-timer.C:
		}
		wait = min(2*wait, longLockWait)
	}
}

// busy reports whether git only met another git: a lock, or a worktree that is half made at that instant.
func busy(err error) bool {
	return RefusedWith(err, ".lock': File exists") || RefusedWith(err, "could not lock config file") ||
		RefusedWith(err, "/commondir: Success") || RefusedWith(err, "/commondir: No such file")
}

var (
	lockInTheWay   = regexp.MustCompile(`Unable to create '(/[^']+\.lock)': File exists`)
	configInTheWay = regexp.MustCompile(`could not lock config file ([^\n]+): File exists`)
)

// lockMet is the lock that a git in dir met, and empty where it met none that it named.
func lockMet(dir string, met error) string {
	if config := nameIn(met, configInTheWay); config != "" {
		if !filepath.IsAbs(config) {
			config = filepath.Join(dir, config)
		}
		return config + ".lock"
	}
	return nameIn(met, lockInTheWay)
}

// isNoFile reports whether a folder, a link, a pipe, a socket or a device is in the place of a lock.
func isNoFile(lock string) bool {
	info, err := os.Lstat(lock)
	return err == nil && !info.Mode().IsRegular()
}

// isOld reports whether a lock is so old that it belongs to a git that was killed.
func isOld(lock string, now time.Time) bool {
	info, err := os.Lstat(lock)
	return err == nil && now.Sub(info.ModTime()) >= lockIsOld
}

// IsAbandoned reports whether a killed git left a lock behind: it is one of this workspace alone, or that of one ref,
// it is old, and no git works in the workspace nor in the user's repository. An agent that is ended in the middle of a
// commit leaves one, and no other program ever removes it. Git has the lock of a ref for an instant only; the locks
// that remain for more, as that of packed-refs, stay. So do all where the system cannot tell who works there.
func (r Repo) IsAbandoned(dir, lock string, now time.Time) bool {
	if lock == "" || !r.private(dir, lock) || !isOld(lock, now) {
		return false
	}
	for _, place := range []string{dir, r.Path} {
		if others, err := proc.WorkingIn(place, "git"); err != nil || len(others) > 0 {
			return false
		}
	}
	return true
}

// nameIn is what git's error message names at the first group of a pattern; empty where it says something else.
func nameIn(met error, pattern *regexp.Regexp) string {
	if refused, is := errors.AsType[*Refusal](met); is {
		if found := pattern.FindStringSubmatch(refused.Said); found != nil {
			return found[1]
		}
	}
	return ""
}

var worktreeInTheWay = regexp.MustCompile(
	`(?:failed to read \S.*/|bad object )worktrees/([^/\n]+)/(?:commondir: |HEAD)`)

// unfinishedIn is git's own folder of a worktree that a git met which is not finished: without the path to the
// repository in it, no git can do anything in the whole repository, and without a commit no git can fetch there.
func (r Repo) unfinishedIn(met error) string {
	name := nameIn(met, worktreeInTheWay)
	common, known := r.Folder()
	folder := filepath.Join(common, "worktrees", name)
	if name == "" || !known || !Unfinished(folder) {
		return ""
	}
	return folder
}

// unfinishedFolder is such a folder that a killed git has left: it is old, git has locked it until it is whole, and no
// git works in the repository.
func (r Repo) unfinishedFolder(met error, now time.Time) string {
	folder := r.unfinishedIn(met)
	if folder == "" || !LeftUnfinished(folder, now) {
		return ""
	}
	if others, err := proc.WorkingIn(r.Path, "git"); err != nil || len(others) > 0 {
		return ""
	}
	return folder
}

// LeftUnfinished reports whether git's own folder of a worktree was begun a while ago and never finished.
func LeftUnfinished(folder string, now time.Time) bool {
	info, err := os.Stat(folder)
	return err == nil && now.Sub(info.ModTime()) >= lockIsOld && Unfinished(folder)
}

// Unfinished reports whether git's own folder of a worktree does not know its repository yet, or is at no commit yet:
// git writes zeros first.
func Unfinished(folder string) bool {
	if !AddInProgress(folder) {
		return false
	}
	text, err := proc.ReadFile(filepath.Join(folder, "commondir"))
	if len(text) == 0 && (err == nil || errors.Is(err, os.ErrNotExist)) {
		return true
	}
	head, err := HeadOf(folder)
	return err == nil && IsCommit(head) && strings.Trim(head, "0") == ""
}

// private reports whether a lock is one of the workspace in dir alone, or of a ref of the repository.
func (r Repo) private(dir, lock string) bool {
	if gitDir, err := DirOf(dir); err == nil && SamePath(filepath.Dir(lock), gitDir) {
		return true
	}
	common, known := r.Folder()
	below, err := filepath.Rel(resolve(filepath.Join(common, "refs")), resolve(lock))
	return known && err == nil && filepath.IsLocal(below)
}

// Silence is the sentence about a program that ended with a status and gave no reason.
func Silence(status int) string {
	if status < 0 {
		return "a signal ended it before it said anything"
	}
	return fmt.Sprintf("it ended with status %d and said nothing", status)
}

func (r Repo) runOnce(ctx context.Context, c Call) (proc.Result, error) {
	for _, other := range othersIn(c.Args) {
		if err := other.usual(ctx, other.Path); err != nil {
			return proc.Result{}, err
		}
	}
	if err := r.usual(ctx, c.Dir); err != nil {
		return proc.Result{}, err
	}
	result, err := proc.Run(ctx, r.Command(ctx, c))
	if ended, is := errors.AsType[*proc.Error](err); is {
		said := strings.TrimSpace(ended.Stderr)
		if len(said) > 2*MostSaid { // a path can be as long as anyone likes; git says last what is wrong
			said = said[:MostSaid] + "…" + said[len(said)-MostSaid:]
		}
		if said == "" {
			said = Silence(ended.Code)
		}
		refused := &Refusal{Verb: c.Args[0], Said: said, err: ended}
		if ended.Code < 0 || ended.Code >= failed {
			refused.misplaced = r.misplacedIn(c.Dir)
		}
		return result, refused
	}
	if err != nil && c.Dir == r.Path {
		err = cmp.Or(r.Gone(), err)
	}
	if err != nil && ctx.Err() == nil { // it was ended for what it read
		err = r.WithMisplaced(c.Dir, err)
	}
	if err != nil {
		return result, fmt.Errorf("git %s: %w", c.Args[0], err)
	}
	return result, nil
}

// Gone says what to do where the repository is not there any more; nil where it is.
func (r Repo) Gone() error {
	if _, err := os.Stat(r.Path); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("the repository %q is gone; if it was moved, say where it is now: orange project update NAME "+
		"--path PATH", r.Path)
}

// Command is the program of a call, with the settings of Overrules over the repository's own.
func (r Repo) Command(ctx context.Context, c Call) proc.Command {
	// Line ends must not stop a rescue, submodules are left as they are, and no collector is left running behind us.
	// What agents can write into the repository may neither run a program when Orange reads it, nor tell git that
	// a file has not changed: no monitor of files, no check of signatures, no flag on every file that is checked
	// out, no half of a file's times, no object in another one's place, no parents that a commit has not. A diff leaves
	// out what an index without times alone calls changed, whatever a person has set.
	args := []string{
		"-c", "core.safecrlf=false", "-c", "submodule.recurse=false", "-c", "gc.auto=0",
		"-c", "core.fsmonitor=false", "-c", "core.ignoreStat=false", "-c", "log.showSignature=false",
		"-c", "core.trustctime=true", "-c", "core.checkStat=default", "-c", "advice.graftFileDeprecated=false",
		"-c", "core.commitGraph=false", "-c", "diff.autoRefreshIndex=true",
	}
	for _, setting := range r.Overrules {
		args = append(args, "-c", setting)
	}
	if c.Whole {
		args = append(args, "-c", "core.sparseCheckout=false")
	}
	if !c.Hooks {
		args = append(args, "-c", "core.hooksPath=/dev/null")
	}
	env := []string{"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_GRAFT_FILE=/dev/null"}
	if !c.upwards {
		// A slot that lost its .git must not be taken for a part of a repository around it, such as a home under git.
		env = append(env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(c.Dir))
	}
	if c.Index != "" {
		args = append(args, "-c", "core.splitIndex=false")
		env = append(env, "GIT_INDEX_FILE="+c.Index)
	}
	out := proc.Command{Name: "git", Args: append(args, c.Args...), Dir: c.Dir, Env: append(env, c.Env...),
		Most: c.Most, Stdout: c.stdout, Watched: "git", Whole: WholeFor(ctx)}
	if c.Stdin != "" {
		out.Stdin = strings.NewReader(c.Stdin)
	}
	return out
}

// Run is git in the user's repository.
func (r Repo) Run(ctx context.Context, args ...string) (proc.Result, error) {
	return r.Do(ctx, Call{Dir: r.Path, Args: args})
}

// UpdateRefs moves and deletes refs, all or none, by lines of git update-ref.
func (r Repo) UpdateRefs(ctx context.Context, lines string) error {
	_, err := r.Do(ctx, Call{Dir: r.Path, Args: []string{"update-ref", "--stdin"}, Stdin: lines})
	return err
}

// Reading marks a call that must not take a lock only to write down what it saw.
const Reading = "GIT_OPTIONAL_LOCKS=0"

// RemoteEnv keeps everything that talks to origin from asking a person, who may not be there.
// A person's own ssh command stays theirs; Orange only passes ssh the option not to ask.
func (r Repo) RemoteEnv(ctx context.Context) ([]string, error) {
	env := []string{"GCM_INTERACTIVE=never"}
	ssh, own := proc.LookupEnv(ctx, "GIT_SSH_COMMAND")
	if !own {
		configured, err := r.Run(ctx, "config", "--get", "core.sshCommand")
		if err != nil && ExitCode(err) != 1 {
			return nil, fmt.Errorf("read core.sshCommand: %w", err)
		}
		ssh = configured.Text()
	}
	if ssh == "" && proc.Getenv(ctx, "GIT_SSH") != "" {
		return env, nil
	}
	if ssh == "" {
		ssh = "ssh"
	}
	if path.Base(strings.Fields(ssh + " ")[0]) == "ssh" {
		env = append(env, "GIT_SSH_COMMAND="+ssh+" -oBatchMode=yes")
	}
	return env, nil
}
