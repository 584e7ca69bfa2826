package serve

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
	"github.com/waybill-int/waybill/wire/dissect/detect"
)

// Of each source so many datagrams are looked at, of so many sources. A receiver offers the first datagrams that it
// gets, and then one in dialectSample, so that it costs next to nothing later; their copies are used again.
const (
	dialectPackets = 32
	dialectSources = 256
	dialectFirst   = 4096
	dialectSample  = 64
)

// dialectNotices tells in the log, once for each source of reports, that another dialect or code point would read more
// of them. It changes nothing.
type dialectNotices struct {
	points  func() *codepoint.Config
	log     *slog.Logger
	offered chan offeredReport
	copies  sync.Pool // of *[]byte
}

type offeredReport struct {
	source netip.AddrPort
	port   uint16
	timeNs int64
	copied *[]byte
}

func newDialectNotices(points func() *codepoint.Config, log *slog.Logger) *dialectNotices {
	return &dialectNotices{points: points, log: log, offered: make(chan offeredReport, 1024)}
}

// recorder returns what one receiver on port hands its datagrams to, and passes them on to next, which may be nil.
func (n *dialectNotices) recorder(port uint16, next collect.Recorder) collect.Recorder {
	return &dialectRecorder{notices: n, port: port, next: next}
}

type dialectRecorder struct {
	notices *dialectNotices
	port    uint16
	next    collect.Recorder
	seen    uint64
}

// Record implements collect.Recorder.
func (r *dialectRecorder) Record(nowNs int64, source netip.AddrPort, payload []byte, truncated bool) {
	if r.next != nil {
		r.next.Record(nowNs, source, payload, truncated)
	}
	n := r.notices
	r.seen++
	if r.seen > dialectFirst && r.seen%dialectSample != 0 || len(n.offered) == cap(n.offered) {
		return
	}
	copied, _ := n.copies.Get().(*[]byte)
	if copied == nil {
		copied = new([]byte)
	}
	*copied = append((*copied)[:0], payload...)
	select {
	case n.offered <- offeredReport{source, r.port, nowNs, copied}:
	default:
		n.copies.Put(copied)
	}
}

// run looks at what is offered until ctx is done.
func (n *dialectNotices) run(ctx context.Context) {
	type key struct {
		source netip.Addr
		port   uint16
	}
	sources := map[key][]detect.Packet{}
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-n.offered:
			k := key{o.source.Addr().Unmap(), o.port}
			packets, known := sources[k]
			if known && packets == nil || !known && len(sources) >= dialectSources {
				n.copies.Put(o.copied)
				continue
			}
			if !known && n.points().Names(k.source, o.source.Port(), o.port) {
				sources[k] = nil // whoever runs it has said which one it is
				continue
			}
			packets = append(packets, detect.Packet{
				Time: time.Unix(0, o.timeNs), Bytes: *o.copied, Start: dissect.TelemetryReport,
			})
			if len(packets) == dialectPackets {
				n.notify(k.source, k.port, packets)
				packets = nil
			}
			sources[k] = packets
		}
	}
}

// notify logs what would read the packets of a source better.
func (n *dialectNotices) notify(source netip.Addr, port uint16, packets []detect.Packet) {
	result := detect.Detect(packets, n.points())
	if !result.Better() {
		return
	}
	flags := result.Best.Flags()
	if i := slices.Index(flags, "--dialect"); i >= 0 {
		from := source.String()
		if source.Is6() {
			from = "[" + from + "]"
		}
		flags[i+1] = from + "=" + flags[i+1]
	}
	var others []string
	for i := range result.Equals {
		others = append(others, result.Equals[i].Setting.String())
	}
	n.log.Warn("another dialect or code point would read more of a source; nothing is changed by itself", "source",
		source, "port", port,
		"setting", result.Best.Setting.String(), "because", result.Best.Why(), "now", result.Plain.Why(),
		"as_well", strings.Join(others, ", "), "help", "waybill serve "+strings.Join(flags, " "))
}
