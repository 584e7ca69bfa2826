package flowsample

import (
	"net"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A Format is a protocol by which devices tell of flows. Its datagrams have sockets of their own.
type Format struct {
	Scheme string // of an address that it is received at
	Name   string
	Port   int // the usual one, which an address may leave out
	New    func(*codepoint.Config) Decoder
}

// A Decoder reads the datagrams of a Format. New takes from the configuration, which must be compiled, the nodes of
// exporters, and the code points of what sampled packets carry.
type Decoder interface {
	collect.Decoder
	Counts() map[Outcome]uint64
}

// To add a format: its decoder in a file of its own, its row here, and what its Version is called in telemetry.
var formats = []Format{
	{"sflow", "sFlow", 6343, func(c *codepoint.Config) Decoder { return NewSFlow(c) }},
	{"netflow", "NetFlow and IPFIX", 2055, func(c *codepoint.Config) Decoder { return NewNetFlow(c) }},
}

// FormatOf returns the format of an address to receive at, and the address as collect.Listen takes it. Without a
// format, telemetry reports are received there.
func FormatOf(address string) (f *Format, plain string) {
	scheme, rest, found := strings.Cut(address, "://")
	for i := range formats {
		if !found || scheme != formats[i].Scheme {
			continue
		}
		if host := rest[strings.LastIndexByte(rest, ']')+1:]; !strings.Contains(host, ":") {
			rest = net.JoinHostPort(strings.Trim(rest, "[]"), strconv.Itoa(formats[i].Port))
		}
		return &formats[i], rest
	}
	return nil, address
}
