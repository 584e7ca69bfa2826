package ioam_test

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill-int/waybill/wire/ioam"
)

const testdata = "../../testdata"

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testdata, path))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// readCapture returns the frames of a classic little-endian pcap file.
func readCapture(t *testing.T, name string) [][]byte {
	t.Helper()
	const fileHeader, recordHeader = 24, 16
	b, err := os.ReadFile(filepath.Join(testdata, "captures", name))
	if err != nil {
		t.Fatal(err)
	}
	if binary.LittleEndian.Uint32(b) != 0xa1b2c3d4 {
		t.Fatalf("%s: not a little-endian pcap file", name)
	}
	var frames [][]byte
	for b = b[fileHeader:]; len(b) > 0; {
		end := recordHeader + int(binary.LittleEndian.Uint32(b[8:]))
		frames = append(frames, b[recordHeader:end])
		b = b[end:]
	}
	return frames
}

// findOption returns the data of the IOAM option in the first extension header of an Ethernet frame with IPv6, or nil.
func findOption(frame []byte) []byte {
	const ip, extension = 14, 14 + 40
	next := frame[ip+6]
	if next != 0 && next != 60 {
		return nil
	}
	options := frame[extension+2 : extension+8*(1+int(frame[extension+1]))]
	for len(options) > 0 {
		if options[0] == 0 { // Pad1 has no length
			options = options[1:]
			continue
		}
		end := 2 + int(options[1])
		if options[0] == ioam.OptionMutable || options[0] == ioam.OptionFixed {
			return options[2:end:end]
		}
		options = options[end:]
	}
	return nil
}

// A trace is a whole trace option, decoded.
type trace struct {
	header    ioam.Trace
	space     []byte
	freeWords int
	nodes     []ioam.Node // newest first
}

func decodeTrace(optionType uint8, body []byte) (*trace, error) {
	var d trace
	n, err := d.header.Decode(body)
	if err != nil {
		return nil, err
	}
	d.space = body[n:]
	nodes, err := d.header.Nodes(d.space, optionType == ioam.TypePreallocated)
	if err != nil {
		return nil, err
	}
	d.freeWords = nodes.FreeWords
	var node ioam.Node
	for nodes.Next(&node) {
		d.nodes = append(d.nodes, node)
	}
	return &d, nodes.Err()
}

// decodeOption decodes the data of an IPv6 option that holds a trace.
func decodeOption(t *testing.T, data []byte) *trace {
	t.Helper()
	var option ioam.Option
	if _, err := option.Decode(data); err != nil {
		t.Fatal(err)
	}
	d, err := decodeTrace(option.Type, option.Data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
