package analyze

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// residentBytes returns how much memory of this process is in use, as the kernel counts it.
func residentBytes(t *testing.T) int {
	t.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("only Linux tells it")
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// A flood whose packets all claim to come from another address takes no more memory the longer it lasts, and hides none
// of the devices that send it: with all seeds ten million flows.
func TestSpoofedFloodIsBounded(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	flows := 200_000
	if _, all := test.Seed(t); all {
		flows = 10_000_000
	}
	const devices, inTick = 10, 2000
	c := DefaultConfig()
	c.MaxFlows = 1 << 14
	shard, log := NewShard(c), eventlog.New(100)
	s := NewScanner(&Collector{Owners: []Owner{shard}}, log)
	s.FindAttacks(attackLimits(), nil, 0)
	nowNs := 1000 * second
	for range 5 * second / scan.TickNs { // what is usual is known
		nowNs += scan.TickNs
		s.Scan(nowNs)
	}
	var batch telemetry.Batch
	before, sent := 0, 0
	for sent < flows {
		batch.Reset()
		for range inTick {
			r := stackReport(uint64(sent), hopAt(uint32(sent%devices+1), 1000), hopAt(100, 1000))
			r.Flow.Src = telemetry.Addr{Hi: uint64(sent) * 0x9e3779b97f4a7c15, Lo: uint64(sent)}
			r.Flow.Dst = telemetry.Addr{Hi: 0x20010db8 << 32, Lo: 80}
			r.Flow.Protocol, r.Flow.SrcPort, r.Flow.DstPort = 17, uint16(sent), 53
			r.Flags |= telemetry.HasDevice
			r.Device, r.Bytes = uint64(sent%devices+1)<<16, 500
			batch.Reports = append(batch.Reports, r)
			sent++
		}
		nowNs += scan.TickNs
		shard.Process(&batch, nowNs)
		s.Scan(nowNs)
		if before == 0 && sent >= flows/5 {
			before = residentBytes(t)
		}
	}
	if after := residentBytes(t); after > before+8<<20 {
		t.Errorf("%d MiB of memory with %d flows, %d MiB with a fifth of them", after>>20, sent, before>>20)
	} else {
		t.Logf("%d MiB of memory with %d flows, %d MiB with a fifth of them", after>>20, sent, before>>20)
	}
	events, _ := log.Events(scan.IsAttack, 10)
	if len(events) != 1 {
		t.Fatalf("got %d attacks", len(events))
	}
	a := events[0].Attack
	if len(a.Devices) != devices || len(a.Addresses) > attack.MaxSources || a.CountError == 0 {
		t.Errorf("got %d devices, %d addresses, an error of %d", len(a.Devices), len(a.Addresses), a.CountError)
	}
	for _, d := range a.Devices {
		if d.Error > 0 || d.Share < 0.099 || d.Share > 0.101 {
			t.Errorf("%s: %d packets, a share of %.4f, %d too many", d.Device, d.Packets, d.Share, d.Error)
		}
	}
	if uint64(sent)-a.Packets > uint64(flows)/10 {
		t.Errorf("%d of %d packets", a.Packets, sent)
	}
}
