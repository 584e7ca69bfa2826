package mitigate

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A router is what an actor gives rules to: it holds those that it was given, and fails when it is told to.
type router struct {
	can     Abilities
	holds   map[string]telemetry.MitigationRule
	refuses string // a rule with this in its text
	down    error
	closed  bool
}

func (r *router) Abilities() Abilities { return r.can }
func (r *router) Problem() error       { return r.down }
func (r *router) Close() error         { r.closed = true; return nil }

func (r *router) Apply(_ context.Context, rules []telemetry.MitigationRule) error {
	for _, rule := range rules {
		if r.refuses != "" && strings.Contains(rule.Text, r.refuses) {
			return errors.New("refused")
		}
	}
	for _, rule := range rules {
		r.holds[rule.ID] = rule
	}
	return r.down
}

func (r *router) Withdraw(_ context.Context, rules []telemetry.MitigationRule) error {
	if r.down != nil {
		return r.down
	}
	for _, rule := range rules {
		delete(r.holds, rule.ID)
	}
	return nil
}

// texts returns the rules that it holds, in words.
func (r *router) texts() []string {
	list := []string{}
	for _, rule := range r.holds {
		list = append(list, rule.Describe())
	}
	slices.Sort(list)
	return list
}

// A bench is a manager with a router, an attack and a clock.
type bench struct {
	*Manager
	t       *testing.T
	router  *router
	attacks []telemetry.Attack
	now     time.Time
	dir     string
	traffic uint64
	state   []byte
	writes  error
	deps    Deps
}

func flood(id string) telemetry.Attack {
	gateway, far, port := uint32(7), uint32(8), uint16(53)
	return telemetry.Attack{
		ID: id, Kind: telemetry.AttackUDP, State: telemetry.AttackActive, Target: netip.MustParseAddr("192.0.2.80"),
		Port: &port, BPS: 16e6, Begin: time.Unix(1e9, 0),
		Devices: []telemetry.AttackSource{
			{Device: "a6:1a:f6:b1:64:01", Node: &gateway, Name: "gw1", Bytes: 900, Share: 0.9},
			{Device: "a6:1a:f6:b1:64:02", Node: &far, Name: "gw2", Bytes: 100, Share: 0.1, OneExporter: true},
		},
		Gateways: []telemetry.AttackSource{{Node: &gateway, Name: "gw1", Share: 1}},
		Addresses: []telemetry.AttackSource{
			{Address: "10.0.0.1", Node: &gateway, Name: "gw1", Bytes: 900, Share: 0.9},
			{Address: "10.0.0.2", Node: &gateway, Name: "gw1", Bytes: 90, Share: 0.09},
			{Address: "10.0.0.9", Node: &gateway, Name: "gw1", Bytes: 10, Share: 0.01}, // uses the target
		},
	}
}

func newBench(t *testing.T, c Config, can Abilities) *bench {
	b := &bench{
		t: t, router: &router{can: can, holds: map[string]telemetry.MitigationRule{}},
		attacks: []telemetry.Attack{flood("a1")}, now: time.Unix(1e9+60, 0), dir: t.TempDir(), traffic: 160e6,
	}
	if c.For == 0 {
		c.For = time.Hour
	}
	if c.MaxRules == 0 {
		c.MaxRules = 8
	}
	c.MaxShare = 0.9
	b.deps = Deps{
		Actors:  map[string]Actor{"router": b.router},
		Attacks: func() []telemetry.Attack { return b.attacks }, Traffic: func() uint64 { return b.traffic },
		Own: func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("192.0.2.99")} },
		Write: func(_ string, text []byte) error {
			if b.writes == nil {
				b.state = slices.Clone(text)
			}
			return b.writes
		},
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return b.now },
	}
	b.open(c)
	return b
}

