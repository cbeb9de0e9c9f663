package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// committed are the list, the rows of docs/promises.md and what they name.
func committed(t *testing.T) ([]promise, []row, *repository) {
	t.Helper()
	list, err := parseList(readFile(t, "testdata/list.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rows, repo, err := page(root)
	if err != nil {
		t.Fatal(err)
	}
	return list, rows, repo
}

func TestEveryPromiseOfTheDocumentsHasOneRow(t *testing.T) {
	t.Parallel()
	list, rows, _ := committed(t)
	count, faults := compare(list, rows)
	for _, f := range faults {
		t.Errorf("docs/promises.md: %s", f)
	}
	told := fmt.Sprintf("Of %d, %d are kept, %d decided otherwise, %d are to come, and %d promise nothing of "+
		"this program.",
		len(list), count[kept], count[otherwise], count[toCome], count[none])
	if !strings.Contains(readFile(t, root+"/docs/promises.md"), "\n"+told+"\n") {
		t.Errorf("docs/promises.md does not say: %s", told)
	}
}

func TestWhatARowNamesIsThereAndEnough(t *testing.T) {
	t.Parallel()
	_, rows, repo := committed(t)
	for _, r := range rows {
		found, unknown := repo.guards(r.why)
		for _, name := range unknown {
			t.Errorf("docs/promises.md:%d names %q, which is no row of conformance.md, no test, no story and "+
				"no file of a test", r.line, name)
		}
		if r.became == kept && len(found) == 0 {
			t.Errorf("docs/promises.md:%d: %q are kept, and nothing is named that asserts it", r.line, r.ids)
		}
		if bare := quoted.ReplaceAllString(r.why, ""); r.became != kept && len(strings.Fields(bare)) < 3 {
			t.Errorf("docs/promises.md:%d: %q are %s, and no reason is said", r.line, r.ids, r.became)
		}
	}
}

// A promise is kept if every row that it rests on is as the document has it. A row says which it is by its first word.
func TestWhetherAPromiseIsKept_followsFromTheRowsThatItNames(t *testing.T) {
	t.Parallel()
	_, rows, repo := committed(t)
	for name, one := range repo.told {
		if one.kind == "" {
			t.Errorf("docs/conformance.md: the row %s begins with none of %q: %.60q", name, kinds(), one.words)
		}
		if one.kind == asWritten && strings.Contains(one.gate, "git:") {
			t.Errorf("docs/conformance.md: the row %s asks git, which no document does, and is %q", name, one.kind)
		}
	}
	kept, otherwise := 0, 0
	for _, r := range rows {
		follows := false
		for _, name := range named(r.why) {
			one, is := repo.told[name]
			switch {
			case is && r.became == "kept" && one.kind != asWritten:
				t.Errorf("docs/promises.md:%d: %q are kept, and the row %s is %q", r.line, r.ids, name, one.kind)
			case is && r.became == "kept":
				kept++
			case is:
				otherwise++
				follows = follows || one.kind != asWritten
			}
		}
		if names := r.became == "otherwise" && cited(repo, r.why); names && !follows {
			t.Errorf("docs/promises.md:%d: %q are decided otherwise, and each row that they name is as written", r.line,
				r.ids)
		}
	}
	if kept < 300 || otherwise < 50 {
		t.Errorf("%d rows are named by promises that are kept, and %d by others; is the page read?", kept, otherwise)
	}
}

// cited reports whether words name a row of conformance.md.
func cited(repo *repository, words string) bool {
	return slices.ContainsFunc(named(words), func(name string) bool { return repo.told[name].kind != "" })
}

// A row of the page that no sentence leads to would be a promise of our own making, or one that has lost its sentence.
func TestEveryRowOfADocumentIsNamedByAPromise(t *testing.T) {
	t.Parallel()
	_, rows, repo := committed(t)
	used := map[string]bool{}
	for _, r := range rows {
		for _, name := range named(r.why) {
			used[name] = true
		}
	}
	found := 0
	for name := range repo.rows {
		if !ofADocument.MatchString(name) {
			continue
		}
		found++
		if !used[name] {
			t.Errorf("no promise of docs/promises.md leads to the row %s of docs/conformance.md", name)
		}
	}
	if found < 300 {
		t.Errorf("found %d rows of documents in docs/conformance.md, expected all of them", found)
	}
}

// What else the pages name exists too, and every row of conformance.md names something.
func TestWhatConformanceNamesIsThere(t *testing.T) {
	t.Parallel()
	_, _, repo := committed(t)
	for name, cell := range repo.rows {
		if found, _ := repo.guards(cell); len(found) == 0 {
			t.Errorf("docs/conformance.md: the row %s names nothing that guards it: %q", name, cell)
		}
	}
	_, unknown := repo.guards(readFile(t, root+"/docs/conformance.md"))
	for _, name := range unknown {
		t.Errorf("docs/conformance.md names %q, which is no row, no test, no story and no file of a test", name)
	}
}

// Each section of the pages about a fleet has a row that says what it promises, and each such row names its section.
func TestEverySectionOfTheFleetHasARow(t *testing.T) {
	t.Parallel()
	rows := 0
	linked := map[string]bool{}
	link := regexp.MustCompile("^\\| `fleet/[a-z-]+` \\| " +
		`\[fleet(?:-server)?\]\((fleet(?:-server)?\.md#[a-z-]+)\): `)
	for _, line := range strings.Split(readFile(t, root+"/docs/conformance.md"), "\n") {
		if !strings.HasPrefix(line, "| `fleet/") {
			continue
		}
		rows++
		match := link.FindStringSubmatch(line)
		if match == nil {
			t.Errorf("docs/conformance.md: the row names no section of the pages about a fleet: %.80s", line)
			continue
		}
		linked[match[1]] = true
	}
	if rows < 40 {
		t.Errorf("found %d rows of a fleet in docs/conformance.md", rows)
	}
	noAnchor := regexp.MustCompile(`[^a-z0-9 -]`)
	for _, page := range []string{"fleet.md", "fleet-server.md"} {
		for _, line := range strings.Split(readFile(t, root+"/docs/"+page), "\n") {
			if !strings.HasPrefix(line, "##") {
				continue
			}
			title := strings.TrimLeft(line, "# ")
			anchor := page + "#" + strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
			if !linked[anchor] {
				t.Errorf("docs/%s: no row of docs/conformance.md leads to the section %q", page, title)
			}
			delete(linked, anchor)
		}
	}
	for anchor := range linked {
		t.Errorf("docs/conformance.md links to %q, which is no section", anchor)
	}
}

// The choices between the documents, and what evidence is about, stand on the page with what guards them.
func TestWhatWasDecidedStandsOnThePage(t *testing.T) {
	t.Parallel()
	_, _, repo := committed(t)
	for _, name := range []string{
		"9.1", "9.2", "9.3", "9.4", "9.5", "9.6", "9.7", "9.8", "9.9", "9.10", "9.11", "9.12", "9.13",
		"about/subject", "about/committed", "about/unmoved", "about/anew", "about/re-review", "about/override",
		"about/put-up", "about/verdict", "about/ending",
		"about/worktree", "about/pull-request", "about/version", "build/crash",
	} {
		if _, there := repo.rows[name]; !there {
			t.Errorf("docs/conformance.md has no row %s", name)
		}
	}
}

// The documents are not in the repository: a variable says where they are.
func TestTheListIsThatOfTheDocuments(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("ORANGE_DOCUMENTS")
	if folder == "" {
		t.Skip("the documents are not here: ORANGE_DOCUMENTS names their folder")
	}
	found, err := readDocuments(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(readFile(t, "testdata/list.txt"), "\n")
	for i, line := range strings.Split(printList(found), "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("line %d of the list is %q, and the documents say %q: make promises DOCUMENTS=%s", i+1,
				slices.Concat(want, make([]string, i+1))[i], line, folder)
		}
	}
	if found := strings.Count(printList(found), "\n"); found != len(want)-1 {
		t.Errorf("the list has %d lines, the documents have %d", len(want)-1, found)
	}
}

// A document in small, with everything that the five have.
const small = "# Machine\n\nIt moves. It `stops` at 2.5 m, e.g. there.\nEven so.\n\n" +
	"| A | B |\n|---|---|\n| one | two |\n| three | four |\n\n" +
	"1. First: do it. Then rest.\n2. Second\n   goes on\n   - nested\n\n```bash\n# a note\n\n   {\nrun it\n```\n\n" +
	"## Twice\n\nOnce.\n\n## Twice\n\n```mermaid\na --> b\n\n    b --> c\n\nNever closed before " +
	"this.\n\n⸻\n\n3. Rules\n\n3.1 a → b\n\nIf:\n\t•\tit holds,\n\t2.\tand more.\n\n```JSON\n{\"a\": 1}\n```\n\n" +
	"Word\tOther\nx\ty\n"

func TestADocumentIsTakenApart(t *testing.T) {
	t.Parallel()
	var got []string
	for _, p := range promisesOf("009", small) {
		got = append(got, strings.TrimPrefix(p.id, "009/")+" "+p.kind+": "+p.text)
	}
	want := []string{
		"machine/0 heading: Machine", "machine/1 sentence: It moves.",
		"machine/2 sentence: It `stops` at 2.5 m, e.g. there.", "machine/3 sentence: Even so.",
		"machine/4 row: | one | two |", "machine/5 row: | three | four |",
		"machine/6 item: First: do it.", "machine/7 sentence: Then rest.", "machine/8 item: Second goes on",
		"machine/9 item: nested",
		"machine/10 code: # a note", "machine/11 code: run it",
		"twice/0 heading: Twice", "twice/1 sentence: Once.", "twice-2/0 heading: Twice",
		"twice-2/1 code: a --> b", "twice-2/2 code: b --> c", "twice-2/3 sentence: Never closed before this.",
		"3.-rules/0 heading: 3. Rules", "3.1-a-b/0 heading: 3.1 a → b", "3.1-a-b/1 sentence: If:",
		"3.1-a-b/2 item: it holds,", "3.1-a-b/3 item: and more.",
		"3.1-a-b/4 code: {\"a\": 1}", "3.1-a-b/5 row: x y",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	changed, before := promisesOf("009", strings.Replace(small, "four", "five", 1)), promisesOf("009", small)
	for i, p := range changed {
		if p.id != before[i].id || (p.digest == before[i].digest) == (p.id == "009/machine/5") {
			t.Errorf("one word is another one in machine/5: %+v was %+v", p, before[i])
		}
	}
	list, err := parseList(printList(before))
	if err != nil || len(list) != len(before) || strings.Contains(printList(before), "moves") {
		t.Errorf("the list does not read back, or has a text in it: %v", err)
	}
}

func TestARowThatIsWrongIsTold(t *testing.T) {
	t.Parallel()
	list := []promise{{id: "000/a/0", kind: "heading"}, {id: "000/a/1", kind: "item", line: 7},
		{id: "000/a/2", kind: "item"}, {id: "000/a/3", kind: "item"}}
	const rest = "| `*/0` | none | they name what follows |\n"
	for name, c := range map[string]struct {
		rows  string
		fault string
	}{
		"all is well":   {rest + "| `000/a/1..3` | kept | x |\n", ""},
		"a section":     {rest + "| `000/a/*` | kept | x |\n", ""},
		"without a row": {rest + "| `000/a/2..3` | kept | x |\n", "000/a/1 (item, line 7 of its document) has no row"},
		"a heading":     {"| `000/a/1..3` | kept | x |\n", "000/a/0 (heading, line 0 of its document) has no row"},
		"twice": {rest + "| `000/a/1..3` | kept | x |\n| `000/a/2` | none | y |\n",
			"line 3: 000/a/2 has a row already, in line 2"},
		"unknown": {rest + "| `000/a/1..4` | kept | x |\n", "line 2: no document has the promise 000/a/4"},
		"a wrong word": {rest + "| `000/a/1..3` | done | x |\n",
			`line 2: found "done", want kept, otherwise, none or to come`},
		"a wrong range": {rest + "| `000/a/1..3` | kept | x |\n| `000/a/3..1` | kept | x |\n",
			`line 3: cannot read the range "000/a/3..1": write SECTION/FIRST..LAST`},
		"a wrong corner": {rest + "| `000/a/1..3` | kept | x |\n| `000/b/*` | kept | x |\n",
			`line 3: cannot find the section "000/b" in the list`},
	} {
		count, faults := compare(list, parseTable(c.rows))
		if got := strings.Join(faults, "\n"); got != c.fault {
			t.Errorf("%s: told %q, want %q", name, got, c.fault)
		}
		if c.fault == "" && (count[kept] != 3 || count[none] != 1) {
			t.Errorf("%s: counted %v", name, count)
		}
	}
}

// Each drawn row comes with what to run, and the same ones for the same seed.
func TestRowsAreDrawnWithTheTestsThatKeepThem(t *testing.T) {
	t.Parallel()
	var one, same, other strings.Builder
	for _, drawn := range []struct {
		b    *strings.Builder
		seed uint64
	}{{&one, 7}, {&same, 7}, {&other, 8}} {
		if err := drawRows(drawn.b, root, 20, drawn.seed); err != nil {
			t.Fatal(err)
		}
	}
	if one.String() != same.String() || one.String() == other.String() {
		t.Error("a seed does not decide what is drawn")
	}
	for _, part := range strings.Split(strings.TrimSpace(one.String()), "\n0")[1:] {
		if !strings.Contains(part, "\n\t") || !strings.Contains(part, "go test ./") {
			t.Errorf("drew a row without a test: %q", part)
		}
	}
	if n := strings.Count(one.String(), "docs/promises.md:"); n != 20 {
		t.Errorf("drew %d rows", n)
	}
}

// A row that long stories alone keep is kept in every change: make test-rows runs these stories, and nothing else does.
func TestTheLongStoriesThatAloneKeepARowAreFound(t *testing.T) {
	t.Parallel()
	long, short := guard{name: "far_away", long: true}, guard{name: "TestNear"}
	repo := &repository{root: t.TempDir(), rows: map[string]string{"000/a/1": "story `far_away`"},
		tests: map[string][]string{short.name: {"./near"}}}
	if err := os.MkdirAll(repo.root+"/"+longFolder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(repo.root+"/"+longFolder+"/far_away.txtar", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := repo.onlyLong(nil); !slices.Equal(got, []string{long.name}) {
		t.Errorf("found %q", got)
	}
	repo.rows["000/a/1"] += ", `TestNear`"
	if got := repo.onlyLong(nil); len(got) != 0 {
		t.Errorf("found %q, and a short test keeps the row too", got)
	}
	if got := repo.onlyLong([]row{{line: 3, became: kept, why: "story `far_away`"}}); !slices.Equal(got, []string{
		long.name}) {
		t.Errorf("found %q of a row of promises.md", got)
	}
}

// The tables of what users reported and asked for name a test in every row.
func TestEveryRowOfWhatWasReportedNamesATest(t *testing.T) {
	t.Parallel()
	_, _, repo := committed(t)
	rows := 0
	for i, line := range strings.Split(readFile(t, root+"/docs/agents/reported.md"), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		if len(cells) < 3 || cells[len(cells)-1] == "which test shows it " {
			continue
		}
		rows++
		found, unknown := repo.guards(cells[len(cells)-1])
		for _, name := range unknown {
			t.Errorf("docs/agents/reported.md:%d names %q, which is no test and no story", i+1, name)
		}
		if len(found) == 0 {
			t.Errorf("docs/agents/reported.md:%d: nothing is named that shows it", i+1)
		}
	}
	if rows < 20 {
		t.Errorf("found %d rows, expected at least 20", rows)
	}
}
