// Package ipfix sends flows and paths as records of IPFIX (RFC 7011), over UDP, TCP or TLS. What IPFIX has no element
// for is in elements of Waybill's own. The libraries that there are bring Kafka, DTLS and Kubernetes with them; what is
// needed of the protocol is a template and numbers behind one another.
package ipfix

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/telemetry"
)

const (
	// DefaultEnterprise is the private enterprise number of examples (RFC 5612), as Waybill has none.
	DefaultEnterprise = 32473
	defaultPort       = "4739" // RFC 7011, 10.2.1
	securePort        = "4740"

	version   = 10
	headerLen = 16
	setLen    = 4
	// maxDatagram and maxMessage are how long messages are at most, in bytes: over UDP they must not be fragmented.
	maxDatagram, maxMessage = 1400, 16 << 10
	// templatesEvery is how often templates are repeated over UDP, where any datagram may be lost (RFC 7011, 8.4).
	templatesEvery = 30 * time.Second
	dialTimeout    = 5 * time.Second
)

// A Config says where an IPFIX collector is.
type Config struct {
	To         string     `yaml:"to" doc:"the collector, udp://HOST:PORT or tcp://HOST:PORT; without a port 4739, or 4740 with tls"`
	Domain     uint32     `yaml:"domain" doc:"observation domain of the records"`
	Enterprise uint32     `yaml:"enterprise" doc:"private enterprise number of the elements that are Waybill's own; without it 32473, that of examples"`
	TLS        export.TLS `yaml:"tls" doc:"how tcp is secured"`
}

// Takes implements export.Opener.
func (*Config) Takes() ([]export.Kind, int) {
	return []export.Kind{export.Flows, export.Paths, export.Routes}, 3
}

// Check implements export.Opener.
func (c *Config) Check() error {
	_, _, _, err := c.place()
	return err
}

// place returns where the collector is, and how connections to it are secured; nil: they are not.
func (c *Config) place() (network, address string, secure *tls.Config, err error) {
	u, err := url.Parse(c.To)
	if err != nil || u.Hostname() == "" || u.Scheme != "udp" && u.Scheme != "tcp" || u.Path != "" {
		return "", "", nil, fmt.Errorf("to: got %q, want udp://HOST:PORT or tcp://HOST:PORT", c.To)
	}
	if c.TLS.On && u.Scheme == "udp" {
		return "", "", nil, errors.New("tls: want tcp:// in to")
	}
	if secure, err = c.TLS.Config(); err != nil {
		return "", "", nil, err
	}
	port := u.Port()
	switch {
	case port == "" && secure != nil:
		port = securePort
	case port == "":
		port = defaultPort
	}
	if secure != nil && secure.ServerName == "" {
		secure = secure.Clone()
		secure.ServerName = u.Hostname()
	}
	return u.Scheme, net.JoinHostPort(u.Hostname(), port), secure, nil
}

// Open implements export.Opener.
func (c *Config) Open(export.Deps) (export.Output, error) {
	o := &output{domain: c.Domain, enterprise: c.Enterprise, max: maxMessage}
	if o.enterprise == 0 {
		o.enterprise = DefaultEnterprise
	}
	var err error
	if o.network, o.address, o.secure, err = c.place(); o.network == "udp" {
		o.max = maxDatagram
	}
	return o, err
}

// An output is an exporting process: one goroutine calls it.
type output struct {
	network, address   string
	secure             *tls.Config
	domain, enterprise uint32
	max                int

	conn      net.Conn  // nil: there is none
	sequence  uint32    // data records of this connection
	templates time.Time // when they were sent last

	message []byte // that is being written; its first headerLen bytes are filled in when it is sent
	set     int    // where its last set begins; 0: it has none
	records uint32 // data records in it
}

// Send implements export.Output. IPFIX confirms nothing: records are sent once the connection has taken them.
func (o *output) Send(ctx context.Context, records []export.Record) (refused []int, err error) {
	if err := o.connect(ctx); err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = o.conn.SetWriteDeadline(deadline)
	}
	if refused, err = o.send(records); err != nil {
		o.Close() // the next one begins with the templates
	}
	return refused, err
}

