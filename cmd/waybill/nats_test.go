package main

import (
	"encoding/json"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/waybill-int/waybill/internal/test"
)

// natsOptions are those of a server of NATS in a process of its own, one of a cluster of three.
type natsOptions struct {
	Name          string
	Client, Route string   // addresses
	Routes        []string // of all three
	Dir           string
}

// runNATS is the process of a server of NATS, until it is killed.
func runNATS(t *testing.T, text string) {
	var o natsOptions
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	portOf := func(address string) int {
		_, port, _ := net.SplitHostPort(address)
		n, err := strconv.Atoi(port)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	options := &server.Options{
		ServerName: o.Name, Host: "127.0.0.1", Port: portOf(o.Client), NoSigs: true, JetStream: true, StoreDir: o.Dir,
		JetStreamMaxStore: 1 << 30, JetStreamMaxMemory: 16 << 20, SyncAlways: true,
		Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: portOf(o.Route), NoAdvertise: true},
	}
	for _, route := range o.Routes {
		options.Routes = append(options.Routes, &url.URL{Scheme: "nats", Host: route})
	}
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.ConfigureLogger()
	s.Start()
	s.WaitForShutdown()
	os.Exit(0)
}

// A natsCluster is three servers of NATS in processes of their own.
type natsCluster struct {
	t         *testing.T
	options   [3]natsOptions
	processes [3]*exec.Cmd
	log       syncBuffer // of all
	urls      []string
}

// startNATS starts three servers, and waits until they keep streams. If they do not within minutes, others are started:
// how long they take to choose one that leads is not what is tested.
func startNATS(t *testing.T) *natsCluster {
	t.Helper()
	for try := 1; ; try++ {
		c := newNATS(t)
		for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			_, err := c.ask(func(js jetstream.JetStream) (any, error) { return js.AccountInfo(t.Context()) })
			if err == nil {
				return c
			}
		}
		log := c.log.String()
		t.Logf("a cluster of NATS keeps no streams; its log ends:\n%s", log[max(len(log)-4000, 0):])
		if try == 5 {
			t.FailNow()
		}
		c.stop()
	}
}

func newNATS(t *testing.T) *natsCluster {
	t.Helper()
	c := &natsCluster{t: t}
	var routes []string
	for i := range c.options {
		c.options[i] = natsOptions{
			Name: "n" + strconv.Itoa(i), Client: test.FreePort(t, "tcp"), Route: test.FreePort(t, "tcp"),
			Dir: t.TempDir(),
		}
		routes = append(routes, c.options[i].Route)
		c.urls = append(c.urls, "nats://"+c.options[i].Client)
	}
	for i := range c.options {
		c.options[i].Routes = routes
		c.start(i)
	}
	t.Cleanup(c.stop)
	return c
}

func (c *natsCluster) stop() {
	for i := range c.processes {
		c.kill(i)
	}
}

func (c *natsCluster) start(i int) {
	c.t.Helper()
	text, err := json.Marshal(c.options[i])
	if err != nil {
		c.t.Fatal(err)
	}
	p := exec.Command(os.Args[0], "-test.run=^TestServeProcess$")
	p.Env = append(os.Environ(), "WAYBILL_TEST_ARGS=nats "+string(text))
	p.Stderr = &c.log
	if err := p.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.processes[i] = p
}

func (c *natsCluster) kill(i int) {
	c.processes[i].Process.Kill()
	c.processes[i].Wait()
}

// ask asks about streams.
func (c *natsCluster) ask(question func(jetstream.JetStream) (any, error)) (any, error) {
	conn, err := nats.Connect(c.urls[0]+","+c.urls[1]+","+c.urls[2], nats.Timeout(time.Second))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	return question(js)
}

// streamBytes returns how much the bus holds.
func (c *natsCluster) streamBytes() (n uint64) {
	_, _ = c.ask(func(js jetstream.JetStream) (any, error) {
		s, err := js.Stream(c.t.Context(), "WAYBILL")
		if err == nil {
			n = s.CachedInfo().State.Bytes
		}
		return nil, err
	})
	return n
}

// whole reports whether each server has what the stream has.
func (c *natsCluster) whole() (is bool) {
	_, _ = c.ask(func(js jetstream.JetStream) (any, error) {
		s, err := js.Stream(c.t.Context(), "WAYBILL")
		if err != nil {
			return nil, err
		}
		of := s.CachedInfo().Cluster
		is = of != nil && of.Leader != "" && len(of.Replicas) == 2 && of.Replicas[0].Current && of.Replicas[1].Current
		return nil, nil
	})
	return is
}
