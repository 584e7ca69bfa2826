package analyze

import (
	"fmt"
	"testing"

	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/telemetry"
)

// Packets are counted by the prefix that they were on the way to, as far as there is room, and each interval has what
// came in it: the sums are those of all drops, whatever has no room.
func TestDropDestinations(t *testing.T) {
	shards := []*Shard{NewShard(DefaultConfig()), NewShard(DefaultConfig())}
	c := &Collector{Owners: []Owner{shards[0], shards[1]}}
	lose := func(shard int, dst [4]byte, n int) {
		r := telemetry.Report{
			Flags: telemetry.HasFlow,
			Flow:  telemetry.FlowKey{Dst: telemetry.AddrFrom4(dst), Protocol: 6},
		}
		r.Local.NodeID, r.Local.Has, r.Local.DropReason = 7, telemetry.HasNode|telemetry.HasDrop, 3
		for range n {
			shards[shard].mu.Lock()
			shards[shard].drops.Packet(&r, 1e9)
			shards[shard].mu.Unlock()
		}
	}
	v := NewIntervals(c, nil, 0)
	took := func() map[string]uint64 {
		batch := &telemetry.Intervals{}
		v.dropsSince(batch, 0, true)
		sums := map[string]uint64{}
		for _, r := range batch.Drops {
			name := "rest"
			if r.HasFlow {
				prefix, _ := r.Flow.Dst.IP().Prefix(24)
				name = prefix.Addr().String()
			}
			sums[name] += r.Packets
		}
		return sums
	}
	lose(0, [4]byte{10, 0, 1, 5}, 2)
	lose(1, [4]byte{10, 0, 1, 6}, 3)
	lose(1, [4]byte{10, 0, 2, 6}, 1)
	if got, want := fmt.Sprint(took()), "map[10.0.1.0:5 10.0.2.0:1]"; got != want {
		t.Errorf("the first interval has %s, want %s", got, want)
	}
	lose(1, [4]byte{10, 0, 2, 7}, 4)
	if got, want := fmt.Sprint(took()), "map[10.0.2.0:4]"; got != want {
		t.Errorf("the second interval has %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(c.Drops(nil)[0].To), "[{10.0.1.0/24 5} {10.0.2.0/24 5}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i := range byte(40) { // more than there is room for
		lose(0, [4]byte{10, 9, i, 1}, 1)
	}
	got := took()
	if len(got) != drop.MaxTo || got["rest"] != 40-(drop.MaxTo-1) { // one place was taken before
		t.Errorf("got %v", got)
	}
	if all := c.Drops(nil)[0]; all.Packets != 50 || len(all.To) != drop.MaxTo+1 { // of two shards
		t.Errorf("got %d packets to %d prefixes", all.Packets, len(all.To))
	}
}
