package ioam_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire/ioam"
)

// TestPrefixesAndBitFlips decodes every prefix and every single-bit flip of the IOAM options of the vectors and the
// captures. Any error of the wire package is right; a panic or a trace that is not consistent is not.
func TestPrefixesAndBitFlips(t *testing.T) {
	for name, data := range allOptions(t) {
		for i := range data {
			if err := walk(data[:i:i]); err == errInconsistent {
				t.Fatalf("%s, first %d bytes: %v", name, i, err)
			}
		}
		for i := range 8 * len(data) {
			data[i/8] ^= 0x80 >> (i % 8)
			if err := walk(data); err == errInconsistent {
				t.Fatalf("%s, bit %d: %v", name, i, err)
			}
			data[i/8] ^= 0x80 >> (i % 8)
		}
	}
}

// allOptions returns the data of the options of the vectors, and of one frame per trace type of each capture.
func allOptions(t *testing.T) map[string][]byte {
	t.Helper()
	options := map[string][]byte{}
	for _, name := range vectorNames(t) {
		var vector struct{ Hex string }
		readJSON(t, filepath.Join("vectors", name), &vector)
		optionType, body := findBody(t, wiretest.Hex(t, vector.Hex))
		option := ioam.Option{Type: optionType, Data: body}
		options[name] = option.Append(nil)
	}
	for _, scenario := range scenarios {
		for _, point := range points {
			name := captureName(scenario, point)
			for _, frame := range readCapture(t, name) {
				if data := findOption(frame); data != nil {
					options[name+string(data[6:9])] = data // by trace type
				}
			}
		}
	}
	return options
}

var errInconsistent = errors.New("inconsistent")

// walk decodes the data of an IPv6 option with everything in it. It returns errInconsistent if more was decoded than
// there is, or if a node added to a trace does not come out again.
func walk(data []byte) error {
	var option ioam.Option
	if _, err := option.Decode(data); err != nil {
		return err
	}
	switch option.Type {
	case ioam.TypePreallocated, ioam.TypeIncremental:
		return walkTrace(option.Type, option.Data)
	case ioam.TypePOT:
		return walkInside(new(ioam.POT), option.Data)
	case ioam.TypeE2E:
		return walkInside(new(ioam.E2E), option.Data)
	case ioam.TypeDEX:
		return walkInside(new(ioam.DEX), option.Data)
	}
	return nil
}

func walkInside(v wiretest.Codec, b []byte) error {
	n, err := v.Decode(b)
	if n > len(b) {
		return errInconsistent
	}
	return err
}

func walkTrace(optionType uint8, body []byte) error {
	before, err := decodeTrace(optionType, body)
	if err != nil {
		return err
	}
	size := 4 * before.freeWords
	for i := range before.nodes {
		size += before.nodes[i].LenFor(before.header.Type)
	}
	if size != len(before.space) {
		return errInconsistent
	}

	header, space := before.header, bytes.Clone(before.space)
	node := ioam.Node{HopLimit: 1, NodeID: 2, Snapshot: ioam.Snapshot{SchemaID: 3, Data: []byte("word")}}
	var added bool
	if optionType == ioam.TypePreallocated {
		added, err = header.AddPreallocated(space, &node)
	} else {
		var record []byte
		record, added, err = header.AddIncremental(nil, &node)
		space = append(record, space...)
	}
	if err != nil || !added {
		return err
	}
	after, err := decodeTrace(optionType, append(header.Append(nil), space...))
	if err != nil || len(after.nodes) != len(before.nodes)+1 {
		return errInconsistent
	}
	return nil
}