// open begins a process.
func (b *bench) open(c Config) {
	var err error
	if b.deps.Audit, err = OpenAudit(filepath.Join(b.dir, AuditFile)); err != nil {
		b.t.Fatal(err)
	}
	if b.Manager, err = New(c, b.deps, b.state); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) mitigate(r Request) (*telemetry.Mitigation, error) {
	b.t.Helper()
	return b.Mitigate(b.t.Context(), "a1", r)
}

// done returns the audit trail: action, who and whether it failed.
func (b *bench) done() (list []string) {
	for _, a := range b.Actions("a1") {
		text := a.Action + " " + a.Who
		if a.Error != "" {
			text += " failed"
		}
		list = append(list, text)
	}
	return list
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

var atNodes = Abilities{Devices: true, Reports: true, Nodes: map[uint32]bool{7: true, 8: true}}

const (
	first  = "gw1 drops udp from device a6:1a:f6:b1:64:01 to 192.0.2.80/32 port 53"
	second = "gw2 drops udp from device a6:1a:f6:b1:64:02 to 192.0.2.80/32 port 53 (one exporter says so)"
)

// Rules are sent when somebody asks and not by a dry run, which names the same; they hold until somebody releases them,
// their time is over, or the attack is. Each is a line of the audit trail.
func TestLife(t *testing.T) {
	b := newBench(t, Config{}, atNodes)
	dry, err := b.mitigate(Request{DryRun: true, Who: "ada"})
	if err != nil || len(b.router.holds) > 0 || len(b.done()) > 0 {
		t.Fatalf("a dry run: %v, holds %v, did %v", err, b.router.texts(), b.done())
	}
	sent, err := b.mitigate(Request{Who: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "sent", texts(sent.Rules), texts(dry.Rules))
	equal(t, "holds", b.router.texts(), []string{first, second})
	if got, want := sent.Until, b.now.Add(time.Hour).UTC(); !got.Equal(want) {
		t.Errorf("until %v, want %v", got, want)
	}
	if _, err := b.Release(t.Context(), "a1", "eve"); err != nil {
		t.Fatal(err)
	}
	equal(t, "after release", b.router.texts(), []string{})
	if _, err := b.Release(t.Context(), "a1", "eve"); !errors.Is(err, ErrNoAttack) {
		t.Errorf("release of nothing: %v", err)
	}
	if _, err := b.mitigate(Request{For: time.Minute}); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(59 * time.Second)
	b.Tick(t.Context())
	equal(t, "before its time is over", b.router.texts(), []string{first, second})
	b.now = b.now.Add(time.Second)
	b.Tick(t.Context())
	equal(t, "when its time is over", b.router.texts(), []string{})
	if _, err := b.mitigate(Request{}); err != nil {
		t.Fatal(err)
	}
	b.attacks[0].State = telemetry.AttackEnded
	b.Tick(t.Context())
	equal(t, "when the attack is over", b.router.texts(), []string{})
	equal(t, "audit trail", b.done(), []string{
		"mitigate ada", "release eve", "mitigate ", "expire ", "mitigate ", "end ",
	})
	text, err := os.ReadFile(filepath.Join(b.dir, AuditFile))
	if err != nil || strings.Count(string(text), "\n") != 6 {
		t.Errorf("the audit file: %v\n%s", err, text)
	}
}

// What drops says nothing of what it drops: that nothing comes does not say that the attack is over.
func TestSilentActor(t *testing.T) {
	b := newBench(t, Config{}, Abilities{})
	if _, err := b.mitigate(Request{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"router drops udp from 10.0.0.1/32 to 192.0.2.80/32 port 53", "router drops udp from 10.0.0.2/32 to 192.0.2.80/32 port 53"}
	equal(t, "holds", b.router.texts(), want)
	b.attacks = nil
	b.Tick(t.Context())
	equal(t, "when it is seen no more", b.router.texts(), want)
}

// What must not be touched is not, and what is too much is refused as a whole.
func TestLimits(t *testing.T) {
	safe := func(text string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(text)} }
	for name, c := range map[string]struct {
		config Config
		can    Abilities
		change func(*bench)
		ask    Request
		want   string   // of the error; "": none
		holds  []string // else
		left   []string
	}{
		"target is safe": {
			Config{Safe: safe("192.0.2.0/24")}, atNodes, nil, Request{}, "is in mitigation.safe", nil, nil,
		},
		"source is safe": {
			Config{Safe: safe("10.0.0.1/32")},
			Abilities{},
			nil,
			Request{},
			"",
			[]string{"router drops udp from 10.0.0.2/32 to 192.0.2.80/32 port 53"},
			[]string{"10.0.0.1"},
		},
		"target is the server": {
			Config{},
			atNodes, func(b *bench) { b.attacks[0].Target = netip.MustParseAddr("192.0.2.99") },
			Request{},
			"has the address 192.0.2.99", nil, nil,
		},
		"prefix has the server": {Config{}, atNodes, func(b *bench) {
			b.attacks[0].Kind, b.attacks[0].Prefix = telemetry.AttackCarpet, "192.0.2.0/24"
		}, Request{}, "has the address 192.0.2.99", nil, nil},
		"too many rules": {
			Config{MaxRules: 1}, atNodes, nil, Request{}, "mitigation.max_rules is 1; no rule was sent", nil, nil,
		},
		"too many rules, broad": {
			Config{MaxRules: 1},
			atNodes,
			func(b *bench) { // users of the target are behind another gateway
				far := uint32(8)
				b.attacks[0].Gateways[0].Bytes = 1000
				b.attacks[0].Gateways = append(b.attacks[0].Gateways, telemetry.AttackSource{Node: &far, Bytes: 10})
			},
			Request{Broad: true},
			"",
			[]string{"gw1 drops udp to 192.0.2.80/32 port 53, whoever sends it"},
			nil,
		},
		"too many rules of a node": {
			Config{},
			Abilities{Devices: true, Nodes: map[uint32]bool{7: true, 8: true}, MaxOfNode: 1},
			func(b *bench) { b.attacks[0].Devices[1].Node = b.attacks[0].Devices[0].Node },
			Request{},
			"more than the 1 rules that gw2 can have; no rule was sent; with --broad", nil, nil,
		},
		"too much traffic": {
			Config{}, atNodes, func(b *bench) { b.traffic = 17e6 }, Request{}, "94 % of all traffic", nil, nil,
		},
		"too long": {Config{}, atNodes, nil, Request{For: 8 * 24 * time.Hour}, "for: got", nil, nil},
		"a surge": {
			Config{},
			atNodes, func(b *bench) { b.attacks[0].Kind = telemetry.AttackSurge },
			Request{},
			"no attack", nil, nil,
		},
		"over": {
			Config{},
			atNodes, func(b *bench) { b.attacks[0].State = telemetry.AttackEnded },
			Request{},
			"is over", nil, nil,
		},
		"unknown": {
			Config{}, atNodes, func(b *bench) { b.attacks = nil }, Request{}, "no such attack", nil, nil,
		},
		"no such actor": {
			Config{},
			atNodes, nil,
			Request{By: "rtbh"},
			`by: "rtbh" is not configured, want one of [router]`, nil, nil,
		},
		"a gateway without": {
			Config{},
			Abilities{Devices: true, Nodes: map[uint32]bool{7: true}},
			nil,
			Request{},
			"",
			[]string{first},
			[]string{"a6:1a:f6:b1:64:02"},
		},
		"no gateway at all": {
			Config{},
			Abilities{Devices: true, Nodes: map[uint32]bool{}},
			nil,
			Request{},
			"node 7, behind which it is, has no entry in mitigation.nodes", nil, nil,
		},
		"forged addresses": {
			Config{},
			Abilities{},
			func(b *bench) { b.attacks[0].Addresses[0].Share = 0.1 },
			Request{},
			"drops what others send", nil, nil,
		},
		"broad": {
			Config{},
			Abilities{},
			func(b *bench) { b.attacks[0].Addresses[0].Share = 0.1 },
			Request{Broad: true},
			"",
			[]string{"router drops udp to 192.0.2.80/32 port 53, whoever sends it"},
			nil,
		},
		"all": {Config{}, Abilities{Everything: true}, nil, Request{}, "drops what others send", nil, nil},
		"all, yes": {
			Config{},
			Abilities{Everything: true},
			nil,
			Request{Broad: true},
			"",
			[]string{"router drops everything to 192.0.2.80/32, whoever sends it"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.config, c.can)
			if c.change != nil {
				c.change(b)
			}
			got, err := b.mitigate(c.ask)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				equal(t, "holds", b.router.texts(), []string{})
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "holds", b.router.texts(), c.holds)
			var left []string
			for _, l := range got.Left {
				left = append(left, l.What)
			}
			equal(t, "left out", left, c.left)
		})
	}
}

