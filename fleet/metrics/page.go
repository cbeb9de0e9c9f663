// Package metrics shows how a fleet is, as text for Prometheus.
//
// It owns the names of the metrics, how often the server is asked for them, and who may read them. It decides nothing.
package metrics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/fleet/custody"
	"orange/fleet/wire"
)

// Fleet is what was seen of a fleet. Err says why it could not be looked at: that is not a fleet without tasks.
type Fleet struct {
	Tasks []wire.Custody // the open ones
	Hosts []custody.HostState
	Err   error
}

// page is a text for Prometheus that is being written.
type page struct{ strings.Builder }

// family is one metric with its samples.
func (p *page) family(name, kind, help string, samples ...sample) {
	if len(samples) == 0 {
		return
	}
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	slices.SortFunc(samples, func(a, b sample) int { return slices.Compare(a.labels, b.labels) })
	for _, s := range samples {
		p.WriteString(name)
		for i := 0; i+1 < len(s.labels); i += 2 {
			p.WriteString(string("{,"[min(i, 1)]) + s.labels[i] + `="` + labelText(s.labels[i+1]) + `"`)
		}
		if len(s.labels) > 0 {
			p.WriteString("}")
		}
		fmt.Fprintf(p, " %d\n", s.value)
	}
}

// labelText is a value of a label. A status or the name of a host comes from outside.
func labelText(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(text, "�"))
}

// sample is a value with its labels: a name, then its value, and so on.
type sample struct {
	labels []string
	value  int64
}

// table adds up values under the same labels.
type table map[string]*sample

func (t table) at(labels ...string) *sample {
	key := strings.Join(labels, "\x00")
	if t[key] == nil {
		t[key] = &sample{labels: labels}
	}
	return t[key]
}

func (t table) samples() []sample {
	var all []sample
	for _, s := range t { // family sorts them
		all = append(all, *s)
	}
	return all
}

// Text is a fleet with the requests that one worker forwarded, as Prometheus reads it.
func Text(f Fleet, requests map[string]int64, now time.Time) string {
	p := &page{}
	reached := int64(1)
	if f.Err != nil {
		reached = 0
	}
	p.family("orange_fleet_reached", "gauge", "Whether the server of the fleet answered; without it, nothing is said "+
		"of tasks and hosts.", sample{value: reached})
	counts := table{}
	for result, n := range requests { // family sorts them
		counts.at("result", result).value = n
	}
	p.family("orange_fleet_requests_total", "counter", "Requests of people that this worker forwarded, by how they "+
		"ended.",
		counts.samples()...)
	if f.Err == nil {
		p.tasks(f.Tasks, now)
		p.hosts(f.Hosts)
	}
	return p.String()
}

func (p *page) tasks(tasks []wire.Custody, now time.Time) {
	count, age, behind := table{}, table{}, table{}
	for _, t := range tasks {
		count.at("host", t.Host, "phase", t.Phase, "status", t.Row.Status).value++
		if t.Phase != string(custody.PhaseHeld) {
			continue
		}
		unshipped := behind.at("host", t.Host)
		if t.Row.Shipped >= t.Row.Head.Event && t.Row.Shipped > 0 {
			continue
		}
		unshipped.value++
		since := cmp.Or(t.Row.ShippedAt, t.Row.Since)
		oldest := age.at("host", t.Host)
		oldest.value = max(oldest.value, now.Unix()-since)
	}
	p.family("orange_fleet_tasks", "gauge", "Open tasks.", count.samples()...)
	p.family("orange_fleet_tasks_not_shipped", "gauge", "Tasks whose last reported event is in no snapshot.",
		behind.samples()...)
	p.family("orange_fleet_snapshot_age_seconds", "gauge", "Age of the oldest last snapshot of the tasks that are "+
		"not shipped, or, without a snapshot, how long the task has its status.", age.samples()...)
}

func (p *page) hosts(hosts []custody.HostState) {
	here, since, free, draining := table{}, table{}, table{}, table{}
	flag := func(s *sample, is bool) {
		if is {
			s.value = 1
		}
	}
	for _, h := range hosts {
		flag(here.at("host", h.Host), h.Here)
		since.at("host", h.Host).value = h.Since
		free.at("host", h.Host).value = int64(h.Said.Free)
		flag(draining.at("host", h.Host), h.Said.Draining)
	}
	p.family("orange_fleet_host_here", "gauge", "1 where the host has a lease, 0 where it is lost.", here.samples()...)
	p.family("orange_fleet_host_since_seconds", "gauge", "When the host came, or was lost, in seconds since 1970.",
		since.samples()...)
	p.family("orange_fleet_host_free_places", "gauge", "Free workspaces, as the host said last.",
		free.samples()...)
	p.family("orange_fleet_host_draining", "gauge", "1 where the host takes no new tasks.", draining.samples()...)
}
