package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/mitigate"
	"github.com/waybill-int/waybill/mitigate/bgp"
	"github.com/waybill-int/waybill/telemetry"
)

// mitigationSettings say what may be done about attacks, and by whom.
type mitigationSettings struct {
	Default   string             `yaml:"default,omitempty" reload:"yes" doc:"who drops if nobody says: node, flowspec, rtbh or webhook; not needed if there is one only"`
	For       unit.Duration      `yaml:"for" reload:"yes" doc:"how long rules hold, if nobody says; at most 7d"`
	MaxRules  int                `yaml:"max_rules" reload:"yes" doc:"how many rules hold at a time"`
	MaxShare  unit.Share         `yaml:"max_share" reload:"yes" doc:"which part of all traffic attacks that are mitigated may be, together"`
	Safe      []unit.Prefix      `yaml:"safe,omitempty" reload:"yes" doc:"addresses and prefixes that are never the target or the source of a rule"`
	Automatic *automaticSettings `yaml:"automatic,omitempty" reload:"yes" doc:"mitigate attacks without anybody asking; missing: a person does"`
	Nodes     []mitigationNode   `yaml:"nodes,omitempty" doc:"node: INT nodes that drop at the gateway next to a device"`
	BGP       *mitigationBGP     `yaml:"bgp,omitempty" doc:"flowspec and rtbh: routers that get the rules by BGP"`
	Webhook   *mitigationWebhook `yaml:"webhook,omitempty" doc:"webhook: a program that gets the rules"`
}

// automaticSettings say which attacks are mitigated without anybody asking.
type automaticSettings struct {
	By        string        `yaml:"by,omitempty" doc:"who drops; missing: that of default"`
	After     unit.Duration `yaml:"after,omitempty" doc:"how long an attack must have been active"`
	Exporters int           `yaml:"exporters,omitempty" doc:"1, or 2: how many exporters must tell of each of its devices, or addresses"`
}

// mitigationNode is a node that drops.
type mitigationNode struct {
	Node      uint32 `yaml:"node" doc:"its id in reports"`
	URL       string `yaml:"url,omitempty" doc:"its API: https://HOST:PORT, or http://"`
	Socket    string `yaml:"socket,omitempty" doc:"its API on this machine, such as /run/waybill/node-1.sock"`
	TokenFile string `yaml:"token_file,omitempty" doc:"file with the token that it asks for"`
	CA        string `yaml:"ca,omitempty" doc:"file of certificates to trust instead of those of the system"`
}

// mitigationBGP says which routers drop.
type mitigationBGP struct {
	AS       uint32        `yaml:"as" doc:"number of the autonomous system of this server"`
	RouterID netip.Addr    `yaml:"router_id" doc:"its BGP identifier, as an IPv4 address"`
	Local    netip.Addr    `yaml:"local,omitempty" doc:"address that sessions come from; missing: any"`
	Hold     unit.Duration `yaml:"hold,omitempty" doc:"after how long without a message a session is lost, at least 3s; missing: 9s"`
	NextHop  netip.Addr    `yaml:"next_hop,omitempty" doc:"of rtbh and IPv4: an address for which routers have a blackhole route"`
	NextHop6 netip.Addr    `yaml:"next_hop6,omitempty" doc:"of rtbh and IPv6"`
	Peers    []bgpPeer     `yaml:"peers" doc:"the routers"`
}

// bgpPeer is a router.
type bgpPeer struct {
	Address      netip.Addr `yaml:"address" doc:"of the router"`
	Port         uint16     `yaml:"port,omitempty" doc:"missing: 179"`
	AS           uint32     `yaml:"as" doc:"number of its autonomous system"`
	PasswordFile string     `yaml:"password_file,omitempty" doc:"file with the password of the session (TCP MD5)"`
	Multihop     uint8      `yaml:"multihop,omitempty" doc:"TTL of an external session with a router that is not next to this machine"`
	FlowSpec     bool       `yaml:"flowspec,omitempty" doc:"it gets rules by FlowSpec"`
	RTBH         bool       `yaml:"rtbh,omitempty" doc:"it gets blackhole routes"`
}