// Rules that cannot be sent, or kept, do not hold; those that cannot be withdrawn say so, and are tried again.
func TestAllOrNone(t *testing.T) {
	b := newBench(t, Config{}, atNodes)
	b.router.refuses = "a6:1a:f6:b1:64:02"
	if _, err := b.mitigate(Request{}); err == nil || len(b.Rules("")) > 0 {
		t.Errorf("a rule that is refused: %v, rules %v", err, b.Rules(""))
	}
	b.router.refuses, b.writes = "", errors.New("disk full")
	if _, err := b.mitigate(Request{}); err == nil || len(b.router.holds)+len(b.Rules("")) > 0 {
		t.Errorf("without a disk: %v, rules %v", err, b.Rules(""))
	}
	b.writes = nil
	if _, err := b.mitigate(Request{}); err != nil {
		t.Fatal(err)
	}
	b.router.down = errors.New("session lost")
	b.Tick(t.Context())
	if r := b.Rules("a1"); r[0].Error != "session lost" {
		t.Errorf("a lost session: %+v", r)
	}
	m, err := b.Release(t.Context(), "a1", "ada")
	if err == nil || m.Rules[0].State != Withdrawing || b.Rules("a1")[0].State != Withdrawing {
		t.Errorf("release that fails: %v, %+v", err, b.Rules("a1"))
	}
	b.router.down = nil
	b.Tick(t.Context())
	equal(t, "after a try", b.router.texts(), []string{})
	if r := b.Rules(""); len(r) > 0 {
		t.Errorf("after a try: %+v", r)
	}
	equal(t, "audit trail", b.done(), []string{
		"mitigate  failed", "mitigate  failed", "mitigate ", "lost  failed", "release ada failed", "restored ",
	})
}

