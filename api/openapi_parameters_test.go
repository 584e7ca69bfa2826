package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/waybill-int/waybill/api/types"
)

// An example is a value that a parameter can have and one that it cannot have.
type example struct{ valid, invalid string }

// anything says that a parameter takes any text.
const anything = "anything"

// examples by parameter, or by operation and parameter, or with a plus of a time range.
var examples = map[string]example{
	"limit":  {"1", "0"},
	"format": {"json", "xml"},

	"node":       {"1", "nosuch"},
	"path":       {"00000000000000ab", "xyz"},
	"src":        {"10.0.0.0/8", "10.0.0.0/33"},
	"dst":        {"10.0.0.1", "somewhere"},
	"outer_src":  {"::/0", "::/129"},
	"outer_dst":  {"192.0.2.1", "192.0.2"},
	"source":     {"192.0.2.0/24", "here"},
	"address":    {"10.0.0.0/8", "10"},
	"port":       {"443", "65536"},
	"outer_port": {"4789", "-1"},
	"protocol":   {"udp", "telepathy"},
	"reason":     {"acl_deny", "nosuch"},
	"incast":     {"true", "yes"},
	"kind":       {"loop,drop_storm", "party"},
	"severity":   {"warning", "terrible"},
	"open":       {"false", "0"},
	"state":      {"firing", "asleep"},
	"silenced":   {"false", "perhaps"},
	"intervals":  {"true", "1"},
	"filter":     {"first < now", "first <"},
	"since":      {"2h", "yesterday"},
	"until":      {"1m", "tomorrow"},
	"order":      {"first:asc", "beauty"},
	"sql":        {"SELECT 1", "DELETE FROM flows"},
	"schema":     {"queues", "switches"},
	"text":       {"", anything},
	"id":         {"0123456789abcdef", anything},

	"streamEvents.filter": {"severity >= warning", "severity >="}, "events.filter": {"start < now", "start < north"},
	"incidents.filter": {"start < now and packets_lost > 0", "start < north"},
	"incidents.order":  {"packets_lost:asc", "events"},
	"attacks.filter":   {"begin < now and state = active", "state = asleep"}, "attacks.order": {"peak_bps", "devices"},
	"streamIncidents.filter": {"severity >= warning", "severity >="},
	"streamAttacks.filter":   {"severity >= warning", "severity >="},
	"alerts.filter":          {"count >= 0", "count ="},
	"bursts.order":           {"peak_delay_ns:asc", "beauty"}, "alerts.order": {"since:asc", "told"},
	"silences.order": {"until", "filters"}, "views.order": {"at", "names"},
	"views.filter": {"page = explore", "page >"},
	"rules.order":  {"firing", "outputs"}, "outputs.order": {"delivered:asc", "sent"},
	"ports.order":      {"sent", "hosts:up"},
	"bursts.filter":    {"start < now and peak_bytes > 1kB", "peak_bytes > 1s"},
	"clocks.filter":    {"offset > 5us or trusted = true", "offset > 5B"},
	"hosts.filter":     {"node = 1 and address in 10.0.0.0/8", "places.node = 1"},
	"loss.filter":      {"lost > 0", "losses > 0"},
	"listeners.filter": {"received > 0", "receive"}, "rules.filter": {"firing > 0", "outputs = 1"},
	"outputs.filter":  {"failures > 0", "failures"},
	"silences.filter": {"until > now", "until > 5"}, "ports.filter": {"sent > 0 and last > now-1h", "beauty > 0"},
	"events.order": {"severity", "bytes"}, "loss.order": {"received", "intervals"}, "loss.until": {"now", "yesterday"},
	"clocks.order": {"node", "nodes"}, "hosts.order": {"address:desc", "places"},
	"listeners.order":       {"received", "received:up"},
	"completeFilter.cursor": {"0", "1"},
	"acknowledged":          {"false", "mine"},
	"at":                    {"10m", "then"},
	"topology.filter":       {"to = 1 and port < 5", "to = "},
	"of":                    {"paths", "ports"}, "heatmap.filter": {"packets > 0", "packets > few"},
	"interval":       {"1h", "7ms"},
	"reports.filter": {"node = 1", "node ="}, "capture.filter": {"node = 1", "node ="},
	"exporter": {"192.0.2.0/24", "here"}, "flow": {"0123456789abcdef", "mine"},
	"cables.filter": {"packets > 0", "packets > few"}, "cables.order": {"packets:asc", "last"},
	"page": {"reference/api", anything}, "words": {"queue", anything},

	"filter+": {"packets > 0", "packets > few"}, "filter+exporters": {"received > 0", "receive"},
	"filter+events": {"start < now", "start"},
	"filter+queues": {"samples > 0", "samples > -1"},
	"order+":        {"packets:asc", "last"}, "order+exporters": {"received:asc", "received:up"},
	"order+queues": {"queue", "start"},
	"group_by+":    {"", "beauty"}, "group_by+flows": {"src,dst", "src,src"}, "interval+": {"1h", "7ms"},
	"group_by+bursts": {"node,port", "culprits"}, "group_by+events": {"kind", "text"},
	"order+events":    {"severity", "text"},
	"events.group_by": {"kind,node", "text"}, "bursts.group_by": {"queue", "peak"}, "loss.group_by": {"node", "lost"},
	"order+bursts": {"peak_delay_ns", "beauty"}, "filter+bursts": {"peak_bytes > 1kB and not name = s1", "colour = s1"},
}

