package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/datadir"
)

// serverContexts are servers by name, as the file of a person has them.
type serverContexts struct {
	Current  string                   `yaml:"current,omitempty" doc:"the context that is used if none is named"`
	Contexts map[string]serverContext `yaml:"contexts" doc:"servers by name"`
}

// A serverContext is a server, and what one shows to it.
type serverContext struct {
	Server    string `yaml:"server" doc:"URL of the server"`
	TokenFile string `yaml:"token_file,omitempty" doc:"file with the token for it"`
	CA        string `yaml:"ca,omitempty" doc:"file with the authorities that sign its certificate, PEM"`
	Cert      string `yaml:"cert,omitempty" doc:"file with a client certificate, PEM"`
	Key       string `yaml:"key,omitempty" doc:"file with its key, PEM"`
}

// contextsFile is where the contexts are.
func contextsFile() (string, error) {
	if file := os.Getenv("WAYBILL_CONTEXTS"); file != "" {
		return file, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("where contexts are is not known: %w; set WAYBILL_CONTEXTS", err)
	}
	return filepath.Join(dir, "waybill", "contexts.yaml"), nil
}

// loadContexts reads the contexts; a file that is not there has none. Services have no directory for it either.
func loadContexts() (*serverContexts, error) {
	c := &serverContexts{}
	file, err := contextsFile()
	if err != nil {
		return c, nil
	}
	text, err := conf.Kind{}.Load(file, c)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	for name, server := range c.Contexts {
		if server.Server == "" {
			text.Say("contexts."+name, "want the URL of a server in server")
		}
	}
	return c, text.Err()
}

// save writes the contexts, which may name files with secrets: for their owner only.
func (c *serverContexts) save() error {
	file, err := contextsFile()
	if err != nil {
		return err
	}
	text, err := conf.Format(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return datadir.Replace(file, text)
}

func (c *serverContexts) find(name string) (serverContext, error) {
	if server, ok := c.Contexts[name]; ok {
		return server, nil
	}
	names := slices.Sorted(maps.Keys(c.Contexts))
	if len(names) == 0 {
		return serverContext{}, fmt.Errorf(
			"there is no context %q, nor any other; waybill context set %s --server URL makes it", name, name)
	}
	return serverContext{}, fmt.Errorf("there is no context %q; there are %s", name, strings.Join(names, ", "))
}

// choose takes server and access from a context: that of the flag, or, if no server is named, that of the environment
// or the current one.
func (s *serverFlags) choose() error {
	if s.chosen || s.flags == nil { // or it has no flags: its url is the one
		return nil
	}
	name, named := s.context, s.flags.Changed("server") || os.Getenv("WAYBILL_SERVER") != ""
	switch {
	case name != "" && s.flags.Changed("server"):
		return errors.New("want --context or --server, not both")
	case name == "" && named:
		return nil
	}
	all, err := loadContexts()
	if err != nil {
		return err
	}
	for _, other := range []string{os.Getenv("WAYBILL_CONTEXT"), all.Current} {
		if name == "" {
			name = other
		}
	}
	if name == "" {
		return nil
	}
	server, err := all.find(name)
	if err != nil {
		return err
	}
	s.url, s.chosen = server.Server, true
	for _, file := range []struct{ to, from *string }{
		{&s.access.tokenFile, &server.TokenFile},
		{&s.access.ca, &server.CA},
		{&s.access.cert, &server.Cert},
		{&s.access.key, &server.Key},
	} {
		if *file.to == "" { // a flag comes first
			*file.to = *file.from
		}
	}
	return nil
}

func completeContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	all, _ := loadContexts()
	return slices.Sorted(maps.Keys(all.Contexts)), cobra.ShellCompDirectiveNoFileComp
}

func newContextCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "context",
		Short: "give servers names, and choose the one that commands ask",
		Long: `Context keeps the addresses of several servers, and what one shows to them, under names: in $WAYBILL_CONTEXTS, by default
waybill/contexts.yaml in the directory of configuration of the user. Commands ask the server of --context, else that of --server or
$WAYBILL_SERVER, else that of $WAYBILL_CONTEXT, else the current one.`,
		Example: `  waybill context set lab --server https://lab.example.com:8443 --token-file ~/.lab-token
  waybill context use lab
  waybill context list
  waybill flows --context lab`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return command.Usage(fmt.Errorf("unknown command %q; want list, use, set or remove", args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newContextListCommand(), newContextUseCommand(), newContextSetCommand(), newContextRemoveCommand())
	return cmd
}

func newContextListCommand() *cobra.Command {
	var listing Listing
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list contexts; a star marks the current one",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := loadContexts()
			if err != nil {
				return err
			}
			if len(all.Contexts) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "no contexts; waybill context set NAME --server URL makes one")
			}
			type item struct {
				Name    string `json:"name"`
				Server  string `json:"server"`
				Current bool   `json:"current"`
			}
			list, rows := []item{}, [][]Cell{}
			for _, name := range slices.Sorted(maps.Keys(all.Contexts)) {
				mark := " "
				if name == all.Current {
					mark = "*"
				}
				server := all.Contexts[name].Server
				list = append(list, item{name, server, name == all.Current})
				rows = append(rows, PlainCells(mark, name, server))
			}
			return listing.Print(cmd.OutOrStdout(), list, []string{"CURRENT", "NAME", "SERVER"}, rows)
		},
	}
	listing.Register(cmd)
	return cmd
}

// changeContexts returns what changes the contexts by the name that is the argument.
func changeContexts(change func(c *serverContexts, name string) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		all, err := loadContexts()
		if err != nil {
			return err
		}
		if all.Contexts == nil {
			all.Contexts = map[string]serverContext{}
		}
		if err := change(all, args[0]); err != nil {
			return command.Usage(err)
		}
		return all.save()
	}
}

func newContextUseCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "use NAME",
		Short:             "make a context the current one",
		Args:              command.OneArg("the name of a context; waybill context list tells them"),
		ValidArgsFunction: completeContexts,
		RunE: changeContexts(func(c *serverContexts, name string) error {
			_, err := c.find(name)
			c.Current = name
			return err
		}),
	}
}

func newContextSetCommand() *cobra.Command {
	var server serverContext
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "make a context, or replace one",
		Args:  command.OneArg("a name for the context"),
		RunE: changeContexts(func(c *serverContexts, name string) error {
			if server.Server == "" {
				return errors.New("want the URL of a server: --server URL")
			}
			for _, file := range []*string{&server.TokenFile, &server.CA, &server.Cert, &server.Key} {
				if *file == "" {
					continue
				}
				absolute, err := filepath.Abs(*file) // commands run elsewhere
				if err != nil {
					return err
				}
				*file = absolute
			}
			access := clientAccess{tokenFile: server.TokenFile, ca: server.CA, cert: server.Cert, key: server.Key}
			if _, err := access.client(server.Server); err != nil {
				return err
			}
			c.Contexts[name] = server
			return nil
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&server.Server, "server", "s", "", "`URL` of the server")
	f.StringVar(&server.TokenFile, "token-file", "", "`FILE` with the token for the server")
	f.StringVar(&server.CA, "ca", "", "`FILE` with the authorities that sign the server's certificate, PEM")
	f.StringVar(&server.Cert, "cert", "", "`FILE` with a client certificate, PEM")
	f.StringVar(&server.Key, "key", "", "`FILE` with its key, PEM")
	return cmd
}

func newContextRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "remove NAME",
		Short:             "forget a context",
		Args:              command.OneArg("the name of a context; waybill context list tells them"),
		ValidArgsFunction: completeContexts,
		RunE: changeContexts(func(c *serverContexts, name string) error {
			if _, err := c.find(name); err != nil {
				return err
			}
			delete(c.Contexts, name)
			if c.Current == name {
				c.Current = ""
			}
			return nil
		}),
	}
}
