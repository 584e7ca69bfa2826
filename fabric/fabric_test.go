package fabric

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
)

func parseScenario(t testing.TB, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newFabric builds the network of a scenario in text.
func newFabric(t testing.TB, text string, o Options) *Fabric {
	t.Helper()
	f, err := New(parseScenario(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// run lets a fabric run.
func run(t testing.TB, f *Fabric, until time.Duration) {
	t.Helper()
	if err := f.Run(t.Context(), until); err != nil {
		t.Fatal(err)
	}
}

// records reads a truth file.
func records(t testing.TB, file []byte) (list []truth.Record) {
	t.Helper()
	r := truth.NewReader(bytes.NewReader(file))
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, record)
	}
}

// of returns the records of one type.
func of[T truth.Record](list []truth.Record) (some []T) {
	for _, record := range list {
		if r, ok := record.(T); ok {
			some = append(some, r)
		}
	}
	return some
}

// ran runs a scenario in text and returns its truth.
func ran(t testing.TB, text string, o Options, until time.Duration) ([]truth.Record, *Fabric) {
	t.Helper()
	var file bytes.Buffer
	o.Truth = &file
	f := newFabric(t, text, o)
	run(t, f, until)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return records(t, file.Bytes()), f
}
