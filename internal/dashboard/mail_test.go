package dashboard

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// Who tells the screen something never waits for it, and what was told arrives in its order.
func TestMailWaitsForTheScreenAndNobodyForIt(t *testing.T) {
	t.Parallel()
	d := &Dashboard{House: (&fakeHouse{}).house(), In: strings.NewReader(""), Out: io.Discard}
	d.Open(t.Context()) // and no Run: a screen that hears nothing
	d.Watches("watched by process 7")
	d.Say("a word")
	d.Watches("watching")
	broken := errors.New("no room")
	d.Fail("watch over the agents", broken)

	heard := make(chan tea.Msg)
	go d.mail.deliver(t.Context(), func(msg tea.Msg) { heard <- msg })
	for _, want := range []tea.Msg{watching{"watched by process 7"}, word{"a word"}, watching{"watching"}, failed{"watch over the agents", broken}} {
		if got := <-heard; !reflect.DeepEqual(got, want) {
			t.Errorf("the screen heard %v, want %v", got, want)
		}
	}
}