// mitigationWebhook is a program that gets rules.
type mitigationWebhook struct {
	URL         string            `yaml:"url" doc:"where rules are posted to"`
	Headers     map[string]string `yaml:"headers,omitempty" doc:"headers of each request"`
	SecretFile  string            `yaml:"secret_file" doc:"file with what requests are signed with, at least 16 bytes"`
	Timeout     *unit.Duration    `yaml:"timeout,omitempty" doc:"how long a request may take"`
	CA          string            `yaml:"ca,omitempty" doc:"file of certificates to trust instead of those of the system"`
	Template    string            `yaml:"template,omitempty" doc:"rules, or transparent-security for the REST call of its SDN controller"`
	DropReports bool              `yaml:"drop_reports,omitempty" doc:"what it drops is told to this server by drop reports: then rules end with the attack"`
}

const (
	templateRules = "rules"
	templateTS    = "transparent-security"
)

func defaultMitigationSettings() mitigationSettings {
	return mitigationSettings{For: unit.Duration(time.Hour), MaxRules: 256, MaxShare: 0.9}
}

// actors are the names of those that are configured.
func (m *mitigationSettings) actors() (names []string) {
	if len(m.Nodes) > 0 {
		names = append(names, "node")
	}
	if b := m.BGP; b != nil {
		if slices.ContainsFunc(b.Peers, func(p bgpPeer) bool { return p.FlowSpec }) {
			names = append(names, "flowspec")
		}
		if slices.ContainsFunc(b.Peers, func(p bgpPeer) bool { return p.RTBH }) {
			names = append(names, "rtbh")
		}
	}
	if m.Webhook != nil {
		names = append(names, "webhook")
	}
	return names
}

func (m *mitigationSettings) check() error {
	names := m.actors()
	named := func(key, name string) error {
		if name != "" && !slices.Contains(names, name) {
			return fmt.Errorf("mitigation: %s: %q is not configured, want one of %v", key, name, names)
		}
		return nil
	}
	switch {
	case m.For < unit.Duration(time.Second) || time.Duration(m.For) > mitigate.MaxFor:
		return fmt.Errorf("mitigation: for: got %v, want 1s to 7d", m.For)
	case m.MaxRules < 1 || m.MaxRules > 1<<16:
		return fmt.Errorf("mitigation: max_rules: got %d, want 1 to 65536", m.MaxRules)
	case m.MaxShare <= 0:
		return errors.New("mitigation: max_share: got 0, want more; without any actor nothing is dropped")
	}
	if err := named("default", m.Default); err != nil {
		return err
	}
	if a := m.Automatic; a != nil {
		if err := named("automatic.by", a.By); err != nil {
			return err
		}
		switch {
		case len(names) == 0:
			return errors.New("mitigation: automatic: nothing that drops is configured: want nodes, bgp or webhook")
		case a.By == "" && m.Default == "" && len(names) > 1:
			return fmt.Errorf("mitigation: automatic.by: want one of %v", names)
		case a.Exporters < 0 || a.Exporters > 2:
			return fmt.Errorf("mitigation: automatic.exporters: got %d, want 1 or 2", a.Exporters)
		}
	}
	seen := map[uint32]bool{}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		u, err := url.Parse(n.URL)
		switch {
		case n.Node == 0 || seen[n.Node]:
			return fmt.Errorf("mitigation: nodes[%d]: node: got %d, want the id of a node, each once", i, n.Node)
		case (n.URL == "") == (n.Socket == ""):
			return fmt.Errorf("mitigation: nodes[%d]: want url or socket", i)
		case n.URL != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == ""):
			return fmt.Errorf("mitigation: nodes[%d]: url: want https://HOST:PORT or http://HOST:PORT", i)
		}
		seen[n.Node] = true
	}
	if w := m.Webhook; w != nil {
		if w.Template != "" && w.Template != templateRules && w.Template != templateTS {
			return fmt.Errorf("mitigation: webhook: template: got %q, want %s or %s", w.Template, templateRules,
				templateTS)
		}
		if _, err := w.sender(); err != nil {
			return fmt.Errorf("mitigation: webhook: %w", err)
		}
	}
	if m.BGP != nil {
		if _, err := m.BGP.config(); err != nil {
			return fmt.Errorf("mitigation: bgp: %w", err)
		}
	}
	_, err := m.nodes()
	return err
}

