//go:build linux

package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
)

// An action is something that happens at a moment of the scenario.
type action struct {
	at time.Duration
	do func(ctx context.Context) error
}

// schedule returns all that faults do, until the end of the scenario, by time.
func (l *Lab) schedule() (list []action) {
	add := func(at scenario.Duration, i int, f *scenario.Fault, begin bool) {
		if at < l.scenario.Duration {
			list = append(list, action{time.Duration(at), func(ctx context.Context) error {
				return l.fault(ctx, i, f, begin)
			}})
		}
	}
	for i := range l.scenario.Faults {
		f := &l.scenario.Faults[i]
		if cannot(f) != "" {
			continue
		}
		for at := f.At; at < l.scenario.Duration; at += f.Every {
			add(at, i, f, true)
			if f.For > 0 {
				add(at+f.For, i, f, false)
			}
			if f.LinkDown != nil {
				add(at+l.scenario.Routing.Reconvergence, i, f, true)
				list[len(list)-1].do = func(context.Context) error { return l.learn(i, f) }
				if f.For > 0 {
					list = append(list, action{
						time.Duration(at + f.For + l.scenario.Routing.Reconvergence),
						func(context.Context) error { return l.learn(i, f) },
					})
				}
			}
			if f.Every == 0 {
				break
			}
		}
	}
	slices.SortStableFunc(list, func(a, b action) int { return cmp.Compare(a.at, b.at) })
	return list
}

// tell writes a record of a fault, and logs it.
func (l *Lab) tell(atNs int64, i int, f *scenario.Fault, phase string) {
	r := &truth.Fault{TimeNs: atNs, Fault: i, Kind: f.Kind(), Phase: phase}
	node := func(name string) { r.Nodes = append(r.Nodes, l.routerNamed(name).Node) }
	switch {
	case f.LinkDown != nil:
		r.Link = l.linkBetween(f.LinkDown.Link).Name
	case f.GrayLink != nil:
		r.Link, r.Detail = l.linkBetween(f.GrayLink.Link).Name, fmt.Sprintf("%v lost", f.GrayLink.Drop)
	case f.Blackhole != nil:
		node(f.Blackhole.Node)
		r.Prefix = f.Blackhole.Prefix.String()
	case f.Loop != nil:
		for _, name := range f.Loop.Nodes {
			node(name)
		}
		r.Prefix = f.Loop.Prefix.String()
	case f.Buffer != nil:
		node(f.Buffer.Node)
	case f.NoINT != nil:
		node(f.NoINT.Node)
	case f.Mitigate != nil:
		node(f.Mitigate.Node)
	case f.DDoS != nil:
		r.Hosts = append(slices.Clone(f.DDoS.From), f.DDoS.To)
	}
	words := []any{"kind", r.Kind, "phase", phase, "at", time.Duration(r.TimeNs).Round(time.Millisecond).String()}
	for _, w := range []struct{ key, value string }{
		{"link", r.Link}, {"prefix", r.Prefix}, {"hosts", strings.Join(r.Hosts, " ")}, {"detail", r.Detail},
	} {
		if w.value != "" {
			words = append(words, w.key, w.value)
		}
	}
	for _, id := range r.Nodes {
		words = append(words, "node", l.routers[id-1].Name)
	}
	l.options.Log.Info("fault", words...)
	l.record(r)
}

