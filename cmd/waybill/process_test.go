package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// TestServeProcess is not a test: it is waybill in a process of its own, for the tests that kill it.
func TestServeProcess(t *testing.T) {
	args := os.Getenv("WAYBILL_TEST_ARGS")
	if args == "" {
		t.Skip("it is called by others")
	}
	if options, is := strings.CutPrefix(args, "nats "); is {
		runNATS(t, options)
	}
	root := newRootCommand()
	root.SetArgs(strings.Fields(args))
	os.Exit(command.Execute(root))
}

// runSelf returns what runs waybill in a process of its own: the program that was built for all tests, if it was, which
// has no race detector if these have one for themselves; or this one.
func runSelf(args ...string) *exec.Cmd {
	if program := os.Getenv("TEST_PROGRAM"); program != "" {
		return exec.Command(program, args...)
	}
	c := exec.Command(os.Args[0], "-test.run=^TestServeProcess$")
	c.Env = append(os.Environ(), "WAYBILL_TEST_ARGS="+strings.Join(args, " "))
	return c
}

// A process is waybill serve in a process of its own.
type process struct {
	*exec.Cmd
	t    *testing.T
	http string
	log  bytes.Buffer
}

// startServe starts waybill serve on given ports, and waits until it receives.
func startServe(t *testing.T, udp, http, data string, more ...string) *process {
	t.Helper()
	return startProcess(t, http, "/readyz",
		"serve --workers 2 --listen udp://"+udp+" --http "+http+" --data "+data+" "+strings.Join(more, " "))
}

// startProcess starts waybill with arguments, and waits until it answers a question over HTTP.
func startProcess(t *testing.T, http, question, args string, change ...func(*exec.Cmd)) *process {
	t.Helper()
	p := &process{t: t, http: http, Cmd: runSelf(strings.Fields(args)...)}
	p.Stderr = &p.log
	for _, change := range change {
		change(p.Cmd)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Process.Kill()
		p.Wait()
		if t.Failed() {
			t.Logf("waybill %s\nlog:\n%s", args, p.log.String())
		}
	})
	test.Eventually(t, "starting", func() bool { return p.ask(question, nil) == nil })
	return p
}

