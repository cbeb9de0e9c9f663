package proc

import (
	"os"
	"strconv"
	"testing"
)

// Defect: where ps is asked when a process began, another time zone or language made another process of it.
func TestPs_datesAProcessAlikeInEveryZoneAndLanguage(t *testing.T) {
	began := map[string]string{}
	for zone, language := range map[string]string{
		"UTC": "C", "Pacific/Kiritimati": "de_DE.UTF-8", "America/Adak": "fr_FR"} {
		t.Setenv("TZ", zone)
		t.Setenv("LC_ALL", language)
		t.Setenv("LC_TIME", language)
		out, err := psCommand("-o", "lstart=", "-p", strconv.Itoa(os.Getpid())).Output()
		if err != nil || len(out) == 0 {
			t.Fatalf("ps says %q, %v", out, err)
		}
		began[string(out)] = zone
	}
	if len(began) != 1 {
		t.Errorf("one process began at %q", began)
	}
}
