package node

import (
	"fmt"

	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/wire/inband"
)

// Watchlists are what a node watches: the flow watchlist and the drop watchlist (TR 2.0 §2).
type Watchlists struct {
	Flows, Drops []watch.Entry
}

// A watchlist is a compiled one, with what its entries come to in the domain.
type watchlist struct {
	list    *watch.List
	demands []demand // by index of the entry
}

// A demand is the metadata that an entry asks for.
type demand struct {
	mode     watch.Mode // never ModeDefault
	bitmap   uint16     // Instruction Bitmap of what a source inserts
	sets     []uint16   // by turns, instead of bitmap; nil: all in each packet
	metadata uint16     // RepMdBits of what a node reports of itself

	traceType uint32 // IOAM-Trace-Type of what a source inserts
}

// compile makes a watchlist of entries. place is where they stand in the file.
func (p *plan) compile(wrong *problems, place string, entries []watch.Entry) watchlist {
	list, err := watch.Compile(entries)
	if err != nil {
		for _, one := range err.(interface{ Unwrap() []error }).Unwrap() {
			e := one.(*watch.EntryError)
			wrong.say(indexed(place, e.Index), "%s", e.Err)
		}
		return watchlist{}
	}
	w := watchlist{list: list, demands: make([]demand, len(entries))}
	for i := range entries {
		e := &entries[i]
		if e.Ignore {
			continue
		}
		mode, instructions := e.Mode, e.Instructions
		if mode == watch.ModeDefault {
			mode = p.mode
		}
		if instructions == 0 {
			instructions = p.instructions
		}
		d, err := p.demand(mode, instructions)
		if err != "" {
			wrong.say(indexed(place, i), "%s", err)
		}
		w.demands[i] = d
	}
	return w
}

// demand works out what instructions come to in a mode. The text says why they cannot be.
func (p *plan) demand(mode watch.Mode, instructions watch.Instructions) (d demand, wrong string) {
	d.mode = mode
	d.metadata, _ = (instructions &^ (watch.NodeID | watch.ChecksumComplement)).Bitmap(inband.Version20)
	if mode == watch.ModeXD {
		return d, ""
	}
	domain := &p.inside
	switch {
	case mode == watch.ModeIOAM && p.mode != watch.ModeIOAM:
		return d, "mode: got ioam in a domain of mode " + p.mode.String()
	case mode == watch.ModeIOAM:
		return p.demandIOAM(d, instructions)
	case domain.Mode == embed.XD:
		return d, "mode: got " + mode.String() + " in a domain of mode " + p.mode.String() + ", where no packet has INT"
	case mode == watch.ModeMX && !p.hasMX:
		return d, "mode: only INT 2.x has mx"
	case mode == watch.ModeMX:
		domain = &p.mx
		instructions &^= watch.ChecksumComplement
	}
	bitmap, missing := instructions.Bitmap(domain.Version)
	if missing != 0 {
		return d, "instructions: this version does not have " + missing.String()
	}
	d.bitmap = bitmap
	if err := domain.CheckInstruction(&embed.Instruction{Bitmap: bitmap}); err != nil {
		return d, "instructions: " + err.Error()
	}
	if mode == watch.ModeMD && p.leastHops > 0 {
		if d.sets = p.spread(bitmap); d.sets == nil {
			return d, fmt.Sprintf("instructions: %d records do not fit an option of Geneve, whatever is left out",
				p.leastHops)
		}
	}
	return d, ""
}

// everyPacket are the instructions that stay in every packet when others are spread over packets: without them nobody
// could say what the packets have in common. They are node id, level 1 interfaces (in 2016 bits 1 and 5), the latency
// that events are found by, and the complement.
func everyPacket(v inband.Version) uint16 {
	if v == inband.Version2016 {
		return 0xE400
	}
	return 0xE001
}

// spread returns sets of the instructions of bitmap that have nothing else in common, each with room for the least
// number of records (INT 2016 §5.3.1); nil if there are none.
func (p *plan) spread(bitmap uint16) (sets []uint16) {
	fits := func(set uint16) bool {
		return p.inside.Hops(&embed.Instruction{Bitmap: set, MaxHops: p.leastHops}) == int(p.leastHops)
	}
	always := bitmap & everyPacket(p.inside.Version)
	set := always
	for bit := uint16(0x8000); bit != 0; bit >>= 1 {
		switch {
		case bitmap&^always&bit == 0:
		case fits(set | bit):
			set |= bit
		case fits(always | bit):
			sets = append(sets, set)
			set = always | bit
		default:
			return nil
		}
	}
	if !fits(set) {
		return nil
	}
	return append(sets, set)
}

// demandIOAM works out what instructions come to in an IOAM domain.
func (p *plan) demandIOAM(d demand, instructions watch.Instructions) (_ demand, wrong string) {
	var missing watch.Instructions
	if d.traceType, missing = traceType(instructions); missing != 0 {
		return d, "instructions: IOAM does not have " + missing.String()
	}
	if _, text := p.request(d.traceType); text != "" {
		return d, "instructions: " + text
	}
	d.metadata = traceMetadata(d.traceType)
	return d, ""
}
