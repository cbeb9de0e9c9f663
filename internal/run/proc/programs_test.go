package proc_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"orange/internal/run/proc"
)

func TestPrograms_areThoseStartedUnderTheContext(t *testing.T) {
	t.Parallel()
	var noted, other proc.Programs
	ctx := proc.WithPrograms(t.Context(), &noted)
	for name, tt := range map[string]struct {
		ctx  context.Context
		want bool
	}{"noted": {ctx, true}, "for no one": {proc.ForNoOne(ctx), false}, "another context": {t.Context(), false}} {
		err := proc.Lines(tt.ctx, proc.Command{Name: "sh", Args: []string{"-c", "echo $$; exec sleep 60"}},
			func(line []byte) error {
				pid, err := strconv.Atoi(strings.TrimSpace(string(line)))
				if err != nil {
					return err
				}
				one, err := proc.Lookup(pid)
				if err != nil {
					return err
				}
				if noted.Has(one) != tt.want || other.Has(one) {
					t.Errorf("%s: found %t and %t", name, noted.Has(one), other.Has(one))
				}
				if one.Began += "0"; noted.Has(one) {
					t.Errorf("%s: another process with its number counts", name)
				}
				return errDone
			})
		if !errors.Is(err, errDone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var errDone = errors.New("done")
