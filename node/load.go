package node

import (
	"errors"
	"fmt"

	"github.com/waybill-int/waybill/internal/conf"
)

// Load reads a Config from YAML. What the text leaves out is as in DefaultConfig. The error tells all that is wrong,
// with its line; the first line of text is line 1.
func Load(text []byte) (Config, error) {
	c := DefaultConfig()
	c.Watch, c.Drops, c.Queues = nil, nil, nil
	file, err := conf.Kind{}.Parse("", text, &c)
	c.fill()
	if err != nil {
		return c, err
	}
	_, wrong := c.check()
	for _, p := range wrong {
		file.Say(p.place, "%s", p.rule)
	}
	return c, file.Err()
}

// fill sets the lists that the file does not have.
func (c *Config) fill() {
	d := DefaultConfig()
	if c.Watch == nil {
		c.Watch = d.Watch
	}
	if c.Drops == nil {
		c.Drops = d.Drops
	}
	if c.Queues == nil {
		c.Queues = d.Queues
	}
	if c.DropEvents != nil && c.DropEvents.Flows == 0 {
		c.DropEvents.Flows = d.Events.Flows
	}
}

// A problem is one rule that a Config breaks. Its place is the path of the key, in the language of YAML paths without
// the leading "$.".
type problem struct{ place, rule string }

func (p *problem) Error() string { return p.place + ": " + p.rule }

// problems collects what is wrong with a Config.
type problems []*problem

func (p *problems) say(place, format string, args ...any) {
	*p = append(*p, &problem{place, fmt.Sprintf(format, args...)})
}

// err returns all problems, nil if there is none.
func (p problems) err() error {
	var errs []error
	for _, one := range p {
		errs = append(errs, one)
	}
	return errors.Join(errs...)
}
