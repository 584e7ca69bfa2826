package ring

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/waybill-int/waybill/store"
)

// crashDir says to TestMain that this process keeps datagrams until it is killed.
const crashDir = "WAYBILL_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		recordUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// recordUntilKilled hands over datagrams whose number goes up, and says once a millisecond which was the last.
func recordUntilKilled(dir string) {
	first, err := strconv.Atoi(os.Getenv(crashDir + "_FIRST"))
	if err == nil {
		var r *Ring
		if r, err = Open(Config{Dir: dir, MaxBytes: MinBytes},
			store.NewTroubles(slog.New(slog.DiscardHandler))); err == nil {
			a := r.Appender(listener)
			go r.Run(context.Background())
			for i := first; ; i++ {
				d := datagram(i)
				a.Record(time.Now().UnixNano(), d.Source, d.Payload, d.Truncated)
				if i%20 == 0 {
					fmt.Println(i)
					time.Sleep(time.Millisecond)
				}
			}
		}
	}
	fmt.Println("error", err)
	os.Exit(1)
}

// TestKilled: of a process that is killed at any moment, the files open, and all but what came in the last second is
// there.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	g := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	first := 0
	for round := range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashDir+"="+dir, fmt.Sprintf("%s_FIRST=%d", crashDir, first))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Duration(600+g.IntN(600))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		handedOver := map[int]time.Time{} // when at the latest
		last, lines := first, bufio.NewScanner(out)
		for lines.Scan() {
			if last, err = strconv.Atoi(lines.Text()); err != nil {
				t.Fatalf("the process says %q", lines.Text())
			}
			handedOver[last] = time.Now()
		}
		_ = cmd.Wait() // it was killed
		killed := time.Now()
		r := open(t, dir)
		newest, next := -1, first
		err = r.Oldest(t.Context(), all, func(d *Record) bool {
			i := numberOf(d)
			if i >= first {
				if i != next {
					t.Fatalf("round %d: %d behind %d", round, i, next-1)
				}
				next = i + 1
			}
			newest = i
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range handedOver {
			if i > newest && killed.Sub(at) > time.Second {
				t.Errorf("round %d: %d was handed over %v before the end; the newest is %d", round, i, killed.Sub(at),
					newest)
			}
		}
		r.close()
		first = last + 1_000_000
	}
}
