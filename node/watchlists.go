package node

import (
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
	return d, ""
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