// The rules go on in the next process, which sends them again, until their time is over. Without a disk they end with
// the process.
func TestRestart(t *testing.T) {
	b := newBench(t, Config{}, atNodes)
	if _, err := b.mitigate(Request{}); err != nil {
		t.Fatal(err)
	}
	b.router.holds = map[string]telemetry.MitigationRule{}
	b.open(Config{For: time.Hour, MaxRules: 8, MaxShare: 1})
	b.router.refuses = "a6:1a:f6:b1:64:02"
	b.Tick(t.Context())
	if r := b.Rules("a1"); len(r) != 2 || r[0].State != Failed || r[0].Error != "refused" {
		t.Errorf("not sent again: %+v", r)
	}
	b.router.refuses = ""
	b.Tick(t.Context())
	equal(t, "sent again", b.router.texts(), []string{first, second})
	equal(t, "audit trail", b.done(), []string{"mitigate ", "restart  failed", "restart "})
	b.now = b.now.Add(time.Hour)
	b.open(Config{For: time.Hour, MaxRules: 8, MaxShare: 1})
	b.Tick(t.Context())
	equal(t, "when its time is over", b.router.texts(), []string{})

	b = newBench(t, Config{}, atNodes)
	b.Manager.deps.Write = nil
	if _, err := b.mitigate(Request{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.Run(ctx)
	equal(t, "without a disk", b.router.texts(), []string{})
	if !b.router.closed {
		t.Error("the actor was not closed")
	}
	if _, err := New(Config{}, b.deps, []byte(`{"version":2}`)); err == nil {
		t.Error("the state of a newer version was taken")
	}
}

// While another analyzer may act, nothing is sent or taken back, not even what failed: it may have sent it, or taken it
// back. What is of a session that nobody else has ends with its time.
func TestElected(t *testing.T) {
	for _, session := range []bool{false, true} {
		can := atNodes
		can.Session = session
		b := newBench(t, Config{Automatic: &Automatic{By: "router"}, MaxShare: 1}, can)
		elected := true
		b.Manager.deps.Elected = func() bool { return elected }
		if _, err := b.mitigate(Request{}); err != nil {
			t.Fatal(err)
		}
		elected = false
		if _, err := b.Release(t.Context(), "a1", "me"); !IsRefused(err) {
			t.Errorf("taken back: %v", err)
		}
		b.attacks = append(b.attacks, flood("a2"))
		if _, err := b.Mitigate(t.Context(), "a2", Request{}); !IsRefused(err) {
			t.Errorf("sent: %v", err)
		}
		if _, err := b.mitigate(Request{DryRun: true}); err != nil {
			t.Errorf("not told what it would do: %v", err)
		}
		b.attacks[0].State = telemetry.AttackEnded
		for _, r := range b.Manager.rules {
			r.State = Failed
		}
		b.router.holds = map[string]telemetry.MitigationRule{}
		b.Tick(t.Context())
		equal(t, "sent again", b.router.texts(), []string{})
		for _, r := range b.Manager.rules {
			r.State = Active
			b.router.holds[r.ID] = *r
		}
		b.Tick(t.Context())
		equal(t, "before its time is over", b.router.texts(), []string{first, second})
		b.now = b.now.Add(time.Hour)
		b.Tick(t.Context())
		want := []string{first, second}
		if session {
			want = []string{}
		}
		equal(t, "when its time is over", b.router.texts(), want)
		elected = true
		b.attacks = b.attacks[:1]
		b.Tick(t.Context())
		equal(t, "elected again", b.router.texts(), []string{})
	}
}

// Nothing acts by itself unless it is configured to, then once, and not against what a person released.
func TestAutomatic(t *testing.T) {
	b := newBench(t, Config{}, atNodes)
	b.Tick(t.Context())
	equal(t, "not configured", b.router.texts(), []string{})
	c := Config{For: time.Hour, MaxRules: 8, MaxShare: 1, Automatic: &Automatic{After: 2 * time.Minute, Exporters: 2}}
	b.Configure(c)
	b.Tick(t.Context())
	equal(t, "too early", b.router.texts(), []string{})
	b.now = b.now.Add(time.Minute)
	b.Tick(t.Context())
	b.Tick(t.Context())
	equal(t, "accused by one exporter", b.done(), []string{"mitigate automatic failed"})
	devices := b.attacks[0].Devices // without devices addresses count
	b.attacks[0].Devices = nil
	b.attacks[0].Addresses = []telemetry.AttackSource{{Address: "10.0.0.1", OneExporter: true}}
	b.now = b.now.Add(time.Minute)
	b.Tick(t.Context())
	failed := "mitigate automatic failed"
	equal(t, "addresses told by one exporter", b.done(), []string{failed, failed})
	b.attacks[0].Devices, b.attacks[0].Addresses = devices, nil
	c.Automatic = &Automatic{}
	b.Configure(c)
	b.now = b.now.Add(time.Minute)
	b.Tick(t.Context())
	equal(t, "holds", b.router.texts(), []string{first, second})
	if _, err := b.Release(t.Context(), "a1", "ada"); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(time.Hour)
	b.Tick(t.Context())
	equal(t, "after a person released it", b.router.texts(), []string{})
}