// fault begins or ends a fault.
func (l *Lab) fault(ctx context.Context, i int, f *scenario.Fault, begin bool) (err error) {
	l.routing.Lock()
	defer l.routing.Unlock()
	change := func(all *[]override, o override) {
		if begin {
			*all = append(*all, o)
		} else {
			*all = slices.DeleteFunc(*all, func(p override) bool {
				return p.router == o.router && p.prefix == o.prefix
			})
		}
	}
	at := l.now() // a fault lasts from before the command that makes it until behind the one that ends it
	switch {
	case f.LinkDown != nil && begin:
		err = l.cut(l.linkBetween(f.LinkDown.Link), true)
	case f.LinkDown != nil:
		return l.mend(i, f, l.linkBetween(f.LinkDown.Link))
	case f.GrayLink != nil:
		share := 0.0
		if begin {
			share = float64(f.GrayLink.Drop)
		}
		err = l.linkBetween(f.GrayLink.Link).gray.lose(share)
	case f.Blackhole != nil:
		change(&l.overrides, override{l.routerNamed(f.Blackhole.Node), f.Blackhole.Prefix.Masked(), nil})
		err = l.converge()
	case f.Loop != nil:
		for k, name := range f.Loop.Nodes {
			next := f.Loop.Nodes[(k+1)%len(f.Loop.Nodes)]
			r, to := l.routerNamed(name), l.linkBetween(scenario.Ends{name, next})
			out := to.a
			if to.a.router != r {
				out = to.b
			}
			change(&l.overrides, override{r, f.Loop.Prefix.Masked(), []*port{out}})
		}
		err = l.converge()
	case f.Polarisation != nil:
		for _, r := range l.routers {
			salt := uint64(r.Node)
			if begin {
				salt = 0
			}
			if err = l.seed(r, salt); err != nil {
				break
			}
		}
	case f.Buffer != nil:
		err = l.resize(l.routerNamed(f.Buffer.Node), f.Buffer, begin)
	case f.NoINT != nil:
		r := l.routerNamed(f.NoINT.Node)
		if begin {
			err = l.stopNode(r)
		} else if r.INT && r.node == nil {
			err = l.startNode(r)
		}
	case f.Mitigate != nil:
		err = l.deny(i, f.Mitigate, begin)
	case f.DDoS != nil:
		if begin {
			until := l.scenario.Duration
			if f.For > 0 {
				until = min(until, scenario.Duration(l.now())+f.For)
			}
			l.flood(ctx, i, f.DDoS, time.Duration(until))
		}
	}
	if err != nil {
		return fmt.Errorf("faults[%d] %s: %w", i, f.Kind(), err)
	}
	phase := "start"
	if !begin {
		phase, at = "end", l.now()
	}
	l.tell(at, i, f, phase)
	return nil
}

// cut takes the carrier from both ends of a link, or gives it back.
func (l *Lab) cut(k *link, begin bool) error {
	state := "up"
	if begin {
		k.down++
		state = "down"
	} else if k.down--; k.down > 0 {
		return nil
	}
	var script strings.Builder
	n := k.a.ns()
	if k.gray != nil {
		n = l.wires
		fmt.Fprintf(&script, "link set dev %s %s\nlink set dev %s %[2]s\n", k.gray.names[0], state, k.gray.names[1])
	} else {
		fmt.Fprintf(&script, "link set dev %s %s\n", k.a.veth(), state)
	}
	if err := n.batch("ip", &script); err != nil {
		return err
	}
	return nil
}

// await waits until the kernel knows that a port has carrier or has not: it tells interfaces now and then only.
func (p *port) await(carrier bool) error {
	return p.ns().do(func() error {
		for start := time.Now(); ; time.Sleep(time.Millisecond) {
			i, err := net.InterfaceByName(p.device())
			if err != nil || (i.Flags&net.FlagRunning != 0) == carrier {
				return err
			}
			if time.Since(start) > 10*time.Second {
				return fmt.Errorf("the kernel has not noticed at %s of %s for 10 s", p.device(), p.name())
			}
		}
	})
}

// mend gives a link its carrier back. The fault is over when the kernel knows.
func (l *Lab) mend(i int, f *scenario.Fault, k *link) error {
	if err := l.cut(k, false); err != nil {
		return err
	}
	up := make(chan struct{})
	k.up = up
	l.talks.Go(func() {
		defer close(up)
		if err := errors.Join(k.a.await(true), k.b.await(true)); err != nil {
			l.failed("link "+k.Name, err)
		}
		l.tell(l.now(), i, f, "end")
	})
	return nil
}

