package expect

import (
	"errors"
	"fmt"
	"io"

	"github.com/waybill-int/waybill/fabric/truth"
)

// A Truth is a truth file, sorted.
type Truth struct {
	Run      truth.Run
	End      truth.End
	Switches map[uint32]*truth.Switch
	Flows    map[uint32]*truth.Flow
	Links    []*truth.Link
	Paths    []*truth.Path
	Drops    []*truth.Drop
	Faults   []*truth.Fault
	Packets  map[uint64][]*Visit // by number, in the order of the switches
	Copies   map[uint64][]*Visit // the same, of those that switches made, from the switch that made them
	Reports  []*Report           // in the order of sending

	hostPorts map[[2]uint32]bool   // node and port behind which a host is
	rates     map[[2]uint32]uint64 // bit/s, of links by node and port
}

// A Visit is what one switch did with one packet: it left, or it was dropped there.
type Visit struct {
	Packet uint64
	CopyOf uint64 // 0: it is none
	Flow   uint32
	Index  int         // switches that it has passed before this one
	Hop    *truth.Hop  // nil if it was dropped
	Drop   *truth.Drop // nil if it left
}

// Node returns the switch.
func (v *Visit) Node() uint32 {
	if v.Hop != nil {
		return v.Hop.Node
	}
	return v.Drop.Node
}

// A Report is a telemetry report and the visit that it was sent in.
type Report struct {
	*truth.Report
	Visit *Visit // nil if time made the switch report
}

// Read reads a truth file in which every packet has hop records.
func Read(r io.Reader) (*Truth, error) {
	t := &Truth{
		Switches: map[uint32]*truth.Switch{}, Flows: map[uint32]*truth.Flow{}, Packets: map[uint64][]*Visit{},
		Copies:    map[uint64][]*Visit{},
		hostPorts: map[[2]uint32]bool{}, rates: map[[2]uint32]uint64{},
	}
	open := map[uint64][]*Report{} // reports of a packet whose visit is not known yet
	for records := truth.NewReader(r); ; {
		record, err := records.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		t.take(record, open)
	}
	switch {
	case t.Run.SamplePackets != 1:
		return nil, fmt.Errorf("hop records are of one packet in %d, want every one", t.Run.SamplePackets)
	case t.End.TimeNs == 0:
		return nil, errors.New("the truth has no end")
	case len(open) > 0:
		return nil, fmt.Errorf("%d packets were reported by a switch in which they still are", len(open))
	}
	return t, nil
}

func (t *Truth) take(record truth.Record, open map[uint64][]*Report) {
	switch r := record.(type) {
	case *truth.Run:
		t.Run = *r
	case *truth.End:
		t.End = *r
	case *truth.Switch:
		t.Switches[r.Node] = r
	case *truth.Host:
		t.hostPorts[[2]uint32{r.Node, r.Port}] = true
	case *truth.Flow:
		t.Flows[r.Flow] = r
	case *truth.Link:
		t.Links = append(t.Links, r)
		t.rates[[2]uint32{r.NodeA, r.PortA}], t.rates[[2]uint32{r.NodeB, r.PortB}] = r.RateBps, r.RateBps
	case *truth.Path:
		t.Paths = append(t.Paths, r)
	case *truth.Fault:
		t.Faults = append(t.Faults, r)
	case *truth.Report:
		report := &Report{Report: r}
		t.Reports = append(t.Reports, report)
		if r.Packet != 0 {
			open[r.Packet] = append(open[r.Packet], report)
		}
	case *truth.Hop:
		t.visit(&Visit{Packet: r.Packet, CopyOf: r.CopyOf, Flow: r.Flow, Hop: r}, open)
	case *truth.Drop:
		if r.CopyOf == 0 { // others are no packets of a flow
			t.Drops = append(t.Drops, r)
		}
		if r.Place != "host" && r.Place != "link" {
			t.visit(&Visit{Packet: r.Packet, CopyOf: r.CopyOf, Flow: r.Flow, Drop: r}, open)
		}
	}
}

// visit adds a visit. The reports that were sent in it stand in front of it in the file.
func (t *Truth) visit(v *Visit, open map[uint64][]*Report) {
	list := t.Packets
	if v.CopyOf != 0 {
		list = t.Copies
	}
	v.Index = len(list[v.Packet])
	list[v.Packet] = append(list[v.Packet], v)
	for _, r := range open[v.Packet] {
		r.Visit = v
	}
	delete(open, v.Packet)
}

// IsSink says whether a packet left the network where v is: its next element was a host.
func (t *Truth) IsSink(v *Visit) bool {
	return v.Hop != nil && t.hostPorts[[2]uint32{v.Hop.Node, v.Hop.Out}]
}
