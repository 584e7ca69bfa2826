package filter

import (
	"errors"
	"strings"
	"testing"
)

// bad are filters with the wrong bytes and what Error says.
var bad = []struct {
	text           string
	offset, length int
	message        string
}{
	{"nod = 3", 0, 3, "column 1: things have no field nod: did you mean node?"},
	{"foo = 3", 0, 3, "column 1: things have no field foo"},
	{"NODEE = 3", 0, 5, "column 1: things have no field NODEE: did you mean node?"},
	{"latenzy > 5us", 0, 7, "column 1: things have no field latenzy: did you mean latency?"},
	{"other = 3", 0, 5, "column 1: things have no field other: did you mean n.other?"},
	{`"n" = 3`, 0, 3, `column 1: expected a field, found "n"`},
	{"= 3", 0, 1, "column 1: expected a field, found ="},
	{"and n = 3", 0, 3, "column 1: expected a field, found and"},
	{"n", 1, 0, "column 2: expected =, !=, <, <=, >, >=, in, not in, is null, or is not null, found the end"},
	{"n 3", 2, 1, "column 3: expected =, !=, <, <=, >, >=, in, not in, is null, or is not null, found 3"},
	{"n = ", 4, 0, "column 5: expected a number such as 42 or 0x2a, found the end"},
	{"n = and", 4, 3, "column 5: expected a number such as 42 or 0x2a, found and"},
	{"n = null", 4, 4, "column 5: null is not a value; write is null or is not null"},
	{"n = 1 m = 2", 6, 1, "column 7: expected and, or, or the end, found m"},
	{"n = 1 nad m = 2", 6, 3, "column 7: expected and, or, or the end, found nad: did you mean and?"},
	{"n = 1 and", 9, 0, "column 10: expected a field, found the end"},
	{"n = 1 &", 6, 1, "column 7: unexpected '&'; a text with such characters needs quotes"},
	{"(n = 1", 0, 1, "column 1: the bracket is not closed"},
	{"(n = 1 m", 7, 1, "column 8: expected and, or, or ), found m"},
	{"n = 1)", 5, 1, "column 6: expected and, or, or the end, found )"},
	{"()", 1, 1, "column 2: expected a field, found )"},
	{"not", 3, 0, "column 4: expected a field, found the end"},
	{"exists", 6, 0, "column 7: expected a field, found the end"},
	{"exists (n", 7, 1, "column 8: the bracket is not closed"},
	{"exists 3", 7, 1, "column 8: things have no field 3"},
	{"n is", 4, 0, "column 5: expected null or not null, found the end"},
	{"n is not", 8, 0, "column 9: expected null or not null, found the end"},
	{"n is 3", 5, 1, "column 6: expected null or not null, found 3"},
	{"n not 3", 6, 1, "column 7: expected in, found 3"},
	{"n not = 3", 6, 1, "column 7: expected in, found ="},
	{"name not", 8, 0, "column 9: expected in or like, found the end"},
	{"up not", 3, 3, "column 4: up is a boolean, which does not take not"},
	{"n in", 4, 0, "column 5: expected ( and a list of values, found the end"},
	{"n in 3", 5, 1, "column 6: expected ( and a list of values, found 3"},
	{"n in (", 6, 0, "column 7: expected a number such as 42 or 0x2a, found the end"},
	{"n in ()", 6, 1, "column 7: expected a number such as 42 or 0x2a, found )"},
	{"n in (1", 5, 1, "column 6: the bracket is not closed"},
	{"n in (1 2)", 8, 1, "column 9: expected , or ), found 2"},
	{"n in (1, m)", 9, 1, "column 10: a list has values, and m is a field"},
	{"n in (1, null)", 9, 4, "column 10: null is not a value; write is null or is not null"},
	{"n ~ 3", 2, 1, "column 3: n is a number, which does not take ~"},
	{"n like 3", 2, 4, "column 3: n is a number, which does not take like"},
	{"name < a", 5, 1, "column 6: name is a text, which does not take <"},
	{"src < 10.0.0.1", 4, 1, "column 5: src is an address, which does not take <"},
	{"start in (now)", 6, 2, "column 7: start is a time, which does not take in"},
	{"up > true", 3, 1, "column 4: up is a boolean, which does not take >"},
	{"proto < tcp", 6, 1, "column 7: proto is one of a list of names, which does not take <"},
	{"n = x", 4, 1, "column 5: expected a number such as 42 or 0x2a, found x"},
	{"n = -1", 4, 2, "column 5: expected a number such as 42 or 0x2a, found -1"},
	{"n = 1.5", 4, 3, "column 5: expected a number such as 42 or 0x2a, found 1.5"},
	{"n = 18446744073709551616", 4, 20, "column 5: expected a number such as 42 or 0x2a, found 18446744073709551616"},
	{"n = 0xg", 4, 3, "column 5: expected a number such as 42 or 0x2a, found 0xg"},
	{`n = "m"`, 4, 3, "column 5: expected a number such as 42 or 0x2a, found m"},
	{"n = latency", 4, 7, "column 5: n is a number, which the field latency is not"},
	{"either = n", 9, 1, "column 10: fields of several values cannot be compared with fields"},
	{"n = list", 4, 4, "column 5: fields of several values cannot be compared with fields"},
	{"proto = level", 8, 5, "column 9: proto and the field level have different choices"},
	{"name = node", 7, 4, `column 8: name is a text, which the field node is not: did you mean "node"?`},
	{"node = name", 7, 4, `column 8: node is a node, which the field name is not: did you mean "name"?`},
	{"node = leaf-3", 7, 6, "column 8: no node has the name leaf-3: did you mean leaf-2?"},
	{"node = 4294967296", 7, 10, "column 8: no node has the name 4294967296"},
	{`node = "3"`, 7, 3, "column 8: no node has the name 3"},
	{"node in (n)", 9, 1, `column 10: a list has values, and n is a field: did you mean "n"?`},
	{"proto = tcpp", 8, 4, "column 9: proto is never tcpp: did you mean tcp?"},
	{`proto = "6"`, 8, 3, "column 9: proto is never 6"},
	{"level = hihg", 8, 4, "column 9: level is never hihg: did you mean high?"},
	{"up = yes", 5, 3, "column 6: expected true or false, found yes"},
	{"up = tru", 5, 3, "column 6: expected true or false, found tru: did you mean true?"},
	{"up 3", 3, 1, "column 4: expected =, !=, is null, or is not null, found 3"},
	{"float = inf", 8, 3, "column 9: expected a decimal number such as 0.5, found inf"},
	{"float = 0x1p4", 8, 5, "column 9: expected a decimal number such as 0.5, found 0x1p4"},
	{"float = 1e999", 8, 5, "column 9: expected a decimal number such as 0.5, found 1e999"},
	{"ratio = 0.5", 8, 3, "column 9: a percentage needs %: did you mean 0.5%?"},
	{"ratio = x%", 8, 2, "column 9: expected a percentage such as 87.5%, found x%"},
	{"latency > 50", 10, 2, "column 11: 50 has no unit: ns, us, ms, s, m, h, or d"},
	{"latency > 50 us", 10, 2, "column 11: 50 has no unit: ns, us, ms, s, m, h, or d"},
	{"latency > us", 10, 2, "column 11: expected a duration such as 50us or 1h30m, found us"},
	{
		"latency > 5usec", 10, 5,
		"column 11: there is no unit usec of a duration (ns, us, ms, s, m, h, or d): did you mean 5us?",
	},
	{
		"latency > 5M", 10, 2,
		"column 11: there is no unit M of a duration (ns, us, ms, s, m, h, or d): did you mean 5m?",
	},
	{"latency > 1h30", 10, 4, "column 11: 30 has no unit: ns, us, ms, s, m, h, or d"},
	{"latency > 0.5ns", 10, 5, "column 11: 0.5ns is not a whole number of ns"},
	{"latency > 300y", 10, 4, "column 11: there is no unit y of a duration (ns, us, ms, s, m, h, or d)"},
	{"latency > 1000000d", 10, 8, "column 11: 1000000d is too large"},
	{"latency > 9223372036854775808ns", 10, 21, "column 11: 9223372036854775808ns is too large"},
	{"latency > -", 10, 1, "column 11: expected a duration such as 50us or 1h30m, found -"},
	{"latency > --5us", 10, 5, "column 11: expected a duration such as 50us or 1h30m, found -5us"},
	{"latency > 1..5us", 10, 6, "column 11: expected a duration such as 50us or 1h30m, found 1..5us"},
	{"latency > .5us", 10, 4, "column 11: expected a duration such as 50us or 1h30m, found .5us"},
	{
		"size > 1Kb", 7, 3,
		"column 8: there is no unit Kb of a size (B, kB, MB, GB, TB, KiB, MiB, GiB, or TiB): did you mean 1kB?",
	},
	{"size > 0.5B", 7, 4, "column 8: 0.5B is not a whole number of B"},
	{"size > 20000000TiB", 7, 11, "column 8: 20000000TiB is too large"},
	{"rate > 0.1bit/s", 7, 8, "column 8: 0.1bit/s is not a whole number of bit/s"},
	{"start > yesterday", 8, 9, "column 9: expected a time such as 2026-11-21T08:00:00Z or now-5m, found yesterday"},
	{"start > 2026-11-2", 8, 9, "column 9: expected a time such as 2026-11-21T08:00:00Z or now-5m, found 2026-11-2"},
	{"start > 1066-10-14T00:00:00Z", 8, 20, "column 9: the year must be from 1678 to 2261"},
	{"start > now5m", 8, 5, "column 9: expected a time such as 2026-11-21T08:00:00Z or now-5m, found now5m"},
	{"start > now--5m", 8, 7, "column 9: expected a time such as 2026-11-21T08:00:00Z or now-5m, found now--5m"},
	{"start > now-5", 8, 5, "column 9: 5 has no unit: ns, us, ms, s, m, h, or d"},
	{"start > now-200000d", 8, 11, "column 9: -200000d is too large"},
	{"start > now - and", 8, 9, "column 9: expected a duration such as 50us or 1h30m, found and"},
	{"src = 10.0.0.256", 6, 10, "column 7: expected an address such as 10.0.0.1 or 2001:db8::1, found 10.0.0.256"},
	{"src = 10.0.0.0/8", 4, 12, "column 5: a prefix needs in: did you mean in 10.0.0.0/8?"},
	{"src != 10.0.0.0/8", 4, 13, "column 5: a prefix needs in: did you mean not in 10.0.0.0/8?"},
	{"src = fe80::1%eth0", 6, 12, "column 7: expected an address such as 10.0.0.1 or 2001:db8::1, found fe80::1%eth0"},
	{"src = dts", 6, 3, "column 7: expected an address such as 10.0.0.1 or 2001:db8::1, found dts"},
	{
		"src in 10.0.0.0/33", 7, 11,
		"column 8: expected an address or a prefix such as 10.0.0.0/8 or 2001:db8::/32, found 10.0.0.0/33",
	},
	{"src in", 6, 0, "column 7: expected an address such as 10.0.0.1 or 2001:db8::1, found the end"},
	{
		"src in (10.0.0.0/8, x)", 20, 1,
		"column 21: expected an address or a prefix such as 10.0.0.0/8 or 2001:db8::/32, found x",
	},
	{"src ~ 10", 4, 1, "column 5: src is an address, which does not take ~"},
	{"mac = 02:00:00:00:00", 6, 14, "column 7: expected a MAC address such as 02:00:00:00:00:01, found 02:00:00:00:00"},
	{
		"mac = 02:00:00:00:00:00:00:01", 6, 23,
		"column 7: expected a MAC address such as 02:00:00:00:00:01, found 02:00:00:00:00:00:00:01",
	},
	{`name = "x`, 7, 2, "column 8: the quote is not closed"},
	{"name = 'it's'", 11, 1, "column 12: expected and, or, or the end, found s"},
	{"name = a*", 8, 1, "column 9: unexpected '*'; a text with such characters needs quotes"},
	{`name like 'a\'`, 10, 4, "column 11: the pattern ends with a backslash; two of them stand for one"},
	{"name like", 9, 0, `column 10: expected a text such as "spine 1", found the end`},
	{`name ~ "("`, 7, 3, "column 8: the regular expression is wrong: missing closing ): ("},
	{`name ~ "a{1001}"`, 7, 9, "column 8: the regular expression is wrong: invalid repeat count: {1001}"},
	{`name ~ "\C"`, 7, 4, `column 8: the regular expression is wrong: invalid escape sequence: \C`},
	{"name = leaf ; drop table flows", 12, 1, "column 13: unexpected ';'; a text with such characters needs quotes"},
	{"n = 1 -- comment", 6, 2, "column 7: expected and, or, or the end, found --"},
	{"µ = 1", 0, 2, "column 1: things have no field µ"},
	{"µn = 1 and $", 0, 3, "column 1: things have no field µn"},
	{
		"latency > 5msec", 10, 5,
		"column 11: there is no unit msec of a duration (ns, us, ms, s, m, h, or d): did you mean 5ms?",
	},
	{
		"latency > 5min", 10, 4,
		"column 11: there is no unit min of a duration (ns, us, ms, s, m, h, or d): did you mean 5m?",
	},
	{
		"rate > 5kbit", 7, 5,
		"column 8: there is no unit kbit of a rate (bit/s, kbit/s, Mbit/s, Gbit/s, or Tbit/s): did you mean 5kbit/s?",
	},
	{"n\tm", 2, 1, "column 3: expected =, !=, <, <=, >, >=, in, not in, is null, or is not null, found m"},
	{"name in (a, name)", 12, 4, `column 13: a list has values, and name is a field: did you mean "name"?`},
}