// ask decodes an answer into v.
func (p *process) ask(path string, v any) error {
	response, err := http.Get("http://" + p.http + path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s %w", path, response.Status, err)
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(body, v)
}

// A switchOfTest sends reports that are numbered on, whether anybody receives them.
type switchOfTest struct {
	net.PacketConn
	to         net.Addr
	flow       uint32 // counted from 1
	first      uint32
	next, lost uint32 // counted from first
}

func (s *switchOfTest) send(n int) {
	for range n {
		s.WriteTo(test.Report(test.Form20MD, 1+s.flow, s.first+s.next, 3), s.to) // an error says that nobody listens
		s.next++
	}
}

// skip lets reports get lost on the way.
func (s *switchOfTest) skip(n uint32) {
	s.next += n
	s.lost += n
}

// Whatever happens to the process, the ledger has every report that was sent: those that it took, and those that went
// by.
func TestKillAndRestart(t *testing.T) {
	udp, web, data := test.FreePort(t, "udp"), test.FreePort(t, "tcp"), t.TempDir()
	to, err := net.ResolveUDPAddr("udp", udp)
	if err != nil {
		t.Fatal(err)
	}
	var switches []*switchOfTest
	for i, first := range []uint32{0, 77777, 1<<22 - 450} { // the last one wraps while nobody receives
		c, err := net.ListenPacket("udp", fmt.Sprintf("127.0.7.%d:0", i+1))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		switches = append(switches, &switchOfTest{PacketConn: c, to: to, first: first})
	}
	sendAll := func(n int) {
		for range n {
			for _, s := range switches {
				s.send(1)
			}
			time.Sleep(200 * time.Microsecond) // a rate that a receive buffer takes
		}
	}
	ledgerOf := func(p *process) map[string]telemetry.Loss {
		var l struct{ Loss []telemetry.Loss }
		if err := p.ask("/api/v1/loss?intervals=true", &l); err != nil {
			t.Fatal(err)
		}
		bySource := map[string]telemetry.Loss{}
		for _, x := range l.Loss {
			bySource[x.Source.String()] = x
		}
		return bySource
	}
	lossEvents := func(p *process) map[string]telemetry.Event {
		var l struct{ Events []telemetry.Event }
		if err := p.ask("/api/v1/events?kind=report_loss", &l); err != nil {
			t.Fatal(err)
		}
		byID := map[string]telemetry.Event{}
		for _, e := range l.Events {
			byID[e.ID] = e
		}
		return byID
	}

	p := startServe(t, udp, web, data)
	sendAll(200)
	switches[0].skip(7) // an event that goes on when the process dies
	sendAll(100)
	saved := func() (s analyze.State) {
		content, err := os.ReadFile(filepath.Join(data, "checkpoint"))
		if errors.Is(err, fs.ErrNotExist) {
			return s
		}
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := bytes.Cut(content, []byte("\n")) // the line before says how long it is
		if err := json.Unmarshal(body, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	var before []telemetry.Event
	var again time.Time // when the event ended after which more were thrown away
	test.Eventually(t, "a checkpoint with the event", func() bool {
		ongoing, ended := false, time.Time{}
		for _, e := range lossEvents(p) {
			if e.End == nil {
				ongoing = true
			} else if e.End.After(ended) {
				ended = *e.End
			}
		}
		s := saved()
		for i := range s.Events.Open {
			if e := s.Events.Open[i].Event; e.Kind == telemetry.EventReportLoss {
				before = append(before, e)
			}
		}
		// On a busy machine an event may end before the next checkpoint: then it takes another one. What is thrown away
		// must be older than the checkpoint, or it would be counted with what went by.
		if len(before) == 0 && !ongoing && ended.After(again) {
			again = ended
			switches[0].skip(7)
		}
		sendAll(1)
		return len(before) > 0
	})
	sendAll(100) // of which the last checkpoint may know nothing
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.Wait()
	killed := time.Now()
	sendAll(300)

	p = startServe(t, udp, web, data)
	sendAll(150)
	test.Eventually(t, "receiving everything", func() bool {
		n := 0
		for i, s := range switches {
			if x := ledgerOf(p)[fmt.Sprintf("127.0.7.%d", i+1)]; x.Sent != nil && *x.Sent == uint64(s.next) {
				n++
			}
		}
		return n == len(switches)
	})
	for source, x := range ledgerOf(p) {
		var s *switchOfTest
		for i := range switches {
			if source == fmt.Sprintf("127.0.7.%d", i+1) {
				s = switches[i]
			}
		}
		if s == nil {
			t.Errorf("an exporter %s", source)
			continue
		}
		if *x.Sent != uint64(s.next) || *x.Arrived+*x.Lost != *x.Sent || x.Received != *x.Arrived || x.Restarted != 0 {
			t.Errorf("%s sent %d: sent %d, arrived %d, lost %d, received %d, restarted %d", source, s.next, *x.Sent,
				*x.Arrived, *x.Lost, x.Received, x.Restarted)
		}
		// Lost are those that were thrown away and those that went by; those are 300, and what came behind the
		// checkpoint.
		if away := *x.Away; *x.Lost != uint64(s.lost)+away || away < 300 || away > 300+100+200 {
			t.Errorf("%s: lost %d, of these %d away; thrown away %d", source, *x.Lost, away, s.lost)
		}
		var sent, lost uint64
		for _, i := range x.Intervals {
			sent, lost = sent+*i.Sent, lost+*i.Lost-*i.Late
		}
		if sent != *x.Sent || lost != *x.Lost {
			t.Errorf("%s: the intervals have sent %d, lost %d; all time has %d, %d", source, sent, lost, *x.Sent,
				*x.Lost)
		}
	}
	if metrics, err := http.Get("http://" + web + "/metrics"); err != nil {
		t.Error(err)
	} else {
		text, _ := io.ReadAll(metrics.Body)
		metrics.Body.Close()
		if !bytes.Contains(text, []byte("\nwaybill_checkpoint_failures_total 0\n")) ||
			!bytes.Contains(text, []byte("\nwaybill_checkpoint_timestamp_seconds 1")) {
			t.Error("no metrics of checkpoints")
		}
	}
	var frame struct{ Gaps []telemetry.LossGap }
	if err := p.ask("/api/v1/loss", &frame); err != nil {
		t.Fatal(err)
	}
	if len(frame.Gaps) != 1 || !frame.Gaps[0].From.Before(killed) || !frame.Gaps[0].To.After(killed) {
		t.Errorf("killed at %v, gaps: %+v", killed, frame.Gaps)
	}
	test.Eventually(t, "the end of the event", func() bool {
		after := lossEvents(p)
		for _, e := range before {
			if after[e.ID].ID == "" || !after[e.ID].Start.Equal(e.Start) {
				t.Fatalf("event %+v is gone: %+v", e, after)
			}
			if after[e.ID].End == nil {
				return false
			}
		}
		return len(before) == 1
	})
}
