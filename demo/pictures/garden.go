package main

// coder is an agent that writes export.go over the code of the garden, and a reviewer that passes it with a remark.
const coder = `case $ORANGE_ROLE in
worker)
	printf '\n## Plan\n\nAPPROACH: a row for each bed\nTOUCHING: harvest.go\n' >>TASK.md
	orange task update --status working
	cp "$ORANGE_HOME/../export.go" harvest.go
	git -c user.name=Coder -c user.email=agent@localhost commit -q -a -m 'Export the harvest'
	printf '\n## Handoff\n\nDONE: harvest.go\n' >>TASK.md
	orange task update --status agent-review ;;
reviewer)
	printf '\n## Review\n\nVerdict: PASS\n\n- harvest.go:27: a bed without a name is an empty field\n' >>TASK.md
	orange task update --status reviewing ;;
esac
exec cat
`

const harvest = `package garden

import "fmt"

// Bed is a bed of the garden, with what it gave.
type Bed struct {
	Name   string
	Pounds float64
}

// Report says what each bed gave.
func Report(beds []Bed) string {
	text := ""
	for _, bed := range beds {
		text += fmt.Sprintf("%s gave %.1f pounds\n", bed.Name, bed.Pounds)
	}
	return text
}
`

const exported = `package garden

import (
	"encoding/csv"
	"fmt"
	"io"
)

// Bed is a bed of the garden, with what it gave.
type Bed struct {
	Name   string
	Pounds float64
}

// Report says what each bed gave.
func Report(beds []Bed) string {
	text := ""
	for _, bed := range beds {
		text += fmt.Sprintf("%s gave %.1f kilos\n", bed.Name, bed.Pounds*0.45)
	}
	return text
}

// Export writes the harvest as CSV, a row for each bed.
func Export(w io.Writer, beds []Bed) error {
	out := csv.NewWriter(w)
	for _, bed := range beds {
		row := []string{bed.Name, fmt.Sprint(bed.Pounds)}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
`
