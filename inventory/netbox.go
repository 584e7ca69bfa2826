package inventory

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/secure"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/telemetry"
)

// Limits of what a NetBox tells.
const (
	maxNetBoxDevices    = 10_000
	maxNetBoxInterfaces = 200_000
	maxNetBoxHosts      = 100_000
	netBoxPage          = 500
	netBoxBytes         = 32 << 20 // of a page
	netBoxTimeout       = 30 * time.Second
)

// A netBox is a server of NetBox, which is asked by REST.
type netBox struct {
	URL       string            `yaml:"url"`
	TokenFile string            `yaml:"token_file"`
	CA        string            `yaml:"ca"`
	Every     *unit.Duration    `yaml:"every"`
	Devices   map[uint32]string `yaml:"devices"`    // names in NetBox by node id
	NodeField string            `yaml:"node_field"` // custom field of a device with its node id
	PortField string            `yaml:"port_field"` // custom field of an interface with its number
	Hosts     bool              `yaml:"hosts"`      // addresses with their DNS names
}

func (n *netBox) sources(d *conf.Document, key string) []Source {
	checkEvery(d, key, n.Every)
	checkSecret(d, key+".token_file", n.TokenFile)
	u, err := url.Parse(n.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		d.Say(key+".url", "want https://HOST or http://HOST")
		return nil
	}
	if n.TokenFile != "" && !secure.IsPrivate(u) {
		d.Say(key+".url", "want https://, as token_file would be sent in the clear")
	}
	if n.CA != "" {
		if _, err := secure.ReadCAs(n.CA); err != nil {
			d.Say(key+".ca", "%v", err)
		}
	}
	if len(n.Devices) == 0 && n.NodeField == "" && !n.Hosts {
		d.Say(key, "want devices (names by node id), node_field (a custom field with the node id), or hosts")
	}
	return []Source{&netBoxSource{n, strings.TrimSuffix(n.URL, "/")}}
}

// A netBoxSource is a Source.
type netBoxSource struct {
	*netBox
	base string
}

// Origin implements Source.
func (s *netBoxSource) Origin() telemetry.InventoryOrigin { return NetBox }

// String implements Source.
func (s *netBoxSource) String() string { return "netbox " + s.base }

// Every implements Source.
func (s *netBoxSource) Every() time.Duration { return every(s.netBox.Every) }

// What the REST API of NetBox answers, as far as it is wanted.
type (
	netBoxDevice struct {
		ID           uint64                     `json:"id"`
		Name         *string                    `json:"name"`
		Role         *netBoxNamed               `json:"role"`
		DeviceRole   *netBoxNamed               `json:"device_role"` // before NetBox 3.6
		Site         *netBoxNamed               `json:"site"`
		CustomFields map[string]json.RawMessage `json:"custom_fields"`
	}
	netBoxNamed struct {
		Name string `json:"name"`
		Slug string `json:"slug"`
	}
	netBoxInterface struct {
		Device struct {
			ID uint64 `json:"id"`
		} `json:"device"`
		Name         string                     `json:"name"`
		Description  string                     `json:"description"`
		Speed        *uint64                    `json:"speed"` // kbit/s
		CustomFields map[string]json.RawMessage `json:"custom_fields"`
	}
	netBoxAddress struct {
		Address netip.Prefix `json:"address"` // with the length of its network
		DNSName string       `json:"dns_name"`
	}
)

// Read implements Source.
func (s *netBoxSource) Read(ctx context.Context) (*Known, error) {
	client, err := s.client()
	if err != nil {
		return nil, err
	}
	defer client.http.CloseIdleConnections()
	k := &Known{Nodes: map[uint32]telemetry.InventoryNode{}}
	nodes, err := s.readDevices(ctx, client, k)
	if err != nil {
		return nil, err
	}
	if err := s.readInterfaces(ctx, client, k, nodes); err != nil || !s.Hosts {
		return k, err
	}
	left := &k.LeftOut
	err = netBoxList(ctx, client, "ipam/ip-addresses/", url.Values{}, maxNetBoxHosts, left, func(a *netBoxAddress) {
		if a.DNSName == "" || !a.Address.IsValid() {
			return
		}
		if !isName(a.DNSName) {
			*left++
			return
		}
		address := a.Address.Addr().Unmap()
		k.Hosts = append(k.Hosts, telemetry.InventoryHost{
			Prefix: netip.PrefixFrom(address, address.BitLen()), Name: a.DNSName,
		})
	})
	return k, err
}

