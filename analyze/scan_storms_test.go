package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
)

// dropper returns what tells a shard of a packet that node 1 dropped, which came by a port.
func dropper(shard *Shard) func(atNs int64, in uint32) {
	return func(atNs int64, in uint32) {
		shard.Process(&telemetry.Batch{Reports: []telemetry.Report{{
			Flags: telemetry.Dropped, Local: telemetry.Hop{
				Has:    telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasDrop,
				NodeID: 1, IngressPort: in, EgressPort: 2,
			},
		}}}, atNs)
	}
}

// TestStormBegins: a drop storm begins with its first drop, and not with the second in which that is, nor with a few
// drops long before, by whichever port these came, and ends with its last. Drops after it change nothing.
func TestStormBegins(t *testing.T) {
	shard := NewShard(DefaultConfig())
	log := eventlog.New(10)
	scanner := NewScanner(&Collector{Owners: []Owner{shard}}, log)
	begin := 1000 * second
	drop := dropper(shard)
	scanner.Scan(begin)
	drop(begin+second/2, 5) // long before
	scanner.Scan(begin + second)
	scanner.Scan(begin + 2*second)
	drop(begin+2*second+second/10, 5) // of other bursts
	drop(begin+2*second+second/10, 6)
	first := begin + 2*second + 4*second/10
	for i := range int64(100) {
		drop(first+i*1e6, 5)
	}
	drop(begin+2*second+9*second/10, 5)
	drop(begin+2*second+9*second/10, 6)
	scanner.Scan(begin + 3*second)
	list, _ := log.Events(func(e *telemetry.Event) bool { return e.Kind == telemetry.EventDropStorm }, 10)
	if len(list) != 1 || list[0].Start.UnixNano() != first {
		t.Errorf("got %+v, want one from %d on", list, first)
	}
	scanner.Scan(begin + 8*second)
	list, _ = log.Events(func(e *telemetry.Event) bool { return e.Kind == telemetry.EventDropStorm }, 10)
	if last := begin + 2*second + 9*second/10; list[0].End == nil || list[0].End.UnixNano() != last {
		t.Errorf("got %+v, want one that ends at %d", list, last)
	}
}

// TestStormBehindAFew: 20 drops in a second are a storm, though with those before they are less than 20 a second.
func TestStormBehindAFew(t *testing.T) {
	shard := NewShard(DefaultConfig())
	log := eventlog.New(10)
	scanner := NewScanner(&Collector{Owners: []Owner{shard}}, log)
	drop, begin := dropper(shard), 1000*second
	scanner.Scan(begin)
	for i := range int64(8) {
		drop(begin+second*3/10+i*second*8/100, 5)
	}
	scanner.Scan(begin + second)
	for i := range int64(20) {
		drop(begin+second*105/100+i*second*46/1000, 5)
	}
	scanner.Scan(begin + 2*second)
	list, _ := log.Events(func(e *telemetry.Event) bool { return e.Kind == telemetry.EventDropStorm }, 10)
	if len(list) != 1 || list[0].Start.UnixNano() != begin+second*3/10 || list[0].Count != 28 {
		t.Errorf("got %+v, want one of 28 drops", list)
	}
}

// TestStormBeginsLate: a drop that was told before a scan, and came to the tables behind it, is the first of its storm.
func TestStormBeginsLate(t *testing.T) {
	shard := NewShard(DefaultConfig())
	log := eventlog.New(10)
	scanner := NewScanner(&Collector{Owners: []Owner{shard}}, log)
	begin := 1000 * second
	scanner.Scan(begin)
	first := begin + second - 1e6
	for i := range int64(30) {
		if i == 0 {
			scanner.Scan(begin + second)
		}
		shard.Process(&telemetry.Batch{Reports: []telemetry.Report{{
			Flags: telemetry.Dropped, Local: telemetry.Hop{Has: telemetry.HasNode | telemetry.HasDrop, NodeID: 1},
		}}}, first+i*10e6)
	}
	scanner.Scan(begin + 2*second)
	list, _ := log.Events(func(e *telemetry.Event) bool { return e.Kind == telemetry.EventDropStorm }, 10)
	if len(list) != 1 || list[0].Start.UnixNano() != first || list[0].Count != 30 {
		t.Errorf("got %+v, want one of 30 from %d on", list, first)
	}
}

