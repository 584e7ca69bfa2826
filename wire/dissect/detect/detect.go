// Package detect finds out which dialect and which code points read packets: it tries those that the packets allow and
// counts what each makes of them. It decides nothing: the same bytes can mean different things, and only who runs the
// devices knows.
package detect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
)

// MaxPackets is how many packets are enough: more are not looked at.
const MaxPackets = 1000

// A Packet is a packet of a capture, or the payload of a telemetry report.
type Packet struct {
	Time  time.Time // zero: not known
	Bytes []byte
	Start dissect.Start
}

// A Setting is a dialect for every source, with code points beside its own.
type Setting struct {
	Dialect string
	Points  []Point
}

// A Point is a code point: its key as codepoint.Config.Set takes it, the flag of "waybill decode", and the value of
// both.
type Point struct{ Key, Flag, Value string }

// Flags returns the flags of "waybill decode" that make s, without any for what is so by itself.
func (s Setting) Flags() []string {
	var flags []string
	if s.Dialect != codepoint.Specification.Name {
		flags = append(flags, "--dialect", s.Dialect)
	}
	for _, p := range s.Points {
		flags = append(flags, p.Flag, p.Value)
	}
	return flags
}

func (s Setting) String() string {
	text := s.Dialect
	for _, p := range s.Points {
		text += " " + p.Flag + " " + p.Value
	}
	return text
}

// A Reading is what a setting makes of the packets.
type Reading struct {
	Setting
	Packets int // looked at
	Errors  int // that break a rule
	Read    int // without an error, that have telemetry in them
	Traced  int // of these, that have records of hops or ask for postcards
	Hops    int // records of INT, IOAM and IFA in these
	Named   int // drop reasons with a name
	Unnamed int // and without one
	// what is not as it should be: reserved bits that are set, sequences that do not count, impossible lengths
	Odd int

	unmarked int // shims that nothing announces: where something does, that is the better reading
	// limits are the sums of the hops and of the Remaining Hop Count of stacks: the maximum of the source. Records of a
	// wrong length make others of it.
	limits   map[int]bool
	clock    clocks
	sequence sequences
}

// A Result is what was found out, best first.
type Result struct {
	Best   Reading
	Equals []Reading // others that read the packets as well: they cannot be told apart; none if no setting is needed
	Plain  Reading   // what the configuration reads that was given
}

// Better reports whether the best setting reads more than the given configuration does.
func (r *Result) Better() bool { return compare(&r.Best, &r.Plain) < 0 }

// Detect tries the dialects on packets, with the code points of base and those that the packets allow. base must be
// compiled; the dialects that it gives to sources are kept.
func Detect(packets []Packet, base *codepoint.Config) Result {
	packets = packets[:min(len(packets), MaxPackets)]
	result := Result{Plain: read(packets, base, Setting{Dialect: codepoint.Specification.Name})}
	if p := &result.Plain; p.Traced == p.Packets && p.Errors+p.Odd+p.Unnamed == 0 && p.clock.wrong() <= 0 {
		result.Best = *p // nothing can be better
		return result
	}
	allowed := pointsOf(packets)
	var readings []Reading
	for _, d := range codepoint.Dialects {
		readings = append(readings, climb(packets, base, Setting{Dialect: d.Name}, allowed))
	}
	slices.SortStableFunc(readings, func(a, b Reading) int {
		return cmp.Or(compare(&a, &b), simplicity(&a)-simplicity(&b))
	})
	result.Best = readings[0]
	for i := 1; i < len(readings) && simplicity(&readings[0]) > 0 && compare(&readings[0], &readings[i]) == 0; i++ {
		if len(readings[i].Points) <= len(readings[0].Points) { // what needs more was bent to fit
			result.Equals = append(result.Equals, readings[i])
		}
	}
	return result
}

// climb adds the code point that helps most to s as long as one does.
func climb(packets []Packet, base *codepoint.Config, s Setting, allowed []Point) Reading {
	best := read(packets, base, s)
	for range 3 {
		found := best
		for _, p := range allowed {
			if slices.ContainsFunc(best.Points, func(q Point) bool { return q.Key == p.Key }) {
				continue
			}
			with := Setting{s.Dialect, append(slices.Clone(best.Points), p)}
			if r := read(packets, base, with); compare(&r, &found) < 0 {
				found = r
			}
		}
		if compare(&found, &best) >= 0 {
			break
		}
		best = found
	}
	return best
}

// compare returns a negative number if a reads better than b.
func compare(a, b *Reading) int {
	return cmp.Or(
		cmp.Compare(b.Traced-b.Errors, a.Traced-a.Errors), // an error is as bad as a packet read is good
		cmp.Compare(b.Read-b.Errors, a.Read-a.Errors),
		cmp.Compare(a.Odd, b.Odd),
		cmp.Compare(a.clock.wrong(), b.clock.wrong()),
		cmp.Compare(a.Unnamed, b.Unnamed),
		cmp.Compare(b.Named, a.Named),
		cmp.Compare(a.unmarked, b.unmarked),
		cmp.Compare(len(a.limits), len(b.limits)),
		cmp.Compare(b.Hops, a.Hops),
	)
}