// readDevices adds nodes to k, and returns their ids by those of NetBox.
func (s *netBoxSource) readDevices(ctx context.Context, client *netBoxClient, k *Known) (map[uint64]uint32, error) {
	nodes := map[uint64]uint32{}
	if len(s.Devices) == 0 && s.NodeField == "" {
		return nodes, nil
	}
	byName := map[string]uint32{}
	for _, id := range slices.Sorted(maps.Keys(s.Devices)) {
		byName[s.Devices[id]] = id
	}
	query := url.Values{}
	if s.NodeField == "" {
		query["name"] = slices.Sorted(maps.Keys(byName))
	}
	err := netBoxList(ctx, client, "dcim/devices/", query, maxNetBoxDevices, &k.LeftOut, func(d *netBoxDevice) {
		name := ""
		if d.Name != nil {
			name = *d.Name
		}
		node, ok := numberField(d.CustomFields[s.NodeField])
		if id, named := byName[name]; named {
			node, ok = id, true
		}
		if _, twice := k.Nodes[node]; !ok || twice {
			if twice {
				k.LeftOut++
			}
			return
		}
		n := telemetry.InventoryNode{Name: k.name(name), Ports: map[uint32]telemetry.InventoryPort{}}
		for _, role := range []*netBoxNamed{d.Role, d.DeviceRole} {
			if role != nil && n.Role == "" {
				n.Role = k.name(role.Slug)
			}
		}
		if d.Site != nil {
			n.Site = k.name(d.Site.Slug)
		}
		k.Nodes[node], nodes[d.ID] = n, node
	})
	return nodes, err
}

// readInterfaces adds the ports of nodes to k.
func (s *netBoxSource) readInterfaces(
	ctx context.Context, client *netBoxClient, k *Known, nodes map[uint64]uint32,
) error {
	left := maxNetBoxInterfaces
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(nodes)), 50) {
		query := url.Values{}
		for _, id := range ids {
			query.Add("device_id", strconv.FormatUint(id, 10))
		}
		err := netBoxList(ctx, client, "dcim/interfaces/", query, left, &k.LeftOut, func(i *netBoxInterface) {
			left--
			node, ok := nodes[i.Device.ID]
			if !ok {
				return
			}
			port, ok := numberField(i.CustomFields[s.PortField])
			if !ok {
				if port, ok = portsByName.number(0, i.Name); !ok {
					return
				}
			}
			ports := k.Nodes[node].Ports
			if _, twice := ports[port]; twice || len(ports) >= maxPorts {
				k.LeftOut++
				return
			}
			p := telemetry.InventoryPort{Name: k.name(i.Name), Description: cut(i.Description, maxDescription)}
			if i.Speed != nil {
				p.Speed = *i.Speed * 1000
			}
			ports[port] = p
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// numberField reads a custom field that is a number, or a text that is one.
func numberField(field json.RawMessage) (uint32, bool) {
	n, err := strconv.ParseUint(strings.Trim(string(field), `"`), 0, 32)
	return uint32(n), err == nil
}

// A netBoxClient asks one server.
type netBoxClient struct {
	http  *http.Client
	base  string
	token string
}

func (s *netBoxSource) client() (*netBoxClient, error) {
	c := &netBoxClient{base: s.base}
	if s.TokenFile != "" {
		var err error
		if c.token, err = readSecret(s.TokenFile); err != nil {
			return nil, err
		}
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if s.CA != "" {
		var err error
		if transport.TLSClientConfig.RootCAs, err = secure.ReadCAs(s.CA); err != nil {
			return nil, err
		}
	}
	elsewhere := errors.New("the answer leads elsewhere; name that in url")
	c.http = &http.Client{
		Transport: transport, Timeout: netBoxTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return elsewhere },
	}
	return c, nil
}

// netBoxList calls f with the items of a list, page by page, but not with more than limit; those are added to leftOut.
func netBoxList[T any](ctx context.Context, c *netBoxClient, path string, query url.Values, limit int, leftOut *int,
	f func(*T),
) error {
	query = maps.Clone(query)
	query.Set("limit", strconv.Itoa(netBoxPage))
	for offset := 0; ; {
		query.Set("offset", strconv.Itoa(offset))
		var page struct {
			Count   int `json:"count"`
			Results []T `json:"results"`
		}
		if err := c.get(ctx, path+"?"+query.Encode(), &page); err != nil {
			return err
		}
		for i := range page.Results {
			if offset++; offset > limit {
				*leftOut += max(page.Count-limit, 0)
				return nil
			}
			f(&page.Results[i])
		}
		if offset >= page.Count || len(page.Results) == 0 {
			return nil
		}
	}
}

// get reads one answer.
func (c *netBoxClient) get(ctx context.Context, path string, to any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/api/"+path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	switch {
	case strings.HasPrefix(c.token, "nbt_"): // tokens of version 2
		r.Header.Set("Authorization", "Bearer "+c.token)
	case c.token != "":
		r.Header.Set("Authorization", "Token "+c.token)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body := io.LimitReader(answer.Body, netBoxBytes)
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(body, 200))
		return fmt.Errorf("%s answers %s: %s", strings.SplitN(path, "?", 2)[0], answer.Status, cut(string(text), 200))
	}
	if err := json.NewDecoder(body).Decode(to); err != nil {
		return fmt.Errorf("%s: the answer cannot be read: %w", strings.SplitN(path, "?", 2)[0], err)
	}
	return nil
}
