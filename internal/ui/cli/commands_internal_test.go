package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/spf13/cobra"

	"orange/internal/api"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/store/home"
)

// Who a command is for.
const (
	reads   = "reads"             // for everyone
	ofATask = "changes a task"    // asks first who asks about the task
	ofAll   = "changes the home"  // for people: asks first whether a person asks
	ofSome  = "changes it or not" // for people where it changes something: told elsewhere, where that is found out
	itself  = "the program's own" // hidden: one part of the program starts another
)

// kinds says of every command who it is for, with the arguments that make it do what it is there for.
func kinds() map[string][2]string {
	all := ownKinds()
	for _, name := range api.Names(api.Host) {
		if _, own := all["fleet "+name]; !own && name != "restore" { // rescue does it
			all["fleet "+name] = [2]string{ofAll, cmp.Or(all["task "+name][1], "abc")}
		}
	}
	return all
}

// ownKinds is kinds without the commands of "orange fleet" that are those of "orange task" at another host.
func ownKinds() map[string][2]string {
	return map[string][2]string{
		"orange":               {ofSome, ""}, // the dashboard asks for each thing that it does
		"project add":          {ofAll, ""},
		"project list":         {reads, ""},
		"project update":       {ofAll, "coffee --pool-size 3"},
		"project restore":      {ofAll, "--project coffee"},
		"project accept":       {ofAll, "--project coffee"},
		"project remove":       {ofAll, "coffee"},
		"task create":          {ofATask, "feat/a Something"},
		"task list":            {reads, ""},
		"task show":            {reads, ""},
		"task spawn":           {ofATask, "abc"},
		"task attach":          {reads, ""}, // it lends a terminal, and asks for nothing
		"task respawn":         {ofATask, "abc"},
		"task update":          {ofATask, "abc --status working"},
		"task next":            {ofATask, "abc"},
		"task move":            {ofATask, "abc planning"},
		"task redo":            {ofATask, "abc planning"},
		"task complete":        {ofATask, "abc"},
		"task stuck":           {ofATask, "abc"},
		"task wait":            {reads, ""},
		"task say":             {ofATask, "abc -"},
		"task request-changes": {ofATask, "abc -"},
		"task merge":           {ofATask, "abc"},
		"task cancel":          {ofATask, "abc --yes"},
		"task delete":          {ofATask, "abc --yes"},
		"task leave":           {ofATask, "abc --yes"},
		"task snapshot":        {ofAll, "abc --to origin"},
		"task restore":         {ofAll, "abc --from origin"},
		"task history":         {reads, ""},
		"task why":             {reads, ""},
		"task diff":            {reads, ""},
		"task logs":            {reads, ""},
		"task verify":          {reads, ""},
		"task replay":          {reads, ""},
		"task stats":           {reads, ""},
		"task retry":           {ofATask, "abc"},
		// it runs what the workflow names, and notes the result in the engine's name
		"task check":     {reads, ""},
		"task create-pr": {ofATask, "abc"},
		"task watch":     {reads, ""},
		// the host that it goes to asks who asks about the task; only people may be persons there
		"fleet join":     {ofAll, "big --ssh big"},
		"fleet forget":   {ofAll, "big"},
		"fleet hosts":    {ofAll, ""},
		"fleet list":     {ofAll, ""},
		"fleet create":   {ofAll, "feat/a Something --on big"},
		"fleet attach":   {ofAll, "abc"},
		"fleet snapshot": {ofAll, "abc"},
		"fleet rescue":   {ofAll, "abc --now dead"},
		"fleet result":   {ofAll, "abc"},
		"answer":         {itself, ""}, // for people: TestAnswer_refusesWhoIsNoPerson

		"merge":             {ofAll, ""},
		"env set":           {ofAll, "KEY=value"},
		"env unset":         {ofAll, "KEY"},
		"env list":          {reads, ""}, // names, and no value
		"install":           {ofAll, ""},
		"setup":             {ofAll, ""},
		"uninstall":         {ofAll, ""},
		"harness list":      {reads, ""},
		"harness show":      {reads, ""},
		"harness test":      {ofAll, "pi"},
		"workflow list":     {reads, ""},
		"workflow show":     {reads, ""},
		"workflow path":     {reads, ""},
		"workflow new":      {ofAll, "mine"},
		"workflow check":    {reads, ""},
		"workflow simulate": {reads, ""},
		"workflow graph":    {reads, ""},
		"workflow schema":   {reads, ""},
		"workflow migrate":  {ofAll, "default"},
		"workspace init":    {ofAll, "--project coffee"},
		"workspace list":    {reads, ""},
		"workspace gc":      {ofAll, "--all"},
		"workspace restore": {ofAll, "abc lib"},
		"workspace drop":    {ofAll, "abc lib"},
		"monitor":           {ofAll, ""},
		"monitor --once":    {ofAll, ""},
		"server status":     {reads, ""},
		"server restart":    {ofAll, ""},
		"server stop":       {ofAll, ""},
		"log":               {reads, ""},
		"version":           {reads, ""},
		"adopt":             {ofSome, ""}, // --yes is for people
		"doctor":            {ofSome, ""}, // --fix and --rebuild are for people, with a record or without
		"shell":             {ofSome, ""}, // each of its lines is a command
		"mcp":               {ofSome, ""}, // each of its tools is a command
		"serve":             {itself, ""},
		"settle":            {itself, ""},
		"check":             {itself, ""},
	}
}

