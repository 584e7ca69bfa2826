package watch

import (
	"strings"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/wire/inband"
)

// Instructions is a set of metadata to ask for, whatever the INT version.
type Instructions uint16

// The instructions.
const (
	NodeID Instructions = 1 << iota
	L1Interfaces
	HopLatency
	Queue // queue id and occupancy; June 2016: occupancy
	IngressTS
	EgressTS
	L2Interfaces
	QueueCongestion
	EgressTxUtil
	Buffer
	ChecksumComplement

	allInstructions Instructions = 1<<iota - 1
)

// instructions has a row for each instruction, in the order of the constants: its name, and its mask in the Instruction
// Bitmap of each version, 0 if the version does not have it.
var instructions = [...]struct {
	name string
	bits [inband.Version20 + 1]uint16
}{
	{"node_id", versions{0x8000, 0x8000, 0x8000, 0x8000}.bits()},
	{"l1_interfaces", versions{0x4400, 0x4000, 0x4000, 0x4000}.bits()},
	{"hop_latency", versions{0x2000, 0x2000, 0x2000, 0x2000}.bits()},
	{"queue", versions{0x1000, 0x1000, 0x1000, 0x1000}.bits()},
	{"ingress_ts", versions{0x0800, 0x0800, 0x0800, 0x0800}.bits()},
	{"egress_ts", versions{0, 0x0400, 0x0400, 0x0400}.bits()},
	{"l2_interfaces", versions{0, 0, 0x0200, 0x0200}.bits()},
	{"queue_congestion", versions{0x0200, 0x0200, 0, 0}.bits()},
	{"egress_tx_util", versions{0x0100, 0x0100, 0x0100, 0x0100}.bits()},
	{"buffer", versions{0, 0, 0, 0x0080}.bits()},
	{"checksum_complement", versions{0, 0, 0x0001, 0x0001}.bits()},
}

// versions are masks in INT of June 2016 (§5.3.3), 0.5 (§5.3.4), 1.0 (§4.7), and 2.x (INT 2.1 §5.8).
type versions struct{ v2016, v05, v10, v20 uint16 }

func (v versions) bits() (b [inband.Version20 + 1]uint16) {
	b[inband.Version2016], b[inband.Version05], b[inband.Version10], b[inband.Version20] = v.v2016, v.v05, v.v10, v.v20
	return b
}

// Bitmap returns i as the Instruction Bitmap of a version, and those instructions that the version does not have.
func (i Instructions) Bitmap(v inband.Version) (bitmap uint16, missing Instructions) {
	if v > inband.Version20 {
		return 0, i
	}
	for n := range instructions {
		if one := Instructions(1) << n; i&one != 0 {
			bit := instructions[n].bits[v]
			bitmap |= bit
			if bit == 0 {
				missing |= one
			}
		}
	}
	return bitmap, missing
}

// ParseInstruction reads the name of one instruction.
func ParseInstruction(text string) (Instructions, error) {
	n, err := find(instructionNames(allInstructions), text)
	if err != nil {
		return 0, err
	}
	return 1 << n, nil
}

// UnmarshalConf reads a list of names.
func (i *Instructions) UnmarshalConf(v conf.Value) {
	items, ok := v.List()
	if !ok {
		v.Say("want a list of names, for example [node_id, hop_latency]")
	}
	for _, item := range items {
		text, _ := item.Text()
		one, err := ParseInstruction(text)
		switch {
		case err != nil:
			item.Say("got %q, %s", text, err)
		case *i&one != 0:
			item.Say("got %s twice", one)
		}
		*i |= one
	}
}

// instructionNames returns the names of i, in the order of the constants.
func instructionNames(i Instructions) []string {
	var names []string
	for n := range instructions {
		if i&(1<<n) != 0 {
			names = append(names, instructions[n].name)
		}
	}
	return names
}

// String returns the names of i, separated by commas.
func (i Instructions) String() string { return strings.Join(instructionNames(i), ",") }

// MarshalYAML returns a list of the names of i.
func (i Instructions) MarshalYAML() (any, error) { return instructionNames(i), nil }
