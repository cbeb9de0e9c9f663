// Package doctor looks how a machine of a fleet is, and names what a person should do.
//
// It owns what is looked at. It changes nothing: what brings custodies back is core.Tell.
package doctor

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"
	taskqueue "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/crypto/ssh"

	"orange/fleet/core"
	"orange/fleet/custody"
	"orange/fleet/host"
	"orange/fleet/members"
	"orange/fleet/setup"
	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/rules/fencing"
	"orange/internal/rules/signed"
	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/ship"
)

// Grade says how a finding is.
type Grade string

// The grades of findings.
const (
	Good Grade = "ok"
	Odd  Grade = "note" // a person should know
	Bad  Grade = "bad"  // something does not work
)

// Finding is one thing that was looked at.
type Finding struct {
	Grade Grade  `json:"grade"`
	About string `json:"about"`
	Text  string `json:"text"`
}

const (
	mostSkew       = 5 * time.Second
	soon           = 30 * 24 * time.Hour
	serverPatience = 15 * time.Second // for what may wait for a worker
	remoteTime     = 20 * time.Second
	gone           = 75 * time.Second // a worker asks again within a minute; the server remembers it for longer
)

// Doctor looks at a machine.
type Doctor struct {
	Home   string
	Setup  setup.Setup
	Orange host.Orange // of a host
	Now    func() time.Time

	found []Finding
}

func (d *Doctor) say(g Grade, about, format string, args ...any) {
	d.found = append(d.found, Finding{g, about, fmt.Sprintf(format, args...)})
}

// Look looks at everything. What depends on the server is left out where that is not reached, and Look says so.
func (d *Doctor) Look(ctx context.Context) []Finding {
	d.found = nil
	for _, key := range d.Setup.Earlier {
		d.say(Odd, "fleet.yml", "the key %q is that of a fleet without a server, and means nothing here", key)
	}
	for _, warning := range members.Warnings(d.Setup) {
		d.say(Odd, "keys", "%s", warning)
	}
	d.signatures()
	d.certificate()
	d.atServer(ctx)
	if d.Setup.Name != "" {
		d.asHost(ctx)
	}
	return d.found
}

// signatures names a host at which the login by ssh is the proof.
func (d *Doctor) signatures() {
	switch {
	case d.Setup.Name == "" && !d.Setup.Signed:
		d.say(Odd, "signed", "it is off in fleet.yml, and means nothing here: this machine is no host")
	case d.Setup.Name != "" && !d.Setup.Signed:
		d.say(Odd, "signed", "it is off in fleet.yml: anyone who can log in here by ssh may ask for what a person "+
			"may, and the history names this account; what comes through the server is signed all the same")
	case d.Setup.Name != "":
		d.say(Good, "signed", "requests for tasks of the fleet have to be signed, by ssh too")
	}
}

// certificate looks how long this machine's certificate holds.
func (d *Doctor) certificate() {
	if d.Setup.TLS == (setup.Files{}) {
		d.say(Odd, "connection", "it is not encrypted: use it on this machine, or within a network that encrypts")
		return
	}
	text, err := os.ReadFile(d.Setup.TLS.Certificate)
	var cert *x509.Certificate
	if block, _ := pem.Decode(text); err == nil && block != nil {
		cert, err = x509.ParseCertificate(block.Bytes)
	} else if err == nil {
		err = errors.New("found no certificate")
	}
	if err != nil {
		d.say(Bad, "certificate", "it cannot be read from %q: %v", d.Setup.TLS.Certificate, err)
		return
	}
	switch left := cert.NotAfter.Sub(d.Now()); {
	case left <= 0:
		d.say(Bad, "certificate", "it ended on %s: %s", cert.NotAfter.Format(time.DateOnly), d.renewal())
	case left < soon:
		d.say(Odd, "certificate", "it ends on %s: %s", cert.NotAfter.Format(time.DateOnly), d.renewal())
	default:
		d.say(Good, "certificate", "it holds until %s", cert.NotAfter.Format(time.DateOnly))
	}
}

