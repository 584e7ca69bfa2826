package telemetry_test

import (
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

var route = []telemetry.PathElement{
	{Place: telemetry.Place{
		Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort, Node: 1,
		IngressPort: 3, EgressPort: 2,
	}},
	{Missing: 1},
	{Place: telemetry.Place{Has: telemetry.HasEgressPort | telemetry.HasDrop, EgressPort: 7}},
}

const routeText = "1[3,2] > ?(1) > ?[?,7]!"

func TestElements(t *testing.T) {
	if text := telemetry.FormatElements(route); text != routeText {
		t.Errorf("got %s", text)
	}
	if got, err := telemetry.ParseElements(routeText); err != nil || !reflect.DeepEqual(got, route) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := telemetry.ParseElements(""); err != nil || len(got) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Nobody but a store writes elements; what it cannot have written is an error, and no panic.
func TestParseElementsBad(t *testing.T) {
	for _, text := range []string{
		"1", "1[", "1[2]", "1[2,3] >", "x[1,2]", "1[2,3] > 1[2,4294967296]", "?()", "?(0)", "?(256)", "?(1", "1[2,3",
		"1[2,3]!!",
	} {
		if got, err := telemetry.ParseElements(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

func FuzzParseElements(f *testing.F) {
	f.Add(routeText)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := telemetry.ParseElements(text)
		if err != nil {
			return
		}
		again, err := telemetry.ParseElements(telemetry.FormatElements(got))
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("%q is %+v, and then %+v, %v", text, got, again, err)
		}
	})
}
