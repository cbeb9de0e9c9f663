package replay_test

import (
	"testing"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

func TestAReplay_makesWhatFollowsFromALimitAgain(t *testing.T) {
	t.Parallel()
	all := shippedAndStrained(t)
	ends, rests := 0, 0
	for seed := range uint64(120) {
		w := newStroll(t, all[seed%uint64(len(all))], seed)
		for n := range 8 {
			w.now = w.now.Add(time.Minute)
			seen := task.Limit{Line: "limit \xff\xfe", Provider: "acme \xff"}
			if n%4 > 0 { // else no one says until when
				seen.Until = w.now.Add(time.Hour).In(time.FixedZone("", 3600))
			}
			limit, one := decide.Evidence{}.AtLimit(seen, w.events), w.s.Task
			state, _ := w.def.State(one.Status)
			if rest := (record.Rest{Role: state.Role, Since: w.now}); n%2 == 0 {
				w.now = w.now.Add(2 * time.Hour)
				if c, due, _ := decide.GoOn(w.def, one, rest.Role, limit, rest.Since, w.now); due {
					w.commit(replay.Inputs{Ask: replay.AskGoOn}.Resting(rest, limit), decide.Evidence{}, c)
					rests++
				}
				continue
			}
			death := task.Death{Role: state.Role, Hook: 7, Ending: task.Ending{Known: true, Status: 1}, Limit: limit}
			c := decide.Exit(w.def, one, decide.Evidence{}, death, w.now)
			if c.Events[0].Type == history.AgentLimited {
				w.commit(replay.Inputs{Ask: replay.AskDeath}.Of(death), decide.Evidence{}, c)
				w.s.Task.Attention = "" // a person has seen to it
				ends++
			}
		}
		got, err := replay.Replay(w.s.Task, w.lines, w.library(), nil)
		if err != nil || got.Equal != got.Decisions || len(got.Untold) > 0 {
			t.Fatalf("seed %d, %s: %v\n%+v", seed, w.def.Name, err, got)
		}
	}
	if ends < 5 || rests < 5 {
		t.Errorf("%d ends and %d rests at a limit, want some", ends, rests)
	}
}
