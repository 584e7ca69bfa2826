package collect

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// readAll returns all packets of a capture, with copies of their data, and the error that ended the reading.
func readAll(c *Capture) ([]Packet, error) {
	var all []Packet
	for {
		p, err := c.Next()
		if err != nil {
			return all, err
		}
		p.Data = bytes.Clone(p.Data)
		all = append(all, p)
	}
}

// parse reads a capture that is in memory.
func parse(tb testing.TB, file []byte) []Packet {
	tb.Helper()
	c, err := newCapture(bytes.NewReader(file), "test", int64(len(file)))
	if err != nil {
		tb.Fatal(err)
	}
	packets, err := readAll(c)
	if err != io.EOF {
		tb.Fatalf("after %d packets: %v", len(packets), err)
	}
	return packets
}

// sample is a real capture, from which the tests make the other formats.
func sample(tb testing.TB) []byte {
	tb.Helper()
	file, err := os.ReadFile(capturesFolder + "/onos_v10_tcp_reports.pcap")
	if err != nil {
		tb.Fatal(err)
	}
	return file
}

// zip compresses a file.
func zip(file []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(file)
	w.Close()
	return b.Bytes()
}

// bigEndian turns a pcap file around.
func bigEndian(file []byte) []byte {
	file = bytes.Clone(file)
	swap := func(widths ...int) {
		for _, width := range widths {
			slices.Reverse(file[:width])
			file = file[width:]
		}
	}
	whole := file
	swap(4, 2, 2, 4, 4, 4, 4)
	for len(file) > 0 {
		length := binary.LittleEndian.Uint32(file[8:])
		swap(4, 4, 4, 4)
		file = file[length:]
	}
	return whole
}

// nanoseconds writes packets as a pcap file of that resolution.
func nanoseconds(tb testing.TB, packets []Packet) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := pcapgo.NewWriterNanos(&b)
	if err := w.WriteFileHeader(65535, layers.LinkTypeEthernet); err != nil {
		tb.Fatal(err)
	}
	for _, p := range packets {
		if err := w.WritePacket(captureInfo(p, 0), p.Data); err != nil {
			tb.Fatal(err)
		}
	}
	return b.Bytes()
}

// pcapng writes packets as a pcapng file with two interfaces, in turn.
func pcapng(tb testing.TB, packets []Packet) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriter(&b, layers.LinkTypeEthernet)
	if err != nil {
		tb.Fatal(err)
	}
	intf := pcapgo.DefaultNgInterface
	intf.LinkType = linkTypeSLL2
	if _, err := w.AddInterface(intf); err != nil {
		tb.Fatal(err)
	}
	for i, p := range packets {
		if err := w.WritePacket(captureInfo(p, i%2), p.Data); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// linkTypeSLL2 is LINKTYPE_LINUX_SLL2, one that does not fit in a byte.
const linkTypeSLL2 = 276

func captureInfo(p Packet, intf int) gopacket.CaptureInfo {
	return gopacket.CaptureInfo{Timestamp: p.Time, CaptureLength: len(p.Data), Length: p.Length, InterfaceIndex: intf}
}
