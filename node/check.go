package node

import (
	"math"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/event"
	"github.com/waybill-int/waybill/node/ioam"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/wire/inband"
)

// A plan is what a Config comes to, whatever the switch.
type plan struct {
	domains
	roles
	mode         watch.Mode
	instructions watch.Instructions
	leastHops    uint8
	flows, drops watchlist

	request func(traceType uint32) (ioam.Request, string)
}

// roles are what may be different at each node.
type roles struct {
	acceptEdge bool          // packets from edges may have INT
	form       sinkForm      // where the sink's own metadata go
	pop        bool          // report the stack if a record does not fit
	omit       inband.Fields // metadata that the node does not know
	data       domainData
}

// A sinkForm is a way in which a sink reports its own metadata (TR 2.0 §3.4).
type sinkForm uint8

const (
	inReport sinkForm = iota
	inStack
	separate
)

var (
	sinkForms = map[string]sinkForm{"in_report": inReport, "in_stack": inStack, "separate": separate}
	edgeWords = map[string]bool{"drop": false, "accept": true}
	mtuWords  = map[string]bool{"mark": false, "report": true}
)

// check works out what c comes to, and returns the rules that it breaks, whatever the switch.
func (c *Config) check() (p plan, wrong problems) {
	p = c.plan(&wrong)
	c.checkEvents(&wrong)
	c.checkReports(&wrong, &p)
	return p, wrong
}

// plan works out what c comes to.
func (c *Config) plan(wrong *problems) plan {
	p := plan{domains: c.domains(wrong), request: c.request}
	p.mode, p.leastHops = choose(wrong, "mode", c.Mode, modes), c.LeastHops
	if c.LeastHops > 0 && (p.inside.Carrier != embed.Geneve || c.LeastHops > c.MaxHops) {
		wrong.say("least_hops", "got %d with carrier %s, want at most max_hops, with geneve", c.LeastHops, c.carrier())
	}
	choose(wrong, "ioam.option", c.IOAM.Option, ioamOptions)
	p.instructions = c.set(wrong, "instructions", c.Instructions)
	if len(c.Instructions) == 0 {
		_, missing := usualInstructions.Bitmap(p.inside.Version)
		p.instructions = usualInstructions &^ missing
	}
	p.roles, p.data = c.roles(wrong, ""), c.domainData(wrong, "", &p.domains)
	for name := range c.Nodes {
		one := c.at(name)
		one.roles(wrong, "nodes."+name+".")
		one.domainData(wrong, "nodes."+name+".", &p.domains)
		one.checkHWID(wrong, "nodes."+name+".hw_id")
	}
	if len(*wrong) > 0 {
		return p
	}
	if _, text := p.demand(p.mode, p.instructions); text != "" {
		place, rule, _ := strings.Cut(text, ": ")
		wrong.say(place, "%s", rule)
		return p
	}
	p.flows = p.compile(wrong, "watch", c.Watch)
	p.drops = p.compile(wrong, "drops", c.Drops)
	return p
}

func (c *Config) roles(wrong *problems, place string) roles {
	r := roles{
		acceptEdge: choose(wrong, place+"edge_int", c.EdgeINT, edgeWords),
		form:       choose(wrong, place+"sink", c.Sink, sinkForms),
		pop:        choose(wrong, place+"mtu", c.MTU, mtuWords),
		omit:       fieldsOf(c.set(wrong, place+"omit", c.Omit)),
	}
	switch {
	case r.pop && c.Version != "2.1":
		wrong.say(place+"mtu", "got report in version %s, want mark: intermediate reports are of INT 2.1", c.Version)
	case r.pop && c.Reports.Format != "2.0":
		wrong.say(place+"mtu", "got report with reports of format %s, want mark: only 2.0 has intermediate reports",
			c.Reports.Format)
	}
	if new := c.Version == "2.0" || c.Version == "2.1"; c.Clone && (!new || c.Mode != "md" && c.Mode != "mx") {
		wrong.say(place+"clone", "got true in version %s, mode %s; clones are of 2.x, md and mx", c.Version, c.Mode)
	} else if c.DSMark != 0 && !new {
		wrong.say(place+"ds_mark", "got %#04x in version %s; DS Flags are of 2.x", c.DSMark, c.Version)
	}
	if old := c.Version == "2016" || c.Version == "0.5"; c.SlowPath && !old {
		wrong.say(place+"slow_path", "got true in version %s; follow-up packets are of 2016 and 0.5", c.Version)
	} else if c.Replicate && !old && c.Version != "1.0" {
		wrong.say(place+"replicate", "got true in version %s; copies are of 2016 to 1.0", c.Version)
	}
	return r
}

// set reads a list of instructions.
func (*Config) set(wrong *problems, place string, list []string) (all watch.Instructions) {
	for i, w := range list {
		one, err := watch.ParseInstruction(string(w))
		if err != nil {
			wrong.say(indexed(place, i), "%s", err)
		}
		all |= one
	}
	return all
}

func indexed(place string, i int) string { return place + "[" + strconv.Itoa(i) + "]" }

func (c *Config) checkEvents(wrong *problems) {
	c.Events.check(wrong, "events")
	if c.DropEvents != nil {
		c.DropEvents.check(wrong, "drop_events")
	}
	for i := range c.Queues {
		if q := &c.Queues[i]; max(q.Trigger, q.Reset) > math.MaxUint32 {
			wrong.say(indexed("queues", i), "got %s, want less than 4 GiB", max(q.Trigger, q.Reset))
			continue
		}
		if _, err := event.NewCongestion(0, []event.Threshold{c.Queues[i].threshold()}); err != nil {
			wrong.say(indexed("queues", i), "%s", strings.TrimPrefix(err.Error(), "queue 0: "))
		}
	}
}

// check checks e without making a table of its size.
func (e *Events) check(wrong *problems, place string) {
	const least, most = 16, 1 << 24
	if e.Flows < least || e.Flows > most {
		wrong.say(place+".flows", "got %d, want %d to %d", e.Flows, least, most)
	}
	small := e.config(0)
	small.Flows = least
	if _, err := event.New(small); err != nil {
		wrong.say(place, "%s", err)
	}
}
