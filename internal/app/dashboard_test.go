package app

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"orange/internal/ui/dashboard"
)

// A fault of the screen is reported once: at once where the watch over the agents goes on, else as the error that the
// program ends with.
func TestAScreenFaultIsReportedOnceAndTheWatchGoesOn(t *testing.T) {
	t.Parallel()
	a := &app{dir: t.TempDir()}
	broken := &dashboard.Fault{Where: "it drew the list", Why: "index out of range"}
	var out bytes.Buffer
	err := a.afterFault(t.Context(), broken, false, &out)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), a.logPath()) || out.Len() > 0 {
		t.Errorf("where no process watches it says %q and ends with %v", &out, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	err = a.afterFault(ended, broken, true, &out)
	if errors.Is(err, broken) || err == nil || !strings.Contains(out.String(), "index out of range") ||
		!strings.Contains(out.String(), "still watched over") {
		t.Errorf("where it watches it says %q and ends with %v", &out, err)
	}
}
