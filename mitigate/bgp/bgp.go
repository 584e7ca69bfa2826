// Package bgp lets routers drop packets: by FlowSpec (RFC 8955, RFC 8956) of some flows, by RTBH (RFC 5635, RFC 7999)
// of all that goes to an address. A Speaker has a session with each router, and announces the rules that hold to all of
// them. When a session is lost the router forgets its routes, and gets them again with the next session.
package bgp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/osrg/gobgp/v4/api"
	"github.com/osrg/gobgp/v4/pkg/apiutil"
	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
	"github.com/osrg/gobgp/v4/pkg/server"

	"github.com/waybill-int/waybill/mitigate"
	"github.com/waybill-int/waybill/telemetry"
)

// A Config says who speaks, and with whom.
type Config struct {
	AS       uint32
	RouterID netip.Addr // of IPv4
	Local    netip.Addr // that sessions come from; zero: any
	Hold     time.Duration
	Peers    []Peer
	// NextHop and NextHop6 are those of RTBH. Routers must have a blackhole route for them.
	NextHop, NextHop6 netip.Addr
}

// A Peer is a router.
type Peer struct {
	Address  netip.Addr
	Port     uint16 // 0: 179
	AS       uint32
	Password string // of TCP MD5; "": none
	Multihop uint8  // TTL of an external session with a router that is not next to this machine; 0: it is
	FlowSpec bool
	RTBH     bool
}

// A Speaker has sessions with routers.
type Speaker struct {
	server *server.BgpServer
	config Config
	cancel context.CancelFunc

	mu      sync.Mutex
	peers   map[netip.Addr]*peer
	changed chan struct{} // closed and replaced when a session changes
}

// A peer is what is known of a session.
type peer struct {
	Peer
	up       bool
	flowSpec [2]bool // what the router takes: of IPv4 and IPv6
	why      string  // it is down
}