// renewal says how this machine gets a new certificate.
func (d *Doctor) renewal() string {
	if _, err := members.Open(d.Home); err == nil {
		return "\"orange-fleet serve --init --tls NAME\" makes a new one, and one of the server"
	}
	return "join again, with a new invitation"
}

// atServer looks at what the server knows.
func (d *Doctor) atServer(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	c, err := core.Dial(limited, d.Setup)
	if err != nil {
		d.say(Bad, "server", "%v; what it knows was not looked at", err)
		d.lists(setup.Trust(d.Home, d.Setup.Namespace))
		return
	}
	defer c.Close()
	d.version(limited, c)
	if !d.workers(limited, c) {
		d.lists(setup.Trust(d.Home, d.Setup.Namespace))
		return
	}
	d.lists(core.Trust(limited, c, d.Home, d.Setup))
	d.clock(limited, c)
	if d.Setup.Name != "" {
		d.lease(limited, c)
	}
}

func (d *Doctor) version(ctx context.Context, c client.Client) {
	info, err := c.WorkflowService().GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	if err != nil {
		d.say(Bad, "server", "it does not say its version: %v", err)
		return
	}
	d.say(Good, "server", "reached at %s, version %s", d.Setup.Server, info.GetServerVersion())
}

// workers looks whether the workers of the fleet are there, without which nothing is answered.
func (d *Doctor) workers(ctx context.Context, c client.Client) bool {
	count := func(queue string, kind enums.TaskQueueType) int {
		said, err := c.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
			Namespace: d.Setup.Namespace, TaskQueue: &taskqueue.TaskQueue{Name: queue}, TaskQueueType: kind})
		if err != nil {
			d.say(Bad, "workers", "the queue %q cannot be looked at: %v", queue, err)
			return 0
		}
		known := map[string]bool{} // one process polls several times
		for _, p := range said.GetPollers() {
			if d.Now().Sub(p.GetLastAccessTime().AsTime()) < gone {
				known[p.GetIdentity()] = true
			}
		}
		return len(known)
	}
	cores := count(wire.CoreQueue, enums.TASK_QUEUE_TYPE_WORKFLOW)
	switch cores {
	case 0:
		d.say(Bad, "workers", "no \"orange-fleet serve\" works for the fleet %q: start one; the rest at the server "+
			"was not looked at", d.Setup.Namespace)
	case 1:
		d.say(Odd, "workers", "one \"orange-fleet serve\" works: with two, one can be replaced")
	default:
		d.say(Good, "workers", "%d work", cores)
	}
	if count(wire.AuthorityQueue, enums.TASK_QUEUE_TYPE_ACTIVITY) == 0 {
		d.say(Odd, "authority", "no \"orange-fleet serve\" runs where the key of the fleet's authority is: no one "+
			"can join now")
	}
	return cores > 0
}

// lists looks whether this machine's members are in the lists that the authority signed.
func (d *Doctor) lists(t custody.Trust, err error) {
	var lists custody.Lists
	if err == nil {
		lists, err = t.Lists(d.Setup.Namespace)
	}
	if err != nil {
		d.say(Bad, "lists", "%v", err)
		return
	}
	d.say(Good, "lists", "%d people in the version %d, %d hosts in the version %d, signed by the authority",
		len(lists.People.Members), lists.People.Version, len(lists.Hosts.Members), lists.Hosts.Version)
	if d.Setup.Name != "" {
		key, err := setup.HostKey(d.Home)
		if err != nil {
			d.say(Bad, "host", "%v", err)
		} else {
			d.listed(lists.Hosts, "host", d.Setup.Name, key.PublicKey())
		}
	}
	if d.Setup.Person == "" {
		return
	}
	key, err := members.PublicKey(d.Setup.SigningKey)
	if err != nil {
		d.say(Bad, "person", "%v", err)
		return
	}
	d.listed(lists.People, "person", d.Setup.Person, key)
}