// config returns what is right of b, or what is wrong.
func (b *mitigationBGP) config() (*bgp.Config, error) {
	c := &bgp.Config{
		AS: b.AS, RouterID: b.RouterID, Local: b.Local, Hold: time.Duration(b.Hold), NextHop: b.NextHop,
		NextHop6: b.NextHop6,
	}
	if c.Hold == 0 {
		c.Hold = 9 * time.Second
	}
	switch {
	case b.AS == 0:
		return nil, errors.New("as: got 0, want the number of the autonomous system")
	case !b.RouterID.Is4():
		return nil, errors.New("router_id: want an IPv4 address")
	case c.Hold < 3*time.Second || c.Hold > time.Hour:
		return nil, fmt.Errorf("hold: got %v, want 3s to 1h", b.Hold)
	case b.NextHop.IsValid() && !b.NextHop.Is4():
		return nil, errors.New("next_hop: want an IPv4 address")
	case b.NextHop6.IsValid() && !b.NextHop6.Is6():
		return nil, errors.New("next_hop6: want an IPv6 address")
	case len(b.Peers) == 0:
		return nil, errors.New("peers: want at least one")
	}
	for i, p := range b.Peers {
		one := bgp.Peer{
			Address: p.Address, Port: p.Port, AS: p.AS, Multihop: p.Multihop, FlowSpec: p.FlowSpec, RTBH: p.RTBH,
		}
		switch {
		case !p.Address.IsValid():
			return nil, fmt.Errorf("peers[%d]: address: want that of a router", i)
		case slices.ContainsFunc(c.Peers, func(o bgp.Peer) bool { return o.Address == p.Address }):
			return nil, fmt.Errorf("peers[%d]: address: got %v twice", i, p.Address)
		case p.AS == 0:
			return nil, fmt.Errorf("peers[%d]: as: got 0, want the number of the autonomous system", i)
		case !p.FlowSpec && !p.RTBH:
			return nil, fmt.Errorf("peers[%d]: want flowspec, rtbh or both", i)
		case p.RTBH && !b.NextHop.IsValid() && !b.NextHop6.IsValid():
			return nil, fmt.Errorf("peers[%d]: rtbh wants next_hop, next_hop6 or both", i)
		}
		if p.PasswordFile != "" {
			text, err := os.ReadFile(p.PasswordFile)
			if err != nil {
				return nil, fmt.Errorf("peers[%d]: password_file: %w", i, err)
			}
			one.Password = strings.TrimSpace(string(text))
		}
		c.Peers = append(c.Peers, one)
	}
	return c, nil
}

func (w *mitigationWebhook) sender() (*alert.Sender, error) {
	return alert.NewSender(&alert.Webhook{
		HTTP: alert.HTTP{URL: w.URL, Headers: w.Headers, Timeout: w.Timeout, CA: w.CA}, SecretFile: w.SecretFile,
	})
}