// Open begins to connect to all peers. Errors are of the configuration only.
func Open(c Config, log *slog.Logger) (*Speaker, error) {
	// The library logs what is no news to an operator, and not what is.
	s := &Speaker{config: c, peers: map[netip.Addr]*peer{}, changed: make(chan struct{})}
	s.server = server.NewBgpServer(server.LoggerOption(slog.New(slog.DiscardHandler), new(slog.LevelVar)))
	go s.server.Serve()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	err := s.server.StartBgp(ctx, &api.StartBgpRequest{Global: &api.Global{
		Asn: c.AS, RouterId: c.RouterID.String(), ListenPort: -1,
	}})
	if err == nil {
		err = s.server.WatchEvent(ctx, server.WatchEventMessageCallbacks{
			OnPeerUpdate: func(e *apiutil.WatchEventMessage_PeerEvent, _ time.Time) { s.note(e, log) },
		}, server.WatchPeer())
	}
	for i := range c.Peers {
		if err != nil {
			break
		}
		p := c.Peers[i]
		s.peers[p.Address] = &peer{Peer: p, why: "not connected yet"}
		if err = s.server.AddPeer(ctx, &api.AddPeerRequest{Peer: s.peerOf(&p)}); err != nil {
			err = fmt.Errorf("peer %v: %w", p.Address, err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Speaker) peerOf(p *Peer) *api.Peer {
	hold := uint64(s.config.Hold / time.Second)
	of := &api.Peer{
		Conf: &api.PeerConf{
			NeighborAddress: p.Address.String(), PeerAsn: p.AS, AuthPassword: p.Password,
		},
		Transport: &api.Transport{RemotePort: uint32(p.Port)},
		Timers: &api.Timers{Config: &api.TimersConfig{
			HoldTime: hold, KeepaliveInterval: hold / 3, ConnectRetry: 5, IdleHoldTimeAfterReset: 2,
		}},
	}
	if p.Port == 0 {
		of.Transport.RemotePort = 179
	}
	if s.config.Local.IsValid() {
		of.Transport.LocalAddress = s.config.Local.String()
	}
	if p.Multihop > 0 {
		of.EbgpMultihop = &api.EbgpMultihop{Enabled: true, MultihopTtl: uint32(p.Multihop)}
	}
	for _, f := range []struct {
		wanted bool
		afi    api.Family_Afi
		safi   api.Family_Safi
	}{
		{p.RTBH, api.Family_AFI_IP, api.Family_SAFI_UNICAST},
		{p.RTBH, api.Family_AFI_IP6, api.Family_SAFI_UNICAST},
		{p.FlowSpec, api.Family_AFI_IP, api.Family_SAFI_FLOW_SPEC_UNICAST},
		{p.FlowSpec, api.Family_AFI_IP6, api.Family_SAFI_FLOW_SPEC_UNICAST},
	} {
		if f.wanted {
			of.AfiSafis = append(of.AfiSafis, &api.AfiSafi{Config: &api.AfiSafiConfig{
				Family: &api.Family{Afi: f.afi, Safi: f.safi}, Enabled: true,
			}})
		}
	}
	return of
}

// note takes what became of a session.
func (s *Speaker) note(e *apiutil.WatchEventMessage_PeerEvent, log *slog.Logger) {
	if e.Type != apiutil.PEER_EVENT_STATE && e.Type != apiutil.PEER_EVENT_INIT {
		return
	}
	state := &e.Peer.State
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.peers[state.NeighborAddress]
	if p == nil {
		return
	}
	wasUp := p.up
	p.up = state.SessionState == bgp.BGP_FSM_ESTABLISHED
	switch {
	case p.up:
		p.why, p.flowSpec = "", [2]bool{}
		for _, c := range state.RemoteCap {
			if m, ok := c.(*bgp.CapMultiProtocol); ok {
				p.flowSpec[0] = p.flowSpec[0] || m.CapValue == bgp.RF_FS_IPv4_UC
				p.flowSpec[1] = p.flowSpec[1] || m.CapValue == bgp.RF_FS_IPv6_UC
			}
		}
		log.Info("BGP session established", "peer", p.Address)
	case wasUp:
		p.why = fmt.Sprintf("the session is lost: %v %s", state.DisconnectReason, state.DisconnectMessage)
		log.Warn("BGP session lost", "peer", p.Address, "reason", state.DisconnectReason, "message",
			state.DisconnectMessage)
	case state.DisconnectReason != api.PeerState_DISCONNECT_REASON_UNSPECIFIED:
		p.why = fmt.Sprintf("no session: %v %s", state.DisconnectReason, state.DisconnectMessage)
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// patience is how long Apply waits for sessions that are not up yet.
const patience = 5 * time.Second

// ready waits until every router that must get a rule can, or returns why one cannot.
func (s *Speaker) ready(ctx context.Context, wants func(*Peer) bool, takes func(*peer) error) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		s.mu.Lock()
		changed, err := s.changed, s.problem(wants)
		if err == nil {
			for _, p := range s.peers {
				if wants(&p.Peer) {
					err = errors.Join(err, takes(p))
				}
			}
			s.mu.Unlock()
			return err
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-timer.C:
			return err
		case <-ctx.Done():
			return err
		}
	}
}

// problem returns why routers do not have the rules. Call it with the lock held.
func (s *Speaker) problem(wants func(*Peer) bool) error {
	var errs []error
	for _, a := range slices.SortedFunc(maps.Keys(s.peers), netip.Addr.Compare) {
		if p := s.peers[a]; wants(&p.Peer) && !p.up {
			errs = append(errs, fmt.Errorf("router %v: %s", a, p.why))
		}
	}
	return errors.Join(errs...)
}

// Close ends all sessions, and routers forget the routes.
func (s *Speaker) Close() error {
	err := s.server.StopBgp(context.Background(), &api.StopBgpRequest{})
	s.cancel()
	s.server.Stop()
	return err
}

// An actor announces rules of one kind.
type actor struct {
	*Speaker
	can   mitigate.Abilities
	wants func(*Peer) bool
	takes func(*peer, bool) error // whether a router takes rules of IPv6
	path  func(*telemetry.MitigationRule) (*apiutil.Path, error)
}

// FlowSpec returns what lets routers drop by FlowSpec, or nil if no peer shall.
func (s *Speaker) FlowSpec() mitigate.Actor {
	return s.actor(&actor{
		can:   mitigate.Abilities{Session: true},
		wants: func(p *Peer) bool { return p.FlowSpec },
		takes: func(p *peer, ipv6 bool) error {
			at, family := 0, "IPv4"
			if ipv6 {
				at, family = 1, "IPv6"
			}
			if p.flowSpec[at] {
				return nil
			}
			return fmt.Errorf("router %v does not take FlowSpec of %s; configure it there, or leave flowspec out of the peer",
				p.Address, family)
		},
		path: flowSpec,
	})
}

// RTBH returns what lets routers drop all that goes to an address, or nil if no peer shall.
func (s *Speaker) RTBH() mitigate.Actor {
	return s.actor(&actor{
		can:   mitigate.Abilities{Everything: true, Session: true},
		wants: func(p *Peer) bool { return p.RTBH },
		takes: func(*peer, bool) error { return nil },
		path:  s.blackhole,
	})
}

func (s *Speaker) actor(a *actor) mitigate.Actor {
	if !slices.ContainsFunc(s.config.Peers, func(p Peer) bool { return a.wants(&p) }) {
		return nil
	}
	a.Speaker = s
	return a
}

// Abilities implements mitigate.Actor.
func (a *actor) Abilities() mitigate.Abilities { return a.can }

// Close implements mitigate.Actor. The Speaker is closed by who opened it.
func (a *actor) Close() error { return nil }

// Problem implements mitigate.Actor.
func (a *actor) Problem() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.problem(a.wants)
}

// Apply implements mitigate.Actor. Every router must be there and take the rules, or none gets any.
func (a *actor) Apply(ctx context.Context, rules []telemetry.MitigationRule) error {
	paths, err := a.paths(rules)
	if err != nil {
		return err
	}
	err = a.ready(ctx, a.wants, func(p *peer) (err error) {
		for i := range rules {
			_, target := rules[i].Prefixes()
			if err = a.takes(p, target.Addr().Is6()); err != nil {
				break
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	answers, err := a.server.AddPath(apiutil.AddPathRequest{Paths: paths})
	for _, one := range answers {
		err = errors.Join(err, one.Error)
	}
	if err != nil {
		return errors.Join(err, a.Withdraw(ctx, rules))
	}
	return nil
}

// Withdraw implements mitigate.Actor. Routers without a session have forgotten the routes, and do not get them again.
func (a *actor) Withdraw(_ context.Context, rules []telemetry.MitigationRule) error {
	paths, err := a.paths(rules)
	if err != nil {
		return err
	}
	return a.server.DeletePath(apiutil.DeletePathRequest{Paths: paths})
}

func (a *actor) paths(rules []telemetry.MitigationRule) (paths []*apiutil.Path, err error) {
	for i := range rules {
		p, err := a.path(&rules[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rules[i].Text, err)
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// protocols are the numbers of those that rules name.
var protocols = map[string]uint64{"icmp": 1, "tcp": 6, "udp": 17, "icmpv6": 58}

// flowSpec returns the route of a rule whose packets are dropped: traffic-rate 0 (RFC 8955 §7.3).
func flowSpec(r *telemetry.MitigationRule) (*apiutil.Path, error) {
	source, target := r.Prefixes()
	family := bgp.RF_FS_IPv4_UC
	if target.Addr().Is6() {
		family = bgp.RF_FS_IPv6_UC
	}
	var parts []bgp.FlowSpecComponentInterface // in the order of their types
	for i, p := range []netip.Prefix{target, source} {
		if !p.IsValid() {
			continue
		}
		prefix, err := bgp.NewIPAddrPrefix(p)
		switch {
		case err != nil:
			return nil, err
		case i == 0 && target.Addr().Is6():
			parts = append(parts, bgp.NewFlowSpecDestinationPrefix6(prefix, 0))
		case i == 0:
			parts = append(parts, bgp.NewFlowSpecDestinationPrefix(prefix))
		case target.Addr().Is6():
			parts = append(parts, bgp.NewFlowSpecSourcePrefix6(prefix, 0))
		default:
			parts = append(parts, bgp.NewFlowSpecSourcePrefix(prefix))
		}
	}
	is := func(kind bgp.BGPFlowSpecType, value uint64) {
		parts = append(parts, bgp.NewFlowSpecComponent(kind, []*bgp.FlowSpecComponentItem{
			bgp.NewFlowSpecComponentItem(uint8(bgp.DEC_NUM_OP_EQ), value),
		}))
	}
	if r.Protocol != "" {
		is(bgp.FLOW_SPEC_TYPE_IP_PROTO, protocols[r.Protocol])
	}
	if r.Port != 0 {
		is(bgp.FLOW_SPEC_TYPE_DST_PORT, uint64(r.Port))
	}
	nlri, err := bgp.NewFlowSpecUnicast(family, parts)
	if err != nil {
		return nil, err
	}
	reach, err := bgp.NewPathAttributeMpReachNLRI(family, []bgp.PathNLRI{{NLRI: nlri}}, netip.IPv4Unspecified())
	if err != nil {
		return nil, err
	}
	return &apiutil.Path{Family: family, Nlri: nlri, Attrs: []bgp.PathAttributeInterface{
		bgp.NewPathAttributeOrigin(0), reach,
		bgp.NewPathAttributeExtendedCommunities([]bgp.ExtendedCommunityInterface{bgp.NewTrafficRateExtended(0, 0)}),
	}}, nil
}

// Communities of RTBH: BLACKHOLE (RFC 7999), and NO_EXPORT, as it is nobody's business outside.
const (
	blackhole = 65535<<16 | 666
	noExport  = 0xFFFFFF01
)

func (s *Speaker) blackhole(r *telemetry.MitigationRule) (*apiutil.Path, error) {
	_, target := r.Prefixes()
	nlri, err := bgp.NewIPAddrPrefix(target)
	if err != nil {
		return nil, err
	}
	attributes := []bgp.PathAttributeInterface{
		bgp.NewPathAttributeOrigin(0), bgp.NewPathAttributeCommunities([]uint32{blackhole, noExport}),
	}
	family, hop := bgp.RF_IPv4_UC, s.config.NextHop
	if target.Addr().Is6() {
		family, hop = bgp.RF_IPv6_UC, s.config.NextHop6
	}
	if !hop.IsValid() {
		return nil, fmt.Errorf("no next hop of RTBH for %v is configured", target)
	}
	if target.Addr().Is6() {
		reach, err := bgp.NewPathAttributeMpReachNLRI(family, []bgp.PathNLRI{{NLRI: nlri}}, hop)
		if err != nil {
			return nil, err
		}
		attributes = append(attributes, reach)
	} else {
		next, err := bgp.NewPathAttributeNextHop(hop)
		if err != nil {
			return nil, err
		}
		attributes = append(attributes, next)
	}
	return &apiutil.Path{Family: family, Nlri: nlri, Attrs: attributes}, nil
}