// exampleOf returns the example of a parameter of an operation.
func exampleOf(t *testing.T, id, name string, past bool) example {
	t.Helper()
	keys := []string{id + "." + name, name}
	if past {
		keys = []string{name + "+" + id, name + "+", name}
	}
	for _, key := range keys {
		if e, ok := examples[key]; ok {
			return e
		}
	}
	t.Fatalf("no example for %s of %s", name, id)
	return example{}
}

// Every parameter of every operation does what the description says: a valid value is answered with what the
// description has for an answer, a wrong one, and one that is given twice, with a problem that names the parameter.
func TestEveryParameter(t *testing.T) {
	d := description(t)
	exercised := map[string]bool{}
	// Operations that need a server with something of its own.
	others := map[string]bool{
		"query": true, "heatmap": true, "flowPaths": true, "reports": true, "capture": true,
		"topology": true,
	}
	rerouting, key := rerouted(t)
	try := func(t *testing.T, h http.Handler, o *operation, fixed url.Values, names []string, past bool) {
		for _, name := range names {
			if name == "cursor" && o.id != "completeFilter" || name == "at" && past { // a moment is no range
				continue // below
			}
			exercised[o.id+"."+name] = true
			e := exampleOf(t, o.id, name, past)
			answers(t, h, d, o, withValue(fixed, name, e.valid))
			if e.invalid != anything {
				refuses(t, h, o, withValue(fixed, name, e.invalid), name)
			}
			if name != "kind" {
				twice := withValue(fixed, name, e.valid)
				twice.Add(name, e.valid)
				refuses(t, h, o, twice, name)
			}
		}
		if slices.Contains(names, "cursor") && o.id != "completeFilter" {
			exercised[o.id+".cursor"] = true
			first := withValue(fixed, "limit", "1")
			var list struct {
				Total int
				Next  string `json:"next_cursor"`
			}
			json.Unmarshal(ask(h, "GET", o.path+"?"+first.Encode(), anyone).Body.Bytes(), &list)
			if list.Next == "" && list.Total > 1 {
				t.Errorf("%s: %d items have no cursor", o.id, list.Total)
			} else if list.Next != "" {
				answers(t, h, d, o, withValue(first, "cursor", list.Next))
			}
			refuses(t, h, o, withValue(fixed, "cursor", "x"), "cursor")
		}
	}
	withAlerts(t, func(t *testing.T, h http.Handler) { // it has events, silences and alerts
		for _, o := range operations() {
			if o.method != "GET" || o.id == "" || others[o.id] {
				continue
			}
			fixed := url.Values{}
			switch {
			case strings.HasSuffix(o.id, "Filter"):
				fixed = url.Values{"schema": {"events"}, "text": {""}}
			case o.id == "docsSearch":
				fixed = url.Values{"words": {"queue"}}
			}
			names := slices.DeleteFunc(strings.Fields(o.params), func(name string) bool {
				switch name {
				case "since", "until":
					return o.past != "" || slices.Contains([]string{"nodes", "ports", "incidents", "attacks"}, o.id)
				case "group_by":
					return o.groups == nil // they go with since
				case "interval":
					return o.past != ""
				}
				return name == "at"
			})
			try(t, h, &o, fixed, names, false)
		}
	})
	remembers, reroutes, attaches, keeps := New(remembered(t)), New(rerouting), New(attached(t)),
		New(keeping(t, rawDatagrams()))
	for _, o := range operations() {
		fixed := url.Values{"since": {"2000h"}}
		names := strings.Fields(o.params)
		if o.past != "" {
			try(t, remembers, &o, fixed, strings.Fields(o.past), true)
		}
		switch o.id {
		case "query":
			try(t, remembers, &o, url.Values{"sql": {"SELECT 1"}}, names, false)
		case "heatmap", "incidents", "attacks":
			try(t, remembers, &o, fixed, names, false)
		case "flowPaths":
			o.path = strings.Replace(o.path, "{id}", flowID(&key), 1)
			try(t, reroutes, &o, fixed, names, false)
		case "reports", "capture":
			try(t, keeps, &o, url.Values{}, names, false)
		case "nodes", "ports":
			try(t, attaches, &o, fixed, slices.DeleteFunc(names, func(name string) bool { return name == "at" }), false)
			try(t, attaches, &o, url.Values{"at": {fixed.Get("since")}},
				slices.DeleteFunc(strings.Fields(o.params),
					func(name string) bool { return name == "since" || name == "until" }), false)
			try(t, attaches, &o, url.Values{}, []string{"at"}, false)
		case "topology":
			try(t, attaches, &o, fixed, []string{"since", "until", "filter"}, false)
			try(t, attaches, &o, url.Values{}, []string{"at", "filter"}, false)
		case "links":
			try(t, attaches, &o, url.Values{}, []string{"at"}, false)
		}
	}
	for path, item := range d.Paths.Map() {
		if item.Get == nil {
			continue
		}
		for _, p := range item.Get.Parameters {
			if p.Value.In == "query" && !exercised[item.Get.OperationID+"."+p.Value.Name] {
				t.Errorf("%s: nothing exercises %s", path, p.Value.Name)
			}
		}
	}
}