func TestBad(t *testing.T) {
	for _, tc := range bad {
		_, err := Parse(everything, tc.text)
		var wrong *Error
		if !errors.As(err, &wrong) || wrong.Offset != tc.offset || wrong.Length != tc.length ||
			wrong.Error() != tc.message {
			t.Errorf("%s: got %+v: %v, want %d, %d: %s", tc.text, wrong, err, tc.offset, tc.length, tc.message)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, tc := range []struct{ text, message string }{
		{
			strings.Repeat("(", 64) + "n = 1" + strings.Repeat(")", 64),
			"column 65: more than 64 brackets or not inside each other",
		},
		{strings.Repeat("not ", 4000) + "up", "column 257: more than 64 brackets or not inside each other"},
		{strings.Repeat(" ", 16<<10) + "up", "column 1: the filter is longer than 16384 bytes"},
		{"name ~ " + strings.Repeat("a", 1001), "column 8: the regular expression is longer than 1000 bytes"},
		{`name ~ "(\pL{30}){30}"`, "column 8: the regular expression repeats too much"},
		{
			`name ~ "\\\\p{Foo}|\p{^Letter}"`,
			`column 8: the class \p{Letter} is not known: scripts such as \p{Greek} and categories such as \p{Lu} are`,
		},
		{`name ~ "(?<a>b)"`, "column 8: a name of a group is written (?P<name>...)"},
		{"name = a\x00", "column 9: unexpected character with the code 0"},
		{"µ\xff\x00", "column 2: the filter is not UTF-8"},
		{strings.Repeat("x", 100) + " = 1", "column 1: things have no field " + strings.Repeat("x", 40) + "..."},
	} {
		if _, err := Parse(everything, tc.text); err == nil || err.Error() != tc.message {
			t.Errorf("%.20s: got %v, want %s", tc.text, err, tc.message)
		}
	}
	for _, text := range []string{
		strings.Repeat("(", 63) + "n = 1" + strings.Repeat(")", 63),
		strings.Repeat("n = 1 or m = 2 and ", 800) + "up",
		"n in (" + strings.Repeat("1,", 8000) + "2)",
	} {
		if _, err := Parse(everything, text); err != nil {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}

func TestExpected(t *testing.T) {
	for text, want := range map[string]string{
		"up = true x": "and or the end",
		"mac ":        "= != in not in is null is not null",
		"level = x":   "low high",
		"src > 3":     "= != in not in is null is not null",
	} {
		if wrong := Validate(everything, text); wrong == nil || strings.Join(wrong.Expected, " ") != want {
			t.Errorf("%s: got %+v, want %s", text, wrong, want)
		}
	}
}
