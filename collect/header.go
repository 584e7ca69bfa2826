package collect

import (
	"encoding/binary"
	"net/netip"

	"github.com/waybill-int/waybill/telemetry"
)

// headerBytes is what AppendHeader writes besides the dialect.
const headerBytes = 2 + 4 + 4 + 2 + 4

const (
	headerHasNode = 1 << iota
	headerHasSequence
	headerPartlyNamed
)

// AppendHeader appends what a datagram tells that was understood, without who sent it, to b: for an account in another
// process.
func AppendHeader(b []byte, h *telemetry.Header) []byte {
	flags := byte(h.Version) << 4
	for _, f := range []struct {
		is   bool
		flag byte
	}{
		{h.HasNodeID, headerHasNode}, {h.HasSequence, headerHasSequence}, {h.PartlyNamed, headerPartlyNamed},
	} {
		if f.is {
			flags |= f.flag
		}
	}
	b = append(b, flags, h.HWID)
	b = binary.BigEndian.AppendUint32(b, h.NodeID)
	b = binary.BigEndian.AppendUint32(b, h.Sequence)
	b = binary.BigEndian.AppendUint16(b, uint16(h.Reports))
	b = binary.BigEndian.AppendUint32(b, telemetry.ContentOf(h.Datagram))
	return append(b, h.Dialect...)
}

// readHeader reads what AppendHeader wrote. dialects are names that are known, so that none is made anew.
func readHeader(b []byte, source netip.Addr, dialects map[string]string, h *telemetry.Header) bool {
	if len(b) < headerBytes {
		return false
	}
	name, known := dialects[string(b[headerBytes:])]
	if !known {
		name = string(b[headerBytes:])
		if len(dialects) < maxDialects {
			dialects[name] = name
		}
	}
	*h = telemetry.Header{
		Source: source, Version: telemetry.Version(b[0] >> 4), HWID: b[1],
		HasNodeID: b[0]&headerHasNode != 0, HasSequence: b[0]&headerHasSequence != 0,
		PartlyNamed: b[0]&headerPartlyNamed != 0,
		NodeID:      binary.BigEndian.Uint32(b[2:]), Sequence: binary.BigEndian.Uint32(b[6:]),
		Reports: int(binary.BigEndian.Uint16(b[10:])), Content: binary.BigEndian.Uint32(b[12:]),
		Dialect: name,
	}
	return true
}

// maxDialects bounds the names of dialects that are remembered.
const maxDialects = 256
