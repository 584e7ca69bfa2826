package bus

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/waybill-int/waybill/internal/test"
)

// What reads the stream may be on a server of a cluster that is gone: whoever asks for it by its name again gets no
// answer until that server is back. The analyzer goes on without it.
func TestUnansweredConsumer(t *testing.T) {
	address := test.FreePort(t, "tcp")
	_, portText, _ := net.SplitHostPort(address)
	port, _ := strconv.Atoi(portText)
	may := func(deny ...string) *server.Options {
		return &server.Options{
			ServerName: "test", Host: "127.0.0.1", Port: port, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
			JetStreamMaxStore: 1 << 30, JetStreamMaxMemory: 16 << 20,
			Users: []*server.User{
				{Username: "admin", Password: "a"},
				{Username: "waybill", Password: "w", Permissions: &server.Permissions{
					Publish: &server.SubjectPermission{Deny: deny},
				}},
			},
		}
	}
	options := may("nothing")
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	c := Config{URLs: []string{"nats://waybill:w@" + address}}
	a := startAnalyzer(t, c, nil)
	defer a.stop()
	k := startCollector(t, c, "collector", "")
	defer k.stop()
	k.send(t, numbered("collector", 1, 1000))
	test.Eventually(t, "datagrams", func() bool { return a.count() == 1000 })

	admin, err := nats.Connect("nats://admin:a@" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	js, err := jetstream.New(admin)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), streamName)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	list := stream.ConsumerNames(t.Context())
	for name := range list.Name() {
		names = append(names, name)
	}
	if len(names) != 1 || list.Err() != nil {
		t.Fatalf("got the consumers %q, %v, want one", names, list.Err())
	}
	end := strings.LastIndexByte(names[0], '_')
	serial, err := strconv.Atoi(names[0][end+1:])
	if err != nil {
		t.Fatal(err)
	}
	// Nobody answers who asks for the one that comes next.
	denied := may(fmt.Sprintf("$JS.API.CONSUMER.CREATE.%s.%s_%d", streamName, names[0][:end], serial+1))
	denied.StoreDir = options.StoreDir
	if err := s.ReloadOptions(denied); err != nil {
		t.Fatal(err)
	}
	connections, err := s.Connz(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, conn := range connections.Conns {
		if conn.Name == "analyzer" {
			err = s.DisconnectClientByID(conn.Cid)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	k.send(t, numbered("collector", 1001, 1000))
	test.Eventually(t, "datagrams behind it", func() bool { return a.count() == 2000 })
	a.check(t, 2000)
}