// nodes returns how nodes are reached.
func (m *mitigationSettings) nodes() (list []mitigate.NodeAccess, err error) {
	for i, n := range m.Nodes {
		a := mitigate.NodeAccess{Node: n.Node, URL: n.URL, Socket: n.Socket}
		if n.TokenFile != "" {
			text, err := os.ReadFile(n.TokenFile)
			if err != nil {
				return nil, fmt.Errorf("mitigation: nodes[%d]: token_file: %w", i, err)
			}
			a.Token = strings.TrimSpace(string(text))
		}
		config, err := auth.ClientTLS(n.CA, "", "")
		if err != nil {
			return nil, fmt.Errorf("mitigation: nodes[%d]: ca: %w", i, err)
		}
		a.Client = &http.Client{
			Transport:     &http.Transport{TLSClientConfig: config, MaxIdleConns: 1, IdleConnTimeout: 30 * time.Second},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		list = append(list, a)
	}
	return list, nil
}

// limits returns what bounds the mitigation.
func (m *mitigationSettings) limits() mitigate.Config {
	c := mitigate.Config{
		Default: m.Default, For: time.Duration(m.For), MaxRules: m.MaxRules, MaxShare: float64(m.MaxShare),
		Safe: prefixesOf(m.Safe),
	}
	if a := m.Automatic; a != nil {
		c.Automatic = &mitigate.Automatic{By: a.By, After: time.Duration(a.After), Exporters: a.Exporters}
	}
	return c
}

// openMitigation makes what acts on attacks, if anything that drops is configured.
func (s *Server) openMitigation() error {
	m := &s.Config.Mitigation
	if len(m.actors()) == 0 {
		return nil
	}
	d := mitigate.Deps{
		Actors: map[string]mitigate.Actor{}, Attacks: s.attacksNow, Log: s.log, Now: time.Now,
		Traffic: func() uint64 { return s.scanner.AttackTotals().BPS }, Own: s.ownAddresses,
	}
	if s.tenure != nil {
		d.Elected = s.tenure.election.Elected
	}
	if len(m.Nodes) > 0 {
		nodes, err := m.nodes()
		if err != nil {
			return err
		}
		d.Actors["node"] = mitigate.NewNodes(nodes)
	}
	if m.BGP != nil {
		c, err := m.BGP.config()
		var speaker *bgp.Speaker
		if err == nil {
			speaker, err = bgp.Open(*c, s.log)
		}
		if err != nil {
			return fmt.Errorf("mitigation: bgp: %w", err)
		}
		s.opened = append(s.opened, func() { _ = speaker.Close() })
		s.speaker = speaker
		for name, actor := range map[string]mitigate.Actor{"flowspec": speaker.FlowSpec(), "rtbh": speaker.RTBH()} {
			if actor != nil {
				d.Actors[name] = actor
			}
		}
	}
	if w := m.Webhook; w != nil {
		sender, err := w.sender()
		if err != nil {
			return fmt.Errorf("mitigation: webhook: %w", err)
		}
		d.Actors["webhook"] = &mitigate.Webhook{
			Post: sender.Send, TransparentSecurity: w.Template == templateTS, Reports: w.DropReports,
		}
	}
	var state []byte
	var err error
	audit := ""
	if s.checkpoints != nil {
		dir := s.checkpoints.dir
		d.Write, audit = dir.Write, dir.Path(mitigate.AuditFile)
		if state, err = os.ReadFile(dir.Path(mitigate.StateFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("mitigation: %w", err)
		}
	}
	if d.Audit, err = mitigate.OpenAudit(audit); err != nil {
		return fmt.Errorf("mitigation: %w", err)
	}
	if s.mitigation, err = mitigate.New(m.limits(), d, state); err != nil {
		return fmt.Errorf("mitigation: %w", err)
	}
	return nil
}

// attacksNow returns the attacks of which there are events in memory.
func (s *Server) attacksNow() []telemetry.Attack {
	events, _ := s.Events.Events(func(e *telemetry.Event) bool {
		return e.Kind == telemetry.EventAttack && e.Attack != nil
	}, math.MaxInt)
	list := make([]telemetry.Attack, len(events))
	for i := range events {
		list[i] = *events[i].Attack
		if events[i].End != nil {
			list[i].State = telemetry.AttackEnded
		}
	}
	return list
}

// ownAddresses returns those of this machine, and of what rules are sent to: traffic to them must never be dropped.
func (s *Server) ownAddresses() (list []netip.Addr) {
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil && !p.Addr().IsLoopback() {
			list = append(list, p.Addr())
		}
	}
	m := &s.Config.Mitigation
	if m.BGP != nil {
		for _, p := range m.BGP.Peers {
			list = append(list, p.Address)
		}
	}
	var urls []string
	for i := range m.Nodes {
		urls = append(urls, m.Nodes[i].URL)
	}
	if m.Webhook != nil {
		urls = append(urls, m.Webhook.URL)
	}
	for _, text := range urls {
		if u, err := url.Parse(text); err == nil {
			if a, err := netip.ParseAddr(u.Hostname()); err == nil && !a.IsLoopback() {
				list = append(list, a)
			}
		}
	}
	return list
}

// mitigate runs what acts on attacks until ctx is done.
func (s *Server) mitigate(ctx context.Context) {
	s.mitigation.Run(ctx)
	if s.speaker != nil {
		_ = s.speaker.Close() // routers forget what they were told
	}
}