// simplicity is how much r departs from what is so by itself: code points are simpler than a dialect.
func simplicity(r *Reading) int {
	if r.Dialect == codepoint.Specification.Name {
		return len(r.Points)
	}
	return 10 + len(r.Points)
}

// Why says in a few words what r makes of the packets.
func (r *Reading) Why() string {
	parts := []string{fmt.Sprintf("%d of %d packets have telemetry without an error, %d hops", r.Read, r.Packets,
		r.Hops)}
	if r.Errors > 0 {
		parts = append(parts, fmt.Sprintf("%d break a rule", r.Errors))
	}
	if r.Named+r.Unnamed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d drop reasons have a name", r.Named, r.Named+r.Unnamed))
	}
	if r.Odd > 0 {
		parts = append(parts, fmt.Sprintf("%d are odd (reserved bits, sequence numbers, lengths)", r.Odd))
	}
	switch r.clock.wrong() {
	case -1:
		parts = append(parts, "times go with the clock of the capture")
	case 1:
		parts = append(parts, "times do not go with the clock of the capture")
	}
	return strings.Join(parts, "; ")
}

// config returns base with s.
func (s Setting) config(base *codepoint.Config) (*codepoint.Config, error) {
	c := &codepoint.Config{Points: base.Points.Clone(), Rules: slices.Clone(base.Rules)}
	for _, p := range s.Points {
		if err := setPoint(c, p); err != nil {
			return nil, err
		}
	}
	rule, err := codepoint.ParseRule("any", s.Dialect)
	if err != nil {
		return nil, err
	}
	c.Rules = append(c.Rules, rule)
	c.Compile()
	return c, nil
}

// setPoint sets p in c; a DSCP may have a mask behind a slash.
func setPoint(c *codepoint.Config, p Point) error {
	value, mask, masked := strings.Cut(p.Value, "/")
	if masked {
		if err := c.Set(p.Key+"_mask", mask); err != nil {
			return err
		}
	}
	return c.Set(p.Key, value)
}

// read dissects the packets with a setting.
func read(packets []Packet, base *codepoint.Config, s Setting) Reading {
	r := Reading{Setting: s, Packets: len(packets), limits: map[int]bool{}}
	cfg, err := s.config(base)
	if err != nil {
		return r
	}
	for i := range packets {
		p := &packets[i]
		r.add(dissect.Packet(p.Bytes, p.Start, cfg), p.Time)
	}
	d, _ := codepoint.FindDialect(s.Dialect)
	if r.sequence.odd(d.Has(codepoint.QuirkNoSequence)) {
		r.Odd++
	}
	return r
}

// add counts what is in a packet.
func (r *Reading) add(layers []dissect.Layer, at time.Time) {
	for range dissect.Errors(layers) {
		r.Errors++
		return
	}
	telemetry, traced := false, false
	report := dissect.Report(layers)
	if report != nil {
		telemetry = true
		r.report(report, at)
	}
	for _, fragment := range dissect.Fragments(layers) {
		for i := range fragment {
			l := &fragment[i]
			if strings.Contains(l.Find("quirk").Text(), "unmarked") {
				r.unmarked++
			}
			if length := l.Find("length"); traced && l.Name == "udp" && length.Meaning != "" {
				r.Odd++ // behind a stack that ends elsewhere
			}
			hops := l.Find("hops").Objects()
			if hops == nil {
				hops = l.Find("nodes").Objects()
			}
			if hops != nil || l.Name == "int_mx" {
				telemetry, traced = true, true
				r.Hops += len(hops)
				if left := l.Find("remaining_hop_count"); left != nil {
					r.limits[len(hops)+int(left.Number())] = true
				}
				r.clock.hops(hops, at)
			}
		}
	}
	if telemetry {
		r.Read++
	}
	if traced {
		r.Traced++
	}
}

// report counts what is in the header of a report.
func (r *Reading) report(l *dissect.Layer, at time.Time) {
	if l.Find("reserved") != nil {
		r.Odd++
	}
	r.sequence.add(l)
	groups := []dissect.Object{l.Fields}
	for _, name := range []string{"drop", "switch_local", "metadata"} {
		if f := l.Find(name); f != nil {
			if o, ok := f.Value.(dissect.Object); ok {
				groups = append(groups, o)
			}
		}
	}
	for _, one := range l.Find("reports").Objects() {
		if f := one.Find("metadata"); f != nil {
			if o, ok := f.Value.(dissect.Object); ok {
				groups = append(groups, o)
			}
		}
	}
	node := cmp.Or(l.Find("switch_id").Number(), l.Find("node_id").Number())
	for _, o := range groups {
		if reason := o.Find("drop_reason"); reason != nil {
			if reason.Meaning == "" {
				r.Unnamed++
			} else {
				r.Named++
			}
		}
		node = cmp.Or(node, o.Find("switch_id").Number())
	}
	r.clock.add(1<<40|node, l.Find("ingress_ts"), at)
}
