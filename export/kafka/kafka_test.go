package kafka

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/export/message"
	"github.com/waybill-int/waybill/telemetry"
)

func open(t *testing.T, c Config) export.Output {
	t.Helper()
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	o, err := c.Open(export.Deps{Version: "v1.2-dirty+", Names: func() map[uint32]string { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

func cluster(t *testing.T, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.AllowAutoTopicCreation()}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// read reads n records of topics.
func read(t *testing.T, brokers []string, n int, topics ...string) (list []*kgo.Record) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topics...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(list) < n {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("got %d records, want %d", len(list), n)
		}
		list = append(list, fetches.Records()...)
	}
	return list
}

func records() []export.Record {
	flow := &telemetry.FlowInterval{Packets: 42, Key: telemetry.FlowKey{Protocol: 17, DstPort: 53}}
	event := &telemetry.Event{ID: "e1", Kind: telemetry.EventDropStorm, Text: "drop storm"}
	return []export.Record{
		{Kind: export.Flows, Of: flow},
		{Kind: export.Events, Of: event},
		{Kind: export.Metrics, Of: 1},
		{Kind: export.Flows, Of: flow},
	}
}

// TestKafka: what was confirmed is there, in the topic of its kind, with its key; what has no message is refused.
func TestKafka(t *testing.T) {
	c := cluster(t)
	for _, format := range []message.Format{message.JSON, message.Protobuf} {
		prefix := string(format) + "."
		o := open(t, Config{Brokers: c.ListenAddrs(), Topic: prefix + "{records}", Format: format})
		refused, err := o.Send(t.Context(), records())
		if err != nil || len(refused) != 1 || refused[0] != 2 {
			t.Fatalf("got %v, %v", refused, err)
		}
		for _, r := range read(t, c.ListenAddrs(), 3, prefix+"flows", prefix+"events") {
			typ, content := string(r.Headers[0].Value), string(r.Headers[1].Value)
			of := records()[0]
			if strings.HasSuffix(r.Topic, "events") {
				of = records()[1]
			}
			want, _ := format.Encode(of, nil)
			if string(r.Value) != string(want.Value) || string(r.Key) != want.Key || typ != "waybill.v1."+want.Type ||
				content != format.ContentType() {
				t.Errorf("%s: got %s with key %s, %s and %s, want %s with key %s", r.Topic, r.Value, r.Key, typ,
					content, want.Value, want.Key)
			}
		}
	}
	var flow struct {
		Packets  uint64
		Protocol string
	}
	if err := json.Unmarshal(read(t, c.ListenAddrs(), 2, "json.flows")[0].Value, &flow); err != nil ||
		flow.Packets != 42 || flow.Protocol != "udp" {
		t.Errorf("got %+v, %v", flow, err)
	}
}

// TestFailures: what brokers do not take now is an error, what they never take is refused.
func TestFailures(t *testing.T) {
	c := cluster(t)
	o := open(t, Config{Brokers: c.ListenAddrs()})
	answer := func(code int16, times int) {
		for range times {
			c.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
				answer := r.ResponseKind().(*kmsg.ProduceResponse)
				for _, topic := range r.(*kmsg.ProduceRequest).Topics {
					of := kmsg.NewProduceResponseTopic()
					of.Topic, of.TopicID = topic.Topic, topic.TopicID
					for _, p := range topic.Partitions {
						in := kmsg.NewProduceResponseTopicPartition()
						in.Partition, in.ErrorCode = p.Partition, code
						of.Partitions = append(of.Partitions, in)
					}
					answer.Topics = append(answer.Topics, of)
				}
				return answer, nil, true
			})
		}
	}
	one := records()[:1]
	answer(kerr.TopicAuthorizationFailed.Code, 1)
	if refused, err := o.Send(t.Context(), one); err == nil || len(refused) > 0 ||
		!strings.Contains(err.Error(), "waybill.flows") {
		t.Errorf("without permission: got %v, %v", refused, err)
	}
	answer(kerr.NotLeaderForPartition.Code, 1) // the library asks again by itself
	if refused, err := o.Send(t.Context(), one); err != nil || len(refused) > 0 {
		t.Errorf("after a change of leaders: got %v, %v", refused, err)
	}
	event := &telemetry.Event{ID: "large", Text: strings.Repeat("x", 2*maxMessageBytes)}
	with := append([]export.Record{{Kind: export.Events, Of: event}}, one...)
	if refused, err := o.Send(t.Context(), with); err != nil || len(refused) != 1 || refused[0] != 0 {
		t.Errorf("a message that is too large: got %v, %v", refused, err)
	}
	addresses := c.ListenAddrs()
	c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begin := time.Now()
	if _, err := o.Send(ctx, one); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%v are gone, and said %v", addresses, err)
	}
	if d := time.Since(begin); d > time.Minute {
		t.Errorf("it waited for %v, want a second", d)
	}
}

func TestLogin(t *testing.T) {
	c := cluster(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "waybill", "secret"))
	file := t.TempDir() + "/password"
	write(t, file, "secret\n")
	o := open(t, Config{Brokers: c.ListenAddrs(), Mechanism: "scram-sha-256", User: "waybill", PasswordFile: file})
	if refused, err := o.Send(t.Context(), records()[:1]); err != nil || len(refused) > 0 {
		t.Errorf("got %v, %v", refused, err)
	}
	write(t, file, "wrong\n")
	o = open(t, Config{Brokers: c.ListenAddrs(), Mechanism: "scram-sha-256", User: "waybill", PasswordFile: file})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := o.Send(ctx, records()[:1]); err == nil {
		t.Error("a wrong password is good enough")
	}
}

func TestCheck(t *testing.T) {
	brokers := []string{"127.0.0.1:9092"}
	for want, c := range map[string]Config{
		"brokers: want at least one":                 {},
		"format: got \"xml\"":                        {Brokers: brokers, Format: "xml"},
		"tls: want on: true":                         {Brokers: brokers, TLS: export.TLS{CA: "/x"}},
		"tls: ca: open /nowhere":                     {Brokers: brokers, TLS: export.TLS{On: true, CA: "/nowhere"}},
		"mechanism: want plain":                      {Brokers: brokers, User: "x"},
		"password_file: open /nowhere":               {Brokers: brokers, Mechanism: "plain", User: "x", PasswordFile: "/nowhere"},
		"mechanism: want user and password_file":     {Brokers: brokers, Mechanism: "plain", User: "x"},
		"mechanism: plain sends the password as it":  {Brokers: brokers, Mechanism: "plain", User: "x", PasswordFile: "kafka.go"},
		"mechanism: got \"kerberos\", want plain, s": {Brokers: brokers, Mechanism: "kerberos", User: "x", PasswordFile: "kafka.go"},
	} {
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
