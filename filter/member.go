package filter

import "slices"

// A member passes values that are in a list.
type member struct {
	values []Value
	texts  []string
	set    map[Value]bool // of a long list
}

// Above so many values a map is faster than looking at each of them.
const longList = 8

func newMember(list []literal) *member {
	m := &member{}
	for _, l := range list {
		m.values = append(m.values, l.value)
		m.texts = append(m.texts, l.text)
	}
	if len(list) > longList {
		m.set = map[Value]bool{}
		for _, v := range m.values {
			m.set[v] = true
		}
	}
	return m
}

func (m *member) holds(v Value, _ int64) bool {
	if m.set != nil {
		return m.set[v]
	}
	return slices.Contains(m.values, v)
}

func (m *member) sql(w *writer, f *Field, column string) {
	w.write(column, " IN ")
	w.list(", ", len(m.values), func(i int) { w.bind(f, m.values[i]) })
}

func (m *member) print(b []byte, negate bool) []byte {
	return printList(append(b, not(negate, "in ")...), false, m.texts)
}

// not puts "not " before a word if negate is set.
func not(negate bool, word string) string {
	if negate {
		return "not " + word
	}
	return word
}
