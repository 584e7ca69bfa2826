package message

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/telemetry"
)

// compiled is the schema as a compiler of Protobuf reads it.
func compiled(t *testing.T) protoreflect.MessageDescriptors {
	t.Helper()
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(map[string]string{"waybill.proto": Schema}),
	})}
	files, err := compiler.Compile(context.Background(), "waybill.proto")
	if err != nil {
		t.Fatal(err)
	}
	return files[0].Messages()
}

// TestSchema: what is read of the schema is what a compiler reads of it.
func TestSchema(t *testing.T) {
	messages := compiled(t)
	got := fields()
	if len(got) != messages.Len() {
		t.Errorf("got %d messages, want %d", len(got), messages.Len())
	}
	for i := range messages.Len() {
		m := messages.Get(i)
		of := got[string(m.Name())]
		if len(of) != m.Fields().Len() {
			t.Errorf("%s: got %d fields, want %d", m.Name(), len(of), m.Fields().Len())
		}
		for j := range m.Fields().Len() {
			f := m.Fields().Get(j)
			kind := f.Kind().String()
			if f.Message() != nil {
				kind = strings.TrimPrefix(string(f.Message().FullName()), "waybill.v1.")
			}
			want := field{kind, f.IsList(), f.Number()}
			if of[string(f.Name())] != want {
				t.Errorf("%s: got %+v, want %+v", f.FullName(), of[string(f.Name())], want)
			}
		}
	}
}

// leftOut are fields that no message has: lists of events leave them out too.
var leftOut = map[string]bool{
	"Event.attack": true, "Event.extent": true,
	"PathHop.latency_ns": true, "PathHop.queue": true, "PathHop.sample": true, // routes tell where, not how fast
}

// TestFields: the schema has all fields of JSON, and no others, in the same order but for those that came later.
func TestFields(t *testing.T) {
	seen := map[string]bool{}
	var check func(of reflect.Type)
	check = func(of reflect.Type) {
		if seen[of.Name()] {
			return
		}
		seen[of.Name()] = true
		in, names := fields()[of.Name()], map[string]bool{}
		for _, f := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || leftOut[of.Name()+"."+name] {
				continue
			}
			names[name] = true
			to, ok := in[name]
			if !ok {
				t.Errorf("waybill.proto: message %s has no %s", of.Name(), name)
			}
			inner := f.Type
			for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice && to.kind != "string" ||
				inner == reflect.TypeFor[[]string]() {
				inner = inner.Elem()
			}
			if _, message := fields()[to.kind]; message {
				if inner.Name() != to.kind {
					t.Errorf("%s.%s: got a %s, want a %s", of.Name(), name, to.kind, inner.Name())
				}
				check(inner)
			}
		}
		for name := range in {
			if !names[name] {
				t.Errorf("waybill.proto: %s.%s is no field", of.Name(), name)
			}
		}
	}
	for _, v := range []any{types.FlowRecord{}, types.PathRecord{}, Route{}, telemetry.Event{}, telemetry.Incident{}} {
		check(reflect.TypeOf(v))
	}
	for name := range fields() {
		if !seen[name] {
			t.Errorf("waybill.proto: nothing has message %s", name)
		}
	}
}

// fill sets all fields of v to values that differ; n is the next one. zero leaves numbers 0, with pointers to them.
func fill(v reflect.Value, n *uint64, zero bool) {
	*n++
	if zero {
		*n = 0
	}
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(int64(1e9+*n), int64(*n)*7).UTC()))
		return
	case reflect.TypeFor[netip.Addr]():
		v.Set(reflect.ValueOf(netip.AddrFrom4([4]byte{10, 0, 1, byte(*n)})))
		return
	case reflect.TypeFor[telemetry.EventKind]():
		v.SetUint(1 + *n%(telemetry.NumEventKinds-1))
		return
	case reflect.TypeFor[telemetry.Severity]():
		v.SetUint(*n % 3)
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!zero)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		v.SetUint(*n % 200)
	case reflect.Uint64:
		if !zero {
			v.SetUint(math.MaxUint64 - *n)
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(-int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 4)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n, zero)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n, zero)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), n, zero)
			}
		}
	}
}

// plain is what a message has, as JSON has it.
func plain(m protoreflect.Message) any {
	if m.Descriptor().FullName() == "google.protobuf.Timestamp" {
		get := func(name protoreflect.Name) int64 { return m.Get(m.Descriptor().Fields().ByName(name)).Int() }
		return time.Unix(get("seconds"), get("nanos")).UTC().Format(time.RFC3339Nano)
	}
	object := map[string]any{}
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		if f.HasPresence() && !m.Has(f) {
			continue
		}
		one := func(v protoreflect.Value) any {
			switch f.Kind() {
			case protoreflect.MessageKind:
				return plain(v.Message())
			case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
				return json.Number(strconv.FormatUint(v.Uint(), 10))
			case protoreflect.Int64Kind:
				return json.Number(strconv.FormatInt(v.Int(), 10))
			case protoreflect.DoubleKind:
				text, _ := json.Marshal(v.Float())
				return json.Number(text)
			}
			return v.Interface()
		}
		if !f.IsList() {
			object[string(f.Name())] = one(m.Get(f))
			continue
		}
		list := []any{}
		for j := range m.Get(f).List().Len() {
			list = append(list, one(m.Get(f).List().Get(j)))
		}
		object[string(f.Name())] = list
	}
	return object
}

