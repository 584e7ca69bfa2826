package duckdb

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// crashDir says to TestMain that this process writes into a store until it is killed.
const crashDir = "WAYBILL_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		writeUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// writeUntilKilled writes batches and says the number of each that was acknowledged. The number is in the DSCP and
// ports of its 1000 records.
func writeUntilKilled(dir string) {
	fail := func(err error) {
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	s, err := Open(DefaultConfig(dir))
	fail(err)
	first, err := strconv.Atoi(os.Getenv(crashDir + "_FIRST"))
	fail(err)
	for n := first; ; n++ {
		v := &telemetry.Intervals{}
		at := epoch.Add(time.Duration(n) * 10 * time.Second)
		for i := range 1000 {
			v.Flows = append(v.Flows,
				telemetry.FlowInterval{
					StartNs: at.UnixNano(),
					Key:     telemetry.FlowKey{SrcPort: uint16(n), DstPort: uint16(i)}, Packets: 1,
				})
		}
		v.Events = []telemetry.Event{{ID: fmt.Sprint(n), Start: at}}
		fail(s.Write([]*telemetry.Intervals{v}))
		fmt.Println(n)
		fail(s.Maintain(context.Background(), at))
	}
}

// TestKilled: of a process that is killed at any moment, while it writes, rolls up and makes new files, all that was
// acknowledged is there, once, and the files open.
func TestKilled(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	dir := t.TempDir()
	g := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	next, before := 0, 0 // the number of the next batch, and how many there are
	rounds := 3
	if _, all := test.Seed(t); all {
		rounds = 30
	}
	for round := range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashDir+"="+dir, fmt.Sprintf("%s_FIRST=%d", crashDir, next))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		acknowledged := next - 1
		kill := acknowledged + 1 + g.IntN(60)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatalf("the process says %q", lines.Text())
			}
			if acknowledged = n; n == kill { // and somewhat later
				time.AfterFunc(time.Duration(g.IntN(20_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait() // it was killed
		s, err := Open(DefaultConfig(dir))
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		got := fmt.Sprint(
			sqlOf(t, s,
				fmt.Sprintf("SELECT count(*), count(DISTINCT (src_port, dst_port)) FROM flows_10s WHERE src_port <= %d",
					acknowledged)))
		batches := before + acknowledged - next + 1
		if want := fmt.Sprintf("[[%d %d]]", 1000*batches, 1000*batches); got != want {
			t.Fatalf("round %d: got %s, want %s", round, got, want)
		}
		// Of what was not acknowledged a batch is there as a whole or not at all, and rollups agree with what they are
		// of.
		after := sqlOf(t, s, "SELECT coalesce(max(src_port), 0), count(*) % 1000, count(*) // 1000 FROM flows_10s")
		before = int(after[0][2].(int64))
		if after[0][1] != int64(0) {
			t.Fatalf("round %d: a part of a batch is there", round)
		}
		next = int(after[0][0].(uint16)) + 1
		roll(t, s, epoch.Add(time.Duration(next)*10*time.Second+time.Hour))
		sums := fmt.Sprint(
			sqlOf(t, s, "SELECT (SELECT sum(packets) FROM flows_10s) - (SELECT sum(packets) FROM flows_1m)"))
		if sums != "[[0]]" {
			t.Fatalf("round %d: the minutes lack %s packets", round, strings.Trim(sums, "[]"))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		next += 400 // rolled up hours are over
	}
}
