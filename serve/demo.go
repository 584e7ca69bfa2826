package serve

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/waybill-int/waybill/api"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/scenarios"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// demoTime is how long a demo runs that nobody stops.
const demoTime = 10 * time.Minute

// A demo sends the reports of an emulated network to this server, from a process of its own: what it needs of processor
// and memory is not that of the server, and neither are its defects.
type demo struct {
	to      string // a listener
	log     *slog.Logger
	refused func() error // says why it must not start now

	mu     sync.Mutex
	state  types.DemoState
	cancel context.CancelFunc
	ended  chan struct{} // closed when the process has ended; nil: none was started
}

// newDemo returns the demo of s, or nil if there cannot be one: whoever reaches a server from elsewhere must not make
// it work, and reports of a network that is not there have no place among those of a list of exporters.
func newDemo(s *Server) *demo {
	host, _, err := net.SplitHostPort(s.endpoint.listener.Addr().String())
	address, parseErr := netip.ParseAddr(host)
	if err != nil || parseErr != nil || !address.Unmap().IsLoopback() ||
		len(s.Receivers) == 0 || s.formatOf(0) != nil ||
		len(s.Config.Exporters) > 0 {
		return nil
	}
	to, err := netip.ParseAddrPort(s.Receivers[0].Stats().Address)
	if err != nil {
		return nil
	}
	if to.Addr().IsUnspecified() { // also for a socket of IPv6, which takes IPv4 too
		to = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), to.Port())
	}
	refused := func() error {
		if d := s.points().For(to.Addr(), 0, to.Port()).Dialect; d != codepoint.Specification {
			return fmt.Errorf("%w: reports from %s are read as dialect %s, and those of the demo have none",
				api.ErrDemoRefused, to.Addr(), d.Name)
		}
		for _, e := range s.Collector.Exporters {
			for _, x := range e.Totals(nil) {
				if x.Key.Header && !x.Key.Source.Unmap().IsLoopback() {
					return fmt.Errorf(
						"%w: %v sends reports, and the demo would put its nodes 1 to 6 among those of a real network; run it with a server of its own, make demo",
						api.ErrDemoRefused, x.Key.Source)
				}
			}
		}
		return nil
	}
	return &demo{to: to.String(), log: s.log, refused: refused}
}

// demoScenario is that of "make demo" with switches that report by themselves: a server that knows no code points of
// theirs understands all of it.
func demoScenario() ([]byte, error) {
	text, err := scenarios.Files.ReadFile("demo.yaml")
	return bytes.Replace(text, []byte("\nint: {"), []byte("\nint: {mode: xd, "), 1), err
}

// Start implements api.Demo.
func (d *demo) Start() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state.Running {
		return nil
	}
	if err := d.refused(); err != nil {
		return err
	}
	scenario, err := demoScenario()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "fabric", "-", "--reports", d.to, "--speed", "realtime", "--duration",
		demoTime.String(), "--quiet")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 3 * time.Second
	cmd.Stdin = bytes.NewReader(scenario)
	said := &firstBytes{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		cancel()
		return err
	}
	now := time.Now().UTC()
	ends := now.Add(demoTime)
	d.state = types.DemoState{Running: true, Started: &now, Ends: &ends}
	d.cancel, d.ended = cancel, make(chan struct{})
	d.log.Info("the demo runs", "to", d.to, "until", ends)
	go func() {
		err := cmd.Wait()
		d.mu.Lock()
		d.state.Running, d.state.Ends = false, nil
		if err != nil && ctx.Err() == nil {
			d.state.Failed = strings.TrimSpace(fmt.Sprintf("%v: %s", err, said.text))
		}
		d.mu.Unlock()
		cancel()
		d.log.Info("the demo has ended", "failed", d.State().Failed)
		close(d.ended)
	}()
	return nil
}

// Stop implements api.Demo.
func (d *demo) Stop() {
	d.mu.Lock()
	cancel, ended := d.cancel, d.ended
	d.mu.Unlock()
	if ended != nil {
		cancel()
		<-ended
	}
}

// State implements api.Demo.
func (d *demo) State() types.DemoState {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state
}

// firstBytes keeps the beginning of what is written to it.
type firstBytes struct{ text []byte }

func (f *firstBytes) Write(p []byte) (int, error) {
	f.text = append(f.text, p[:min(len(p), 500-len(f.text))]...)
	return len(p), nil
}
