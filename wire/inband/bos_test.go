package inband

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

func TestBOS(t *testing.T) {
	tests := []struct {
		name  string
		stack string
		index int
		hint  bool
	}{
		{"Empty", "", -1, false},
		{"Last", "00000001 80000002", 1, true},
		{"Single", "80000002", 0, true},
		{"None", "00000001 00000002", -1, false},
		{"First", "80000001 00000002", 0, false},
		{"Both", "80000001 80000002", 0, false},
		{"Torn", "00000001 80000002 80", 1, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			stack := wiretest.Hex(t, test.stack)
			if got := BOSIndex(stack); got != test.index {
				t.Errorf("BOSIndex: got %d, want %d", got, test.index)
			}
			if got := LooksLike2016(stack); got != test.hint {
				t.Errorf("LooksLike2016: got %v, want %v", got, test.hint)
			}
		})
	}
}