func (o *output) send(records []export.Record) (refused []int, err error) {
	o.begin()
	if o.templates.IsZero() || o.network == "udp" && time.Since(o.templates) >= templatesEvery {
		o.addTemplates()
		o.templates = time.Now()
	}
	for i, r := range records {
		switch of := r.Of.(type) {
		case *telemetry.FlowInterval:
			id, fields := uint16(templateFlow6), flow6Fields
			if of.Key.Src.IP().Is4() && of.Key.Dst.IP().Is4() {
				id, fields = templateFlow4, flow4Fields
			}
			err = add(o, id, fields, of)
		case *telemetry.PathInterval:
			err = add(o, templatePath, pathFields, of)
		case *telemetry.Route:
			for j := range of.Elements {
				if err = add(o, templateHop, hopFields, &hop{of, &of.Elements[j], j}); err != nil {
					break
				}
			}
		default:
			refused = append(refused, i)
		}
		if err != nil {
			return nil, err
		}
	}
	return refused, o.flush()
}

func (o *output) connect(ctx context.Context) (err error) {
	if o.conn != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if o.secure != nil {
		o.conn, err = (&tls.Dialer{Config: o.secure}).DialContext(ctx, o.network, o.address)
	} else {
		o.conn, err = new(net.Dialer).DialContext(ctx, o.network, o.address)
	}
	if err != nil {
		o.conn = nil // and not an interface with a nil pointer
		return err
	}
	o.sequence, o.templates = 0, time.Time{}
	return nil
}

// begin begins a message.
func (o *output) begin() {
	o.message = append(o.message[:0], make([]byte, headerLen)...)
	o.set, o.records = 0, 0
}

// addSet begins a set, and ends the one before.
func (o *output) addSet(id uint16) {
	o.endSet()
	o.set = len(o.message)
	o.message = binary.BigEndian.AppendUint16(o.message, id)
	o.message = append(o.message, 0, 0) // its length
}

func (o *output) endSet() {
	if o.set > 0 {
		binary.BigEndian.PutUint16(o.message[o.set+2:], uint16(len(o.message)-o.set))
	}
}

func (o *output) addTemplates() {
	o.addSet(2) // a template set
	o.message = appendTemplate(o.message, templateFlow4, flow4Fields, o.enterprise)
	o.message = appendTemplate(o.message, templateFlow6, flow6Fields, o.enterprise)
	o.message = appendTemplate(o.message, templatePath, pathFields, o.enterprise)
	o.message = appendTemplate(o.message, templateHop, hopFields, o.enterprise)
}

// add adds a record to the message, which is sent before if it is full.
func add[T any](o *output, id uint16, fields []field[T], r *T) error {
	length := setLen
	for i := range fields {
		length += int(fields[i].length)
	}
	if len(o.message)+length > o.max {
		if err := o.flush(); err != nil {
			return err
		}
	}
	if o.set == 0 || binary.BigEndian.Uint16(o.message[o.set:]) != id {
		o.addSet(id)
	}
	o.message = appendRecord(o.message, fields, r)
	o.records++
	return nil
}

// flush sends the message if anything is in it, and begins the next one.
func (o *output) flush() error {
	if len(o.message) == headerLen {
		return nil
	}
	o.endSet()
	h := o.message[:0]
	h = binary.BigEndian.AppendUint16(h, version)
	h = binary.BigEndian.AppendUint16(h, uint16(len(o.message)))
	h = binary.BigEndian.AppendUint32(h, uint32(time.Now().Unix()))
	h = binary.BigEndian.AppendUint32(h, o.sequence)
	binary.BigEndian.AppendUint32(h, o.domain)
	if _, err := o.conn.Write(o.message); err != nil {
		return err
	}
	o.sequence += o.records
	o.begin()
	return nil
}

// Close implements export.Output.
func (o *output) Close() {
	if o.conn != nil {
		_ = o.conn.Close()
		o.conn = nil
	}
}
