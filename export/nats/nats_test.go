package nats

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/export/message"
	"github.com/waybill-int/waybill/telemetry"
)

// run runs a server with JetStream on a port, 0 for any.
func run(t *testing.T, dir string, port int) *server.Server {
	t.Helper()
	if port == 0 {
		port = -1
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

func open(t *testing.T, c Config) export.Output {
	t.Helper()
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	o, err := c.Open(export.Deps{Names: func() map[uint32]string { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

// send sends until it is confirmed.
func send(t *testing.T, o export.Output, records []export.Record) []int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		refused, err := o.Send(ctx, records)
		if err == nil {
			return refused
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal(err)
		}
	}
}

func records() []export.Record {
	return []export.Record{
		{Kind: export.Flows, Of: &telemetry.FlowInterval{Packets: 42}},
		{Kind: export.Incidents, Of: &telemetry.Incident{ID: "i1", Kind: telemetry.EventLinkLost, FlowsHit: 3}},
		{Kind: export.Metrics, Of: 1},
		{Kind: export.Events, Of: &telemetry.Event{ID: "large", Text: strings.Repeat("x", 2<<20)}},
	}
}

// TestNATS: what was confirmed is in the stream, also after the server was away.
func TestNATS(t *testing.T) {
	dir := t.TempDir()
	s := run(t, dir, 0)
	port := s.Addr().(*net.TCPAddr).Port
	for _, format := range []message.Format{message.JSON, message.Protobuf} {
		c := Config{
			URLs: []string{s.ClientURL()}, Format: format, Stream: "S_" + string(format),
			Subject: "w." + string(format),
		}
		o := open(t, c)
		if refused := send(t, o, records()); len(refused) != 2 || refused[0] != 2 || refused[1] != 3 {
			t.Errorf("refused: got %v, want [2 3]", refused)
		}
		s.Shutdown()
		s.WaitForShutdown()
		if _, err := o.Send(t.Context(), records()); err == nil {
			t.Error("nobody is there, and has confirmed")
		}
		s = run(t, dir, port)
		send(t, o, records()[:1])

		conn, err := nats.Connect(s.ClientURL())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		js, err := jetstream.New(conn)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := js.Stream(t.Context(), c.Stream)
		if err != nil {
			t.Fatal(err)
		}
		if info := stream.CachedInfo(); info.State.Msgs != 3 || info.Config.MaxBytes != DefaultMaxSize {
			t.Errorf("got %d messages of at most %d bytes, want 3", info.State.Msgs, info.Config.MaxBytes)
		}
		for n, r := range map[uint64]export.Record{1: records()[0], 2: records()[1], 3: records()[0]} {
			got, err := stream.GetMsg(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := format.Encode(r, nil)
			if string(got.Data) != string(want.Value) || got.Subject != c.Subject+"."+r.Kind.String() ||
				got.Header.Get("Message") != "waybill.v1."+want.Type || got.Header.Get("Key") != want.Key ||
				got.Header.Get("Content-Type") != format.ContentType() {
				t.Errorf("got %s %v %s, want %s", got.Subject, got.Header, got.Data, want.Value)
			}
		}
	}
}

// TestStreamIsKept: a stream that is there stays as it is, and one that is removed is made again.
func TestStreamIsKept(t *testing.T) {
	s := run(t, t.TempDir(), 0)
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	config := jetstream.StreamConfig{
		Name: DefaultStream, Subjects: []string{DefaultSubject + ".*"}, MaxMsgs: 2, Storage: jetstream.MemoryStorage,
	}
	if _, err := js.CreateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	o := open(t, Config{URLs: []string{s.ClientURL()}})
	for range 3 {
		send(t, o, records()[:1])
	}
	stream, err := js.Stream(t.Context(), DefaultStream)
	if err != nil {
		t.Fatal(err)
	}
	if info := stream.CachedInfo(); info.State.Msgs != 2 || info.Config.MaxMsgs != 2 {
		t.Errorf("got %d of at most %d messages, want 2", info.State.Msgs, info.Config.MaxMsgs)
	}
	if err := js.DeleteStream(t.Context(), DefaultStream); err != nil {
		t.Fatal(err)
	}
	send(t, o, records()[:1])
	if stream, err = js.Stream(t.Context(), DefaultStream); err != nil || stream.CachedInfo().State.Msgs != 1 {
		t.Errorf("after its removal: %v", err)
	}
}

func TestCheck(t *testing.T) {
	urls := []string{"nats://127.0.0.1:4222"}
	seed := t.TempDir() + "/seed"
	if err := os.WriteFile(seed, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]Config{
		"urls: want at least one":   {},
		`stream: "a.b" has`:         {URLs: urls, Stream: "a.b"},
		`subject: "a.>" has`:        {URLs: urls, Subject: "a.>"},
		`max_size: got "10", want`:  {URLs: urls, MaxSize: "10"},
		`format: got "avro", want`:  {URLs: urls, Format: "avro"},
		"nkey: ":                    {URLs: urls, NKey: seed},
		"tls: want on: true with c": {URLs: urls, TLS: export.TLS{Cert: "/x"}},
	} {
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