func withValue(fixed url.Values, name, value string) url.Values {
	q := url.Values{}
	for other, values := range fixed {
		q[other] = slices.Clone(values)
	}
	q.Set(name, value)
	return q
}

// answers asks, and compares the answer with the description. Of a stream it asks for the headers only.
func answers(t *testing.T, h http.Handler, d *openapi3.T, o *operation, q url.Values) {
	t.Helper()
	method := "GET"
	if o.media == types.MediaStream {
		method = "HEAD"
	}
	w := ask(h, method, o.path+"?"+q.Encode(), anyone)
	if w.Code != 200 {
		t.Errorf("%s?%s: got %d %s", o.path, q.Encode(), w.Code, w.Body)
		return
	}
	if method == "HEAD" || o.media == types.MediaCapture {
		return
	}
	var schema *openapi3.SchemaRef
	for _, item := range d.Paths.Map() {
		if item.Get != nil && item.Get.OperationID == o.id {
			schema = item.Get.Responses.Value("200").Value.Content.Get("application/json").Schema
		}
	}
	var v any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Errorf("%s?%s: %v", o.path, q.Encode(), err)
	} else if err := schema.Value.VisitJSON(v, openapi3.EnableJSONSchema2020()); err != nil {
		t.Errorf("%s?%s: %.400v", o.path, q.Encode(), err)
	}
}

// refuses asks, and wants a problem that names the parameter.
func refuses(t *testing.T, h http.Handler, o *operation, q url.Values, name string) {
	t.Helper()
	w := ask(h, "GET", o.path+"?"+q.Encode(), anyone)
	var p types.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 400 || p.Parameter != name || p.Detail == "" {
		t.Errorf("%s?%s: got %d %s, want a problem of %s", o.path, q.Encode(), w.Code, w.Body, name)
	}
}