// TestStormsOverScans: drops are a storm by how many came within a second, wherever in it the scanner looked, and
// however late it came.
func TestStormsOverScans(t *testing.T) {
	for name, test := range map[string]struct {
		scans []int64 // half seconds
		drops []int64 // thousandths of a second
		want  uint64
	}{
		"in one":                 {[]int64{2, 4, 6}, times(2100, 20, 10), 20},
		"in two":                 {[]int64{2, 4, 6}, times(1900, 20, 10), 20},
		"in one of three":        {[]int64{2, 8}, times(1900, 20, 10), 20},
		"fewer in two":           {[]int64{2, 4, 6}, times(1900, 19, 10), 0},
		"slowly, over two":       {[]int64{2, 4, 6}, times(1100, 30, 60), 0},
		"few, then too few":      {[]int64{2, 4, 6}, append(times(1100, 4, 1), times(2100, 19, 10)...), 0},
		"few, then many":         {[]int64{2, 4, 6}, append(times(1100, 4, 1), times(2100, 25, 10)...), 25},
		"few, then many, in one": {[]int64{2, 6}, append(times(2100, 4, 1), times(2700, 25, 10)...), 25},
		"seconds in between":     {[]int64{2, 4, 6, 8}, append(times(1100, 15, 1), times(3100, 15, 1)...), 0},
	} {
		t.Run(name, func(t *testing.T) {
			shard := NewShard(DefaultConfig())
			log := eventlog.New(10)
			scanner := NewScanner(&Collector{Owners: []Owner{shard}}, log)
			begin := 1000 * second
			scanner.Scan(begin)
			for _, at := range test.scans {
				for len(test.drops) > 0 && test.drops[0] < at*500 {
					shard.Process(&telemetry.Batch{Reports: []telemetry.Report{{
						Flags: telemetry.Dropped, Local: telemetry.Hop{
							Has:    telemetry.HasNode | telemetry.HasEgressPort | telemetry.HasDrop,
							NodeID: 1, EgressPort: 2,
						},
					}}}, begin+test.drops[0]*second/1000)
					test.drops = test.drops[1:]
				}
				scanner.Scan(begin + at*second/2)
			}
			list, _ := log.Events(func(e *telemetry.Event) bool { return e.Kind == telemetry.EventDropStorm }, 10)
			var got uint64
			for i := range list {
				got += list[i].Count
			}
			if got != test.want {
				t.Errorf("got a storm of %d, want of %d: %+v", got, test.want, list)
			}
		})
	}
}

// TestStormGoesOn: while a storm goes on all drops are of it, however few and by whichever port they came.
func TestStormGoesOn(t *testing.T) {
	shard := NewShard(DefaultConfig())
	log := eventlog.New(10)
	scanner := NewScanner(&Collector{Owners: []Owner{shard}}, log)
	begin := 1000 * second
	drop := func(atNs int64, in uint32) {
		shard.Process(&telemetry.Batch{Reports: []telemetry.Report{{
			Flags: telemetry.Dropped, Local: telemetry.Hop{
				Has:    telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasDrop,
				NodeID: 1, IngressPort: in, EgressPort: 2,
			},
		}}}, atNs)
	}
	scanner.Scan(begin)
	for _, ms := range times(100, 30, 10) {
		drop(begin+ms*second/1000, 5)
	}
	scanner.Scan(begin + second)
	for i, ms := range []int64{1100, 1101, 1600, 1601, 1602} {
		drop(begin+ms*second/1000, uint32(5+i/2))
	}
	scanner.Scan(begin + 2*second)
	list, _ := log.Events(func(e *telemetry.Event) bool { return e.Kind == telemetry.EventDropStorm }, 10)
	if len(list) != 1 || list[0].Count != 35 {
		t.Errorf("got %+v, want one storm of 35", list)
	}
}

// times are n moments from the first on, some apart.
func times(first int64, n int, apart int64) (list []int64) {
	for i := range n {
		list = append(list, first+int64(i)*apart)
	}
	return list
}
