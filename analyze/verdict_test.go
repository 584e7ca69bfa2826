package analyze

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/analyze/verdict"
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
		got := verdict.Of(f, bursts)
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

// While a queue is long, the verdict names its burst, which is not over: in the network its queue was long then, since
// that moment, and the flow was in it.
func TestVerdictsWhileItLasts(t *testing.T) {
	const at = 5 * time.Second // of a flood that is filtered at 6 s
	said := map[telemetry.Endpoints]*telemetry.Verdict{}
	ended := -1
	v := emulation{shards: 2, look: func(v *virtualCollector) {
		switch v.next - v.start {
		case int64(at) + 10*scan.TickNs:
			flows, _ := v.Flows(FlowFilter{Limit: 10000, Order: ByLast})
			for i := range flows {
				said[flows[i].Endpoints] = verdict.Of(&flows[i], v.bursts.Open(anyBurst))
			}
		case int64(14 * time.Second):
			ended = len(v.bursts.Open(anyBurst))
		}
	}}.run(t, "ddos")
	numbers, queues := map[uint32]string{}, []*truth.Burst{}
	v.each(func(r truth.Record) {
		switch r := r.(type) {
		case *truth.Flow:
			numbers[r.Flow] = fmt.Sprintf("%v %d %v %d", r.Src, r.SrcPort, r.Dst, r.DstPort)
		case *truth.Burst:
			if r.StartNs < int64(at) && r.EndNs > int64(at) {
				queues = append(queues, r)
			}
		}
	})
	named := 0
	for flow, got := range said {
		if got == nil || !got.Open {
			continue
		}
		named++
		if got.Burst != "" || !strings.Contains(got.Text, "not over yet") {
			t.Errorf("%+v", got)
		}
		if !slices.ContainsFunc(queues, func(q *truth.Burst) bool {
			since := time.Unix(0, v.start+q.StartNs).UTC().Format("15:04:05")
			return q.Node == *got.Node && q.Port == *got.Port && strings.Contains(got.Text, "burst since "+since) &&
				slices.ContainsFunc(q.Flows, func(b truth.BurstFlow) bool {
					return numbers[b.Flow] == fmt.Sprintf("%v %d %v %d", flow.Src, flow.SrcPort, flow.Dst, flow.DstPort)
				})
		}) {
			t.Errorf("%v: %s: the network knows of no such queue", flow, got.Text)
		}
	}
	if named < 4 || ended != 0 {
		t.Errorf("%d verdicts name it, and %d bursts go on when all is over", named, ended)
	}
}

func anyBurst(*telemetry.Burst) bool { return true }

// What cannot be proved is not said.
func TestVerdictsWithoutProof(t *testing.T) {
	one, two, port := uint32(1), uint32(2), uint32(6)
	hop := func(node *uint32, longest uint64) telemetry.PathHop {
		d := &telemetry.Distribution{Count: 10, Max: longest}
		return telemetry.PathHop{Node: node, Name: "leaf", EgressPort: &port, LatencyNs: d}
	}
	flow := func(others, longest uint64, hops ...telemetry.PathHop) *telemetry.Flow {
		return &telemetry.Flow{
			Residence: &telemetry.Distribution{Count: 10 + others, Max: longest},
			Paths:     []telemetry.FlowPath{{Hops: hops}},
		}
	}
	for _, c := range []struct {
		flow *telemetry.Flow
		want string
	}{
		{&telemetry.Flow{}, ""},
		{flow(0, 1000, hop(&one, 990), hop(&two, 5)), "99 % of 1.00 µs"},
		{flow(0, 1000, hop(&one, 900), hop(&two, 300)), "70 to 90 % of 1.00 µs"},
		// paths of which nothing is known
		{flow(9, 1000, hop(&one, 990), hop(&two, 5)), "its slowest packet was in nodes for 1.00 µs, maybe on"},
		{flow(0, 1000, hop(&one, 400), hop(&two, 400)), "no node is to blame"},
	} {
		got := verdict.Of(c.flow, nil)
		if (got == nil) != (c.want == "") || got != nil && !strings.HasPrefix(got.Text, c.want) {
			t.Errorf("got %+v, want %q", got, c.want)
		}
	}
}
