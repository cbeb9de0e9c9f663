package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"orange/internal/rules/record"
	"orange/internal/run/proc"
)

// finding is a finding with what mends it; nil where nothing does.
type finding struct {
	record.Finding
	mend    func(ctx context.Context) (done string, err error)
	failure error // why it could not be mended
	lasts   bool  // no change that is being made at this moment can be the reason
}

// by has the finding mended by some work, which ends with done.
func (f *finding) by(done string, work func(ctx context.Context) error) {
	f.mend = func(ctx context.Context) (string, error) { return done, work(ctx) }
}

// mayPass reports whether a finding may come from a change that is being made at this moment.
func (f *finding) mayPass() bool {
	return f.Level == record.LevelProblem && !f.lasts || f.Level == record.LevelWarning && f.Check == checkFolders
}

// report takes what one check finds.
type report struct {
	check string
	found *[]finding
	from  int // how much was found when the check began
}

// newReport is an empty report of a check.
func newReport(check string) report { return report{check: check, found: new([]finding)} }

// of is the same report for another check.
func (r report) of(check string) report {
	return report{check: check, found: r.found, from: len(*r.found)}
}

// add adds findings that another report has.
func (r report) add(found ...finding) { *r.found = append(*r.found, found...) }

// at adds a finding. What it answers may be changed until the next one is added.
func (r report) at(level record.Level, subject, found, advice string) *finding {
	r.add(finding{Finding: record.Finding{Check: r.check, Level: level, Subject: subject, Found: found,
		Advice: advice}})
	return &(*r.found)[len(*r.found)-1]
}

func (r report) ok(subject, format string, args ...any) {
	r.at(record.LevelOK, subject, fmt.Sprintf(format, args...), "")
}

func (r report) warn(subject, found, advice string) *finding {
	return r.at(record.LevelWarning, subject, found, advice)
}

func (r report) problem(subject, found, advice string) *finding {
	return r.at(record.LevelProblem, subject, found, advice)
}

// blind says that something could not be looked at.
func (r report) blind(subject string, err error) *finding {
	return r.problem(subject, "could not look: "+err.Error(),
		cmp.Or(proc.FilesAdvice(err), "correct that and run orange doctor again"))
}

// orOK adds the word that all is well where the check has found nothing.
func (r report) orOK(subject, format string, args ...any) {
	if len(*r.found) == r.from {
		r.ok(subject, format, args...)
	}
}

// plain are the findings in the order of their checks, what matters most first.
func (r report) plain() []record.Finding {
	out := make([]record.Finding, 0, len(*r.found))
	for _, f := range *r.found {
		out = append(out, f.Finding)
	}
	return Sorted(out)
}

// Sorted puts findings in the order of their checks, what matters most first.
func Sorted(found []record.Finding) []record.Finding {
	levels := []record.Level{record.LevelProblem, record.LevelWarning, record.LevelOK}
	place := map[string]int{}
	for i, name := range order() {
		place[name] = i
	}
	slices.SortStableFunc(found, func(a, b record.Finding) int {
		return cmp.Or(cmp.Compare(place[a.Check], place[b.Check]),
			cmp.Compare(slices.Index(levels, a.Level), slices.Index(levels, b.Level)),
			cmp.Compare(a.Subject, b.Subject))
	})
	return found
}
