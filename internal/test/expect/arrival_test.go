package expect

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// A packet that others have overtaken shows that the flow took another path before, if nothing else has shown it.
func TestOvertaken(t *testing.T) {
	way := func(ports ...uint32) *path {
		p := &path{}
		for i, port := range ports {
			p.elements = append(p.elements, element{node: uint32(i + 1), out: port, known: telemetry.HasNode})
		}
		return p
	}
	first, second, part := way(1, 1, 1), way(1, 2, 1), way(1, 2)
	type packet struct {
		by       *path
		entered  uint64
		from, to *path
	}
	for name, list := range map[string][]packet{
		"one of before":        {{second, 20, nil, nil}, {first, 10, first, second}, {first, 11, nil, nil}},
		"known":                {{first, 10, nil, nil}, {second, 20, first, second}, {first, 15, nil, nil}},
		"and back":             {{second, 20, nil, nil}, {first, 10, first, second}, {first, 30, second, first}},
		"one that is cut":      {{second, 20, nil, nil}, {part, 10, nil, nil}},
		"in order":             {{first, 10, nil, nil}, {second, 20, first, second}, {first, 30, second, first}},
		"overtaken by the way": {{first, 10, nil, nil}, {first, 5, nil, nil}},
	} {
		var a arrival
		for i, p := range list {
			from, to := a.turns(p.by, &sight{has: telemetry.HasIngressTime, ingress: p.entered}, 0)
			if from != p.from || to != p.to {
				t.Errorf("%s: packet %d: got %v to %v, want %v to %v", name, i, from, to, p.from, p.to)
			}
		}
	}
}