// learn lets routes follow the state of a link, once the kernel knows.
func (l *Lab) learn(i int, f *scenario.Fault) error {
	k := l.linkBetween(f.LinkDown.Link)
	l.routing.Lock()
	up := k.up
	if k.down > 0 {
		up = nil
	}
	l.routing.Unlock()
	l.talks.Go(func() {
		if up != nil {
			<-up
		}
		l.routing.Lock()
		defer l.routing.Unlock()
		k.known = k.down == 0
		if err := l.converge(); err != nil {
			l.failed("routes", err)
		}
		l.tell(l.now(), i, f, "converged")
	})
	return nil
}

// resize gives the queues of a router other room.
func (l *Lab) resize(r *router, f *scenario.BufferFault, begin bool) error {
	var script strings.Builder
	for _, p := range r.ports {
		room := p.limit
		if begin {
			buffer, alpha := l.scenario.Switch.Buffer, l.scenario.Switch.Alpha
			if f.Buffer != 0 {
				buffer = f.Buffer
			}
			if f.Alpha != 0 {
				alpha = f.Alpha
			}
			room = roomOf(uint64(buffer), alpha)
		}
		fmt.Fprintf(&script, "qdisc change dev %s root %s\n", p.device(), p.tbf(room))
	}
	return r.ns.batch("tc", &script)
}

// deny puts a filter of nftables into a router, or takes it out.
func (l *Lab) deny(i int, m *scenario.Mitigate, begin bool) error {
	n := l.routerNamed(m.Node).ns
	table := fmt.Sprintf("inet fault%d", i)
	if !begin {
		return n.command("delete table "+table+"\n", "nft", "-f", "-")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "table %s {\n chain forward {\n  type filter hook forward priority 0\n", table)
	for _, v6 := range []bool{false, true} {
		from, fromAny := rule(v6, "saddr", m.From)
		to, toAny := rule(v6, "daddr", m.To)
		if !fromAny && from == "" || !toAny && to == "" {
			continue // none of this family
		}
		family := "ipv4"
		if v6 {
			family = "ipv6"
		}
		fmt.Fprintf(&b, "  meta nfproto %s %s %s %s counter drop\n", family, from, to, l4(m))
	}
	b.WriteString(" }\n}\n")
	return n.command(b.String(), "nft", "-f", "-")
}

// rule matches addresses of a family. any: the list is empty.
func rule(v6 bool, what string, prefixes []scenario.Prefix) (text string, any bool) {
	var list []string
	for _, p := range prefixes {
		if p.Addr().Is6() == v6 {
			list = append(list, p.Masked().String())
		}
	}
	if len(list) == 0 {
		return "", len(prefixes) == 0
	}
	family := "ip"
	if v6 {
		family = "ip6"
	}
	return fmt.Sprintf("%s %s { %s }", family, what, strings.Join(list, ", ")), false
}

func l4(m *scenario.Mitigate) string {
	switch {
	case m.Protocol != "" && m.Port != 0:
		return fmt.Sprintf("%s dport %d", m.Protocol, m.Port)
	case m.Protocol != "":
		return "meta l4proto " + m.Protocol
	case m.Port != 0:
		return fmt.Sprintf("th dport %d", m.Port)
	}
	return ""
}

// matches says whether a filter is about a packet.
func matches(m *scenario.Mitigate, f *flow) bool {
	within := func(prefixes []scenario.Prefix, a netip.Addr) bool {
		return len(prefixes) == 0 ||
			slices.ContainsFunc(prefixes, func(p scenario.Prefix) bool { return p.Contains(a) })
	}
	return within(m.From, f.src.Addr()) && within(m.To, f.dst.Addr()) &&
		(m.Port == 0 || uint16(m.Port) == f.dst.Port()) && (m.Protocol == "" || (m.Protocol == "udp") == f.udp)
}
