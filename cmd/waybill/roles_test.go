package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// startRole starts waybill serve in a process of its own, with a configuration of the file's text.
func startRole(t *testing.T, http, config string) *process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "waybill.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return startProcess(t, http, "/healthz", "serve --config "+file)
}

func (p *process) kill() {
	p.Process.Kill()
	p.Wait()
}

// Two collectors, a bus and an analyzer: what was sent is received, each report once, while the analyzer and with it
// the bus are killed, and the ledger names what a killed collector had in its memory.
func TestRoles(t *testing.T) {
	bus, web := test.FreePort(t, "tcp"), test.FreePort(t, "tcp")
	analyze := fmt.Sprintf("role: analyze\nworkers: 2\nhttp: %s\ndata: %s\nbus: {embedded: %q}\n", web,
		t.TempDir(), bus)
	type collector struct {
		udp, http, config string
		*process
		switches []*switchOfTest
	}
	var collectors []*collector
	for i := range 2 {
		c := &collector{udp: test.FreePort(t, "udp"), http: test.FreePort(t, "tcp")}
		c.config = fmt.Sprintf("role: collect\nhttp: %s\nlisten: [%q]\ndata: %s\nbus: {urls: [%q], name: c%d}\n",
			c.http, "udp://"+c.udp, t.TempDir(), "nats://"+bus, i)
		to, err := net.ResolveUDPAddr("udp", c.udp)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 3 {
			conn, err := net.ListenPacket("udp", fmt.Sprintf("127.0.%d.%d:0", 8+i, j+1))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			c.switches = append(c.switches, &switchOfTest{PacketConn: conn, to: to})
		}
		collectors = append(collectors, c)
	}
	sendAll := func(n int) {
		for range n {
			for _, c := range collectors {
				for _, s := range c.switches {
					s.send(1)
				}
			}
			time.Sleep(200 * time.Microsecond)
		}
	}
	// settled waits until the ledger has the newest report of each switch, and returns what it says.
	var a *process
	settled := func() map[string]telemetry.Loss {
		bySource := map[string]telemetry.Loss{}
		test.Eventually(t, "receiving everything", func() bool {
			var l struct{ Loss []telemetry.Loss }
			if a.ask("/api/v1/loss", &l) != nil {
				return false
			}
			clear(bySource)
			for _, x := range l.Loss {
				bySource[x.Source.String()] = x
			}
			for i, c := range collectors {
				for j, s := range c.switches {
					x, has := bySource[fmt.Sprintf("127.0.%d.%d", 8+i, j+1)]
					if !has || x.Sent == nil || *x.Sent != uint64(s.next) {
						return false
					}
				}
			}
			return true
		})
		return bySource
	}
	check := func(what string, mayLose map[string]bool) {
		t.Helper()
		for source, x := range settled() {
			if *x.Arrived+*x.Lost != *x.Sent || x.Received != *x.Arrived || *x.Duplicate != 0 || x.Restarted != 0 ||
				*x.Lost > 0 && !mayLose[source] || *x.Lost > 1500 {
				t.Errorf("%s: %s: sent %d, arrived %d, lost %d, received %d, duplicates %d", what, source, *x.Sent,
					*x.Arrived, *x.Lost, x.Received, *x.Duplicate)
			}
		}
	}

	for _, c := range collectors { // before there is a bus
		c.process = startRole(t, c.http, c.config)
	}
	sendAll(500)
	a = startRole(t, web, analyze)
	sendAll(500)
	check("collectors came first", nil)

	sendAll(700)
	a.kill() // and the bus
	sendAll(700)
	a = startRole(t, web, analyze)
	sendAll(100)
	check("the analyzer was killed", nil)
	var frame struct{ Gaps []telemetry.LossGap }
	if err := a.ask("/api/v1/loss", &frame); err != nil || len(frame.Gaps) > 0 {
		t.Errorf("collectors were there all the time, and the ledger has gaps: %+v %v", frame.Gaps, err)
	}

	sendAll(200)
	collectors[0].kill()
	collectors[0].process = startRole(t, collectors[0].http, collectors[0].config)
	sendAll(200)
	check("a collector was killed", map[string]bool{"127.0.8.1": true, "127.0.8.2": true, "127.0.8.3": true})

	collectors[1].Process.Signal(os.Interrupt)
	if err := collectors[1].Wait(); err != nil {
		t.Errorf("a collector that was told to stop: %v\n%s", err, collectors[1].log.String())
	}
	a.Process.Signal(os.Interrupt)
	if err := a.Wait(); err != nil {
		t.Errorf("an analyzer that was told to stop: %v", err)
	}
}