// tidy leaves out what JSON says of what is not known, or may say of what is empty.
func tidy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			list, isList := value.([]any)
			switch tidied := tidy(value); {
			case tidied == nil, tidied == "", tidied == false, isList && len(list) == 0,
				key == "missing" && tidied == json.Number("0"): // which JSON leaves out
				delete(v, key)
			}
		}
	case []any:
		for i := range v {
			v[i] = tidy(v[i])
		}
		return fmt.Sprint(v)
	}
	if m, ok := v.(map[string]any); ok {
		return fmt.Sprint(m)
	}
	return v
}

// TestBothFormats: what a library of Protobuf reads, by the schema, is what JSON says; also where all is 0, or nothing
// is known.
func TestBothFormats(t *testing.T) {
	messages := compiled(t)
	for _, v := range []any{
		&types.FlowRecord{}, &types.PathRecord{}, &Route{}, &telemetry.Event{}, &telemetry.Incident{},
	} {
		name := protoreflect.Name(reflect.TypeOf(v).Elem().Name())
		for _, with := range []string{"nothing", "zeros", "all"} {
			of := reflect.New(reflect.TypeOf(v).Elem())
			n := uint64(0)
			if with != "nothing" {
				fill(of.Elem(), &n, with == "zeros")
			}
			if e, ok := of.Interface().(*telemetry.Event); ok {
				e.Attack, e.Extent = nil, nil
			}
			if r, ok := of.Interface().(*Route); ok {
				for i := range r.Hops {
					r.Hops[i].LatencyNs, r.Hops[i].Queue, r.Hops[i].Sample = nil, nil, nil
				}
			}
			text, err := json.Marshal(of.Interface())
			if err != nil {
				t.Fatal(err)
			}
			message := dynamicpb.NewMessage(messages.ByName(name))
			if err := (proto.UnmarshalOptions{}).Unmarshal(appendMessage(nil, of.Interface()), message); err != nil {
				t.Fatalf("%s with %s: %v", name, with, err)
			}
			if len(message.GetUnknown()) > 0 {
				t.Errorf("%s with %s: %x are no fields of the schema", name, with, message.GetUnknown())
			}
			var want any
			d := json.NewDecoder(strings.NewReader(string(text)))
			d.UseNumber()
			if err := d.Decode(&want); err != nil {
				t.Fatal(err)
			}
			got := plain(message)
			if g, w := tidy(got), tidy(want); g != w && with != "nothing" {
				t.Errorf("%s with %s:\ngot  %v\nwant %v", name, with, g, w)
			}
		}
	}
}

// TestRecords: what records say.
func TestRecords(t *testing.T) {
	key := telemetry.FlowKey{
		Src:     telemetry.AddrFrom(netip.MustParseAddr("10.0.1.1")),
		Dst:     telemetry.AddrFrom(netip.MustParseAddr("10.0.2.2")),
		SrcPort: 5001, DstPort: 80, Protocol: 6,
	}
	for _, c := range []struct {
		of         export.Record
		typ, wants string
	}{
		{export.Record{Kind: export.Flows, Of: &telemetry.FlowInterval{
			StartNs: 1_700_000_000_000_000_000, Key: key, Path: 0xabc, Packets: 10, Bytes: 1000, Reports: 10,
			Residence: telemetry.LatencySummary{Count: 4, Sum: 400, Min: 50, Max: 200},
			Sample:    telemetry.SampleSum{Low: 1, High: 1, Known: 10},
		}}, "FlowRecord", `{"start":"2023-11-14T22:13:20Z","id":"` + FlowID(&key) +
			`","src":"10.0.1.1","dst":"10.0.2.2","src_port":5001,"dst_port":80,"protocol":"tcp","dscp":0,` +
			`"path":"0000000000000abc","packets":10,"bytes":1000,"drops":0,"reports":10,"path_changes":0,` +
			`"residence_min_ns":50,"residence_mean_ns":100,"residence_max_ns":200,"sample_kind":"every_packet"}`},
		{export.Record{Kind: export.Routes, Of: &telemetry.Route{Path: 0xabc, Elements: []telemetry.PathElement{
			{Place: telemetry.Place{Has: telemetry.HasNode | telemetry.HasEgressPort, Node: 1, EgressPort: 6}},
			{Missing: 2},
		}}}, "Route", `{"start":"1970-01-01T00:00:00Z","id":"0000000000000abc","uncertain":false,"hops":[` +
			`{"node":1,"name":"leaf1","ingress_port":null,"egress_port":6},` +
			`{"node":null,"ingress_port":null,"egress_port":null,"missing":2}]}`},
	} {
		m, err := JSON.Encode(c.of, map[uint32]string{1: "leaf1"})
		if err != nil || m.Type != c.typ || string(m.Value) != c.wants {
			t.Errorf("%v: %v %s\ngot  %s\nwant %s", c.of.Kind, err, m.Type, m.Value, c.wants)
		}
	}
	if _, err := JSON.Encode(export.Record{Kind: export.Metrics, Of: []int{}}, nil); err == nil {
		t.Error("metrics have a message")
	}
}

func BenchmarkEncode(b *testing.B) {
	r := export.Record{Kind: export.Flows, Of: &telemetry.FlowInterval{Packets: 10, Path: 1}}
	for _, f := range []Format{JSON, Protobuf} {
		b.Run(string(f), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Encode(r, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
