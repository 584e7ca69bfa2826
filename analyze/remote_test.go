package analyze

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// A processor takes reports.
type processor interface {
	Process(b *telemetry.Batch, nowNs int64)
}

// An apart is a shard that is asked as one in another process is, and takes reports in this one.
type apart struct {
	*Remote
	shard *Shard
}

func newApart(s *Shard) apart {
	s.Delivered = atOnce
	return apart{&Remote{Transport: besides{s}, Delivered: s.Delivered}, s}
}

// atOnce says that what arrives is handed over at once.
func atOnce(nowNs int64) int64 { return nowNs }

func (a apart) Process(b *telemetry.Batch, nowNs int64) { a.shard.Process(b, nowNs) }

// besides is a transport to a shard in this process.
type besides struct{ *Shard }

func (b besides) Ask(question string, _ bool, args []byte, read func(answer []byte) error) {
	answer, err := Questions.Answer(b.Shard, question, slices.Clone(args))
	if err == nil {
		err = read(answer)
	}
	if err != nil {
		panic(err)
	}
}

// answersOf returns all that a collector says, by what it is about.
func answersOf(t *testing.T, v *virtualCollector, of *Intervals, nowNs int64) map[string]any {
	flows, total := v.Flows(FlowFilter{Order: ByPackets, Limit: 100, Offset: 7})
	one, _ := v.Flows(FlowFilter{Which: FlowHash(firstHash(v)), Limit: 10})
	paths, _ := v.Paths(1000)
	hosts, left := v.Hosts()
	events, _ := v.log.Events(nil, math.MaxInt)
	bursts, _ := v.bursts.Bursts(anyBurst, burst.ByLast, math.MaxInt)
	waiting, err := v.Waiting()
	answers := map[string]any{
		"flows": flows, "number of flows": total, "one flow": one, "paths": paths, "nodes": v.Nodes(),
		"links": v.Links(), "queues": v.Queues(), "histograms": v.QueueHistograms(), "drops": v.Drops(nil),
		"hosts": hosts, "hosts left out": left, "topology": v.Topology(), "ports": v.Ports(), "clocks": v.Clocks(),
		"counters": v.Counters(), "hops": v.Hops(), "completeness": v.Completeness(), "events": events,
		"bursts": bursts, "table loss": v.TableLoss(), "drop counters": v.DropCounters(), "waiting": len(waiting),
		"error": err, "ungiven": of.Ungiven(), "dispositions": len(v.TakeDispositions(nil)),
	}
	var soFar, records []string
	r := of.SoFar(nowNs)
	soFar = append(append(soFar, rowsOf(t, &r.Intervals)...), rowsOf(t, &telemetry.Intervals{Flows: r.Gone})...)
	of.Finish(nowNs+20*second, func(r *telemetry.Intervals) { records = append(records, rowsOf(t, r)...) })
	if len(soFar) < 10 || len(records) < 10 {
		t.Errorf("%d and %d records", len(soFar), len(records))
	}
	slices.Sort(soFar) // they are in no order
	slices.Sort(records)
	answers["so far"], answers["records"] = soFar, records
	return answers
}

// rowsOf returns all records, each with the name of its list.
func rowsOf(t *testing.T, r *telemetry.Intervals) (rows []string) {
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		list := v.Field(i)
		if list.Kind() != reflect.Slice {
			continue
		}
		for row := range list.Len() {
			text, err := json.Marshal(list.Index(row).Interface())
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, v.Type().Field(i).Name+" "+string(text))
		}
	}
	return rows
}

func firstHash(v *virtualCollector) uint64 {
	flows, _ := v.Flows(FlowFilter{Order: ByPackets, Limit: 1})
	var hash uint64
	if len(flows) > 0 {
		fmt.Sscanf(flows[0].ID, "%x", &hash)
	}
	return hash
}

// Whether shards are in this process or asked as if they were in another one, all answers, events and records are the
// same to the last byte.
func TestRemote(t *testing.T) {
	seed, all := test.Seed(t)
	names := []string{
		"demo", "incast", "microburst", "loop", "blackhole", "link-failure", "gray-link", "clock-skew", "ddos", "steady", "polarisation",
	}
	for i, name := range names {
		if !all && (i+int(seed))%3 != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := load(t, name)
			limits := attackLimits()
			e := emulation{shards: 3, attacks: &limits, duration: min(time.Duration(s.Duration), 12*time.Second)}
			if i%2 == 1 {
				e.policy = policyOf(t, smallNodes)
			}
			var both collectors
			var intervals [2]*Intervals
			for i := range intervals {
				e.apart = i == 1
				v := e.collector(t, s)
				for _, o := range v.Owners {
					if shard, ok := o.(*Shard); ok {
						shard.Delivered = atOnce
					}
				}
				intervals[i] = NewIntervals(&v.Collector, v.log, v.start)
				both = append(both, v)
			}
			e.send(t, s, both, &both[0].truth)
			endNs := both[0].start + int64(e.duration) + 5*scan.ScanNs
			var answers [2]map[string]any
			for i, v := range both {
				v.advance(endNs)
				answers[i] = answersOf(t, v, intervals[i], endNs)
			}
			for what, want := range answers[0] {
				want, _ := json.Marshal(want)
				got, _ := json.Marshal(answers[1][what])
				if !bytes.Equal(got, want) {
					at := 0
					for at < min(len(got), len(want)) && got[at] == want[at] {
						at++
					}
					from := max(at-200, 0)
					t.Errorf("%s: got ... %.400s, want ... %.400s", what, got[from:], want[from:])
				}
			}
		})
	}
}