func (d *Doctor) listed(list signed.List, is, name string, key ssh.PublicKey) {
	for _, m := range list.Members {
		if m.Name == name && m.Key == sign.KeyOf(key) {
			d.say(Good, is, "the key of %q is in the list", name)
			return
		}
	}
	d.say(Bad, is, "the key of %q, %s, is not in the list of %s: what it signs is refused; join again", name,
		ssh.FingerprintSHA256(key), list.Of)
}

func (d *Doctor) clock(ctx context.Context, c client.Client) {
	skew, err := core.Skew(ctx, c)
	switch {
	case err != nil:
		d.say(Bad, "clock", "the server's cannot be compared: %v", err)
	case skew.Abs() > mostSkew:
		d.say(Odd, "clock", "the server's is %s ahead: a request may expire early, and times in lists look off",
			skew.Round(time.Second))
	default:
		d.say(Good, "clock", "it agrees with the server's, within %s", mostSkew)
	}
}

// lease looks what the server and this host say of the host's lease.
func (d *Doctor) lease(ctx context.Context, c client.Client) {
	h, err := core.Query[custody.HostState](ctx, c, wire.HostID(d.Setup.Name), wire.HostQuery)
	switch {
	case err != nil:
		d.say(Bad, "host", "the server knows no host %q: start \"orange-fleet host\" (%v)", d.Setup.Name, err)
	case !h.Here:
		d.say(Bad, "host", "the server counts %q as lost since %s: start \"orange-fleet host\"", h.Host,
			time.Unix(h.Since, 0).Format(time.DateTime))
	default:
		d.say(Good, "host", "the server has %q since %s", h.Host, time.Unix(h.Since, 0).Format(time.DateTime))
	}
}

// asHost looks at what a host needs.
func (d *Doctor) asHost(ctx context.Context) {
	d.ownLease()
	if err := d.Setup.ForHost(d.Home); err != nil {
		d.say(Bad, "host", "%v", err)
	}
	names, err := d.Orange.Harnesses(ctx)
	switch {
	case err != nil:
		d.say(Bad, "harnesses", "%v", err)
	case len(names) == 0:
		d.say(Bad, "harnesses", "no agent program is installed: this host gets no task")
	default:
		d.say(Good, "harnesses", "%s", strings.Join(names, ", "))
	}
	d.snapshots(ctx)
}

// ownLease looks at the lease by the host's own clock, as orange does before an outward act.
func (d *Doctor) ownLease() {
	var l fencing.HomeLease
	text, err := os.ReadFile(filepath.Join(setup.Dir(d.Home), "lease.json"))
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	now := fencing.Clock{Wall: d.Now()}
	if err == nil {
		now.Boot, now.Up, err = proc.SinceBoot()
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.say(Bad, "lease", "there never was one: tasks here push and merge nothing; start \"orange-fleet host\"")
	case err != nil:
		d.say(Bad, "lease", "it cannot be read: %v", err)
	case l.Left(now) == 0:
		d.say(Bad, "lease", "it is over: %v", l.Over(now))
	default:
		d.say(Good, "lease", "it holds for %s", l.Left(now).Round(time.Second))
	}
}

// snapshots looks whether the place of snapshots answers, from each project.
func (d *Doctor) snapshots(ctx context.Context) {
	if d.Setup.Snapshots == "" {
		return // ForHost says it
	}
	projects, err := d.Orange.Repositories(ctx)
	if err != nil {
		d.say(Bad, "snapshots", "the projects cannot be listed: %v", err)
		return
	}
	if len(projects) == 0 {
		d.say(Bad, "projects", "no project is registered: this host gets no task; \"orange project add\" registers one")
	}
	for _, p := range projects {
		limited, cancel := context.WithTimeout(ctx, remoteTime)
		to := ship.Snapshots{Repo: git.Repo{Path: p.Path, DefaultBranch: p.DefaultBranch}}
		err := to.Reaches(limited, d.Setup.Snapshots)
		cancel()
		if err != nil {
			d.say(Bad, "snapshots", "project %q: %v", p.Name, err)
		} else {
			d.say(Good, "snapshots", "project %q reaches %q", p.Name, d.Setup.Snapshots)
		}
	}
}