// A new command cannot be forgotten: it has to say here who it is for.
func TestEveryCommandSaysWhoItIsFor(t *testing.T) {
	t.Parallel()
	known, p := kinds(), &Program{}
	var found []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			walk(below)
		}
		if c.HasSubCommands() && c.HasParent() {
			return // it only holds others
		}
		name := strings.TrimPrefix(c.CommandPath(), "orange ")
		found = append(found, name)
		kind, listed := known[name]
		switch {
		case !listed:
			t.Errorf("%q is not listed", name)
		case c.Hidden != (kind[0] == itself):
			t.Errorf("%q is %q, and hidden is %v", name, kind[0], c.Hidden)
		}
	}
	walk(p.root())
	for name := range known {
		if name, _, _ = strings.Cut(name, " --"); !slices.Contains(found, name) {
			t.Errorf("%q is listed, and there is no such command", name)
		}
	}
}

var errRefused = errors.New("no one may")

// refusing refuses every caller, and knows where it is. Anything else that a command asks for is not there, and
// would end the test.
type refusing struct {
	Commands
	Identity
	Queries
	asked []string
}

// homeWith has some projects.
func homeWith(t *testing.T, names ...string) *home.Home {
	t.Helper()
	h := &home.Home{Dir: t.TempDir()}
	var all []task.Project
	for _, name := range names {
		all = append(all, task.Project{Name: name})
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(filepath.Join(h.Dir, "projects.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (n *refusing) Actor(context.Context, string, string) (task.Actor, error) {
	n.asked = append(n.asked, ofATask)
	return task.Actor{}, errRefused
}

func (n *refusing) Person(_ context.Context, what string) error {
	if what != "" { // it learns what the refusal is about
		n.asked = append(n.asked, ofAll)
	}
	return errRefused
}

func (n *refusing) Here(context.Context) (id, project string, err error) { return "abc", "coffee", nil }

func (n *refusing) Fill(_ context.Context, made task.New) (task.New, error) { return made, nil }

func (n *refusing) Tasks(context.Context, record.Filter) ([]task.Task, error) {
	return []task.Task{{ID: "abc"}}, nil
}

func TestEveryCommandThatChangesSomethingAsksFirstWhoAsks(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds() {
		if kind[0] != ofATask && kind[0] != ofAll {
			continue
		}
		n := &refusing{}
		p := &Program{services: &Services{Commands: n, Identity: n, Queries: n, Home: homeWith(t, "coffee")}}
		p.In = iotest.ErrReader(errors.New("read before it is known who asks"))
		p.Out = printable.NewWriter(io.Discard)
		p.Err = printable.NewWriter(io.Discard)
		root := p.root()
		root.SetArgs(joinBranch(strings.Fields(name + " " + kind[1])))
		if err := root.ExecuteContext(t.Context()); !errors.Is(err, errRefused) || !slices.Equal(n.asked, kind[:1]) {
			t.Errorf("%q asked %q and ended with %v, want one question, %q, and its answer", name, n.asked, err,
				kind[0])
		}
	}
}
