package analyze

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// The verdict on a flow names the queue in which it waited: the network knows of a long queue there, at the time
// that the verdict says, with packets of that flow in it.
func TestVerdicts(t *testing.T) {
	if test.RaceDetector {
		t.Skip("races do not depend on the scenario")
	}
	v := emulation{shards: 2, autoBursts: true}.run(t, "incast")
	bursts, _ := v.bursts.Bursts(nil, burst.ByLast, burst.MaxKept)
	numbers := map[string]uint32{} // of flows, by their endpoints
	var queues []*truth.Burst
	v.each(func(r truth.Record) {
		switch r := r.(type) {
		case *truth.Flow:
			numbers[r.Src+" "+r.Dst+" "+fmt.Sprint(r.SrcPort)+" "+fmt.Sprint(r.DstPort)] = r.Flow
		case *truth.Burst:
			queues = append(queues, r)
		}
	})
	flows, _ := v.Flows(FlowFilter{Limit: 10000, Order: ByLast})
	blamed := 0
	for i := range flows {
		f := &flows[i]
		got := VerdictOf(f, bursts)
		if got == nil {
			continue
		}
		if got.AtLeast > got.AtMost || got.AtMost > 1 || got.LongestNs != f.Residence.Max {
			t.Errorf("%+v", got)
		}
		if got.Burst == "" {
			continue
		}
		blamed++
		number := numbers[f.Src.String()+" "+f.Dst.String()+" "+fmt.Sprint(f.SrcPort)+" "+fmt.Sprint(f.DstPort)]
		at := got.BurstAt.UnixNano() - v.start
		if number == 0 || !slices.ContainsFunc(queues, func(q *truth.Burst) bool {
			return q.Node == *got.Node && q.Port == *got.Port && at >= q.StartNs-1e5 && at <= q.EndNs+1e5 &&
				slices.ContainsFunc(q.Flows, func(b truth.BurstFlow) bool { return b.Flow == number })
		}) {
			t.Errorf("flow %d: %s: the network knows of no such queue", number, got.Text)
		}
	}
	if blamed < 50 {
		t.Errorf("%d verdicts name a burst: this proves little", blamed)
	}
}

// What cannot be proved is not said.
func TestVerdictsWithoutProof(t *testing.T) {
	one, two, port := uint32(1), uint32(2), uint32(6)
	hop := func(node *uint32, longest uint64) telemetry.PathHop {
		d := &telemetry.Distribution{Max: longest}
		return telemetry.PathHop{Node: node, Name: "leaf", EgressPort: &port, LatencyNs: d}
	}
	flow := func(changes, longest uint64, hops ...telemetry.PathHop) *telemetry.Flow {
		return &telemetry.Flow{
			Residence: &telemetry.Distribution{Max: longest}, PathChanges: changes,
			Paths: []telemetry.FlowPath{{Hops: hops}},
		}
	}
	for _, c := range []struct {
		flow *telemetry.Flow
		want string
	}{
		{&telemetry.Flow{}, ""},
		{flow(0, 1000, hop(&one, 990), hop(&two, 5)), "99 % of 1.00 µs"},
		{flow(0, 1000, hop(&one, 900), hop(&two, 300)), "70 to 90 % of 1.00 µs"},
		{flow(9, 1000, hop(&one, 990), hop(&two, 5)), "up to 99 % of"}, // paths of which nothing is known
		{flow(0, 1000, hop(&one, 400), hop(&two, 400)), "no node is to blame"},
	} {
		got := VerdictOf(c.flow, nil)
		if (got == nil) != (c.want == "") || got != nil && !strings.HasPrefix(got.Text, c.want) {
			t.Errorf("got %+v, want %q", got, c.want)
		}
	}
}
