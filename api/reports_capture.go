package api

import (
	"bufio"
	"context"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/elnormous/contenttype"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store/ring"
	"github.com/waybill-int/waybill/wire/packet"
)

const (
	formatPcap = "pcap"
	// maxCaptures is how many captures are written at a time; each may read all that there is.
	maxCaptures = 2
	// captureWrite is how long a client may take for a part of a capture.
	captureWrite = 30 * time.Second
	// capturePart is how much is written between two looks at that, in bytes.
	capturePart = 1 << 20
)

// reportsOrCapture answers with a capture if one is asked for, else with a list.
func (h *handler) reportsOrCapture(w http.ResponseWriter, r *http.Request, p *params) {
	format := p.values["format"]
	if len(format) == 1 && format[0] == formatPcap || len(format) == 0 && acceptsCapture(r.Header) {
		p.values.Del("format")
		p.operation = h.routes[api+"reports.pcap"][http.MethodGet]
		h.capture(w, r, p)
		return
	}
	h.serveList(w, r, p)
}

// acceptsCapture reports whether Accept names the media type of captures.
func acceptsCapture(header http.Header) bool {
	found, _, err := contenttype.GetAcceptableMediaTypeFromHeader(strings.Join(header.Values("Accept"), ", "),
		[]contenttype.MediaType{
			contenttype.NewMediaType(types.MediaJSON), contenttype.NewMediaType(types.MediaCapture),
		})
	return err == nil && found.MIME() == types.MediaCapture
}

// capture answers with the raw reports that are asked for as a capture file, the oldest first; with a limit, the newest
// of them. It is written as it is read.
func (h *handler) capture(w http.ResponseWriter, r *http.Request, p *params) {
	sought := h.soughtReports(p)
	limit := 0
	if p.values.Has("limit") {
		limit = p.limit()
	}
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	release, ok := h.captures.try()
	if !ok {
		retryAfter(w, 10*time.Second)
		types.NewProblem(http.StatusServiceUnavailable, "too many concurrent captures (limit %d)", maxCaptures).Write(w)
		return
	}
	defer release()
	reader := h.newReportReader(sought)
	in := ring.Range{Since: sought.since.UnixNano(), Until: sought.until.UnixNano()}
	if limit > 0 {
		var err error
		if in.At, err = h.newestOf(r.Context(), reader, in, limit); err != nil {
			return // who asked is gone
		}
	}
	w.Header().Set("Content-Type", types.MediaCapture)
	w.Header().Set("Content-Disposition", `attachment; filename="reports.pcap"`)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Add("Vary", "Accept")
	if r.Method == http.MethodHead {
		return
	}
	if err := h.writeCapture(w, r, reader, in); err != nil {
		h.cfg.Logger.Debug("capture not delivered", "error", err)
	}
}

// newestOf returns the oldest of the newest n reports that are wanted.
func (h *handler) newestOf(ctx context.Context, reader *reportReader, in ring.Range, n int) (first ring.ID, err error) {
	err = h.cfg.Reports.Newest(ctx, in, func(d *ring.Record) bool {
		if reader.read(d) {
			first = d.ID
			n--
		}
		return n > 0
	})
	return first, err
}

// writeCapture writes a capture file with nanoseconds. A client may take its time for all of it, but not for a part.
func (h *handler) writeCapture(w http.ResponseWriter, r *http.Request, reader *reportReader, in ring.Range) error {
	control := http.NewResponseController(w)
	to := bufio.NewWriterSize(w, capturePart)
	file := pcapgo.NewWriterNanos(to)
	_ = control.SetWriteDeadline(time.Now().Add(captureWrite)) // where there is none, the server has its own
	if err := file.WriteFileHeader(maxFrame, layers.LinkTypeEthernet); err != nil {
		return err
	}
	var frame []byte
	var failed error
	err := h.cfg.Reports.Oldest(r.Context(), in, func(d *ring.Record) bool {
		if !reader.read(d) {
			return true
		}
		frame = appendFrame(frame[:0], d)
		if to.Available() < len(frame) {
			_ = control.SetWriteDeadline(time.Now().Add(captureWrite))
		}
		failed = file.WritePacket(gopacket.CaptureInfo{
			Timestamp: time.Unix(0, d.TimeNs), CaptureLength: len(frame),
			Length: len(frame),
		}, frame)
		return failed == nil
	})
	if err == nil {
		err = failed
	}
	if err == nil {
		_ = control.SetWriteDeadline(time.Now().Add(captureWrite))
		err = to.Flush()
	}
	return err
}

// maxFrame is the largest frame of a capture, in bytes.
const maxFrame = 1 << 17

// The hardware addresses of frames that nobody saw: locally administered, which no device has.
var (
	captureSrc = [6]byte{0x02, 0, 0, 0, 0, 0x01}
	captureDst = [6]byte{0x02, 0, 0, 0, 0, 0x02}
)

// appendFrame appends the Ethernet frame that could have carried a datagram. A socket for all addresses of the machine
// does not know which one was meant, so that the destination is the unspecified address then.
func appendFrame(b []byte, d *ring.Record) []byte {
	const udpLen, ttl = 8, 64
	src, dst := d.Source.Addr(), d.Listener.Addr()
	length := udpLen + len(d.Payload)
	udp := packet.UDP{SrcPort: d.Source.Port(), DstPort: d.Listener.Port(), Length: uint16(min(length, 1<<16-1))}
	ethernet := packet.Ethernet{Dst: captureDst, Src: captureSrc, EtherType: packet.EtherTypeIPv4}
	if src.Is4() {
		if !dst.Is4() {
			dst = netip.IPv4Unspecified()
		}
		ip := packet.IPv4{
			IHL: 5, TotalLength: uint16(min(20+length, 1<<16-1)), TTL: ttl, DF: true,
			Protocol: packet.ProtoUDP, Src: src.As4(), Dst: dst.As4(),
		}
		ip.Checksum = ip.HeaderChecksum()
		sum := packet.PseudoIPv4(ip.Src, ip.Dst, packet.ProtoUDP, length)
		udp.Checksum = udpChecksum(&udp, d.Payload, sum)
		b = ip.Append(ethernet.Append(b))
	} else {
		ethernet.EtherType = packet.EtherTypeIPv6
		ip := packet.IPv6{
			PayloadLength: udp.Length, NextHeader: packet.ProtoUDP, HopLimit: ttl, Src: src.As16(),
			Dst: dst.As16(),
		}
		if dst.Is4() {
			ip.Dst = [16]byte{}
		}
		sum := packet.PseudoIPv6(ip.Src, ip.Dst, packet.ProtoUDP, length)
		udp.Checksum = udpChecksum(&udp, d.Payload, sum)
		b = ip.Append(ethernet.Append(b))
	}
	return append(udp.Append(b), d.Payload...)
}

// udpChecksum computes the checksum of a UDP datagram from the sum of its pseudo header.
func udpChecksum(h *packet.UDP, payload []byte, pseudo uint32) uint16 {
	var buf [8]byte
	return packet.UDPChecksum(^packet.Fold(packet.Sum(payload, packet.Sum(h.Append(buf[:0]), pseudo))))
}
