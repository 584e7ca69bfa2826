package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

// One datagram is shown with what is in its bytes.
func TestQueryReport(t *testing.T) {
	report, err := os.ReadFile(apiAnswers + "report.json")
	if err != nil {
		t.Fatal(err)
	}
	s := test.CannedServer(t, map[string]string{"reports/1-10-1b": string(report)})
	stdout, stderr, code := runQuery(t, "reports", "1-10-1b", "--server", s.URL)
	if code != 0 || strings.Contains(stdout, "\x1b") {
		t.Errorf("code %d, %s", code, stderr)
	}
	goldenQuery(t, "report.table", stdout)
	for _, args := range [][]string{{"reports", "1", "-o", "pcap"}, {"flows", "-o", "pcap"}, {"reports", "1", "2"}} {
		if _, stderr, code := runQuery(t, append(args, "--server", s.URL)...); code != 2 {
			t.Errorf("%v: code %d, %s", args, code, stderr)
		}
	}
	if _, stderr, code := runQuery(t, "reports", "--server", emptyServer(t).URL); code != 1 ||
		!strings.Contains(stderr, "--raw-reports") {
		t.Errorf("a server without: code %d, %s", code, stderr)
	}
}
