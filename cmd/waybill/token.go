package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/cli"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/command"
)

// newTokenCommand makes, lists and revokes the tokens of a file. It needs no server; one that runs notices the change.
func newTokenCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "token",
		Short: "make, list and revoke the tokens that clients and browsers log in with",
		Long: `Token changes the file that waybill serve --tokens FILE reads. The file holds hashes only: a token is printed once, when it is
made. A server that runs notices a change within a second.`,
		Example: `  waybill token create --tokens tokens.yaml --name alice --role operate --expires 90d
  waybill token list --tokens tokens.yaml
  waybill token revoke --tokens tokens.yaml --name alice`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&file, "tokens", os.Getenv("WAYBILL_TOKENS"),
		"`FILE` with the hashes of tokens; the default is $WAYBILL_TOKENS if set")
	cmd.AddCommand(newTokenCreateCommand(&file), newTokenListCommand(&file), newTokenRevokeCommand(&file))
	return cmd
}

func newTokenCreateCommand(file *string) *cobra.Command {
	var name, role, expires string
	cmd := &cobra.Command{
		Use: "create", Short: "make a token and print it", Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t := auth.Token{Name: name, Created: time.Now()}
			var err error
			if err = auth.CheckName(name); err != nil {
				return command.Usage(fmt.Errorf("--name: %w", err))
			}
			if t.Role, err = auth.ParseRole(role); err != nil {
				return command.Usage(fmt.Errorf("--role: %w", err))
			}
			if t.Expires, err = expiry(expires, t.Created); err != nil {
				return command.Usage(fmt.Errorf("--expires: %w", err))
			}
			tokens, err := tokensOf(*file)
			if errors.Is(err, os.ErrNotExist) {
				err = nil
			}
			if err != nil {
				return err
			}
			if slices.ContainsFunc(tokens, func(other auth.Token) bool { return other.Name == name }) {
				return fmt.Errorf("there is a token named %s already; revoke it first, or choose another name", name)
			}
			secret := auth.NewToken()
			t.SHA256 = auth.DigestOf(secret)
			if err := auth.WriteTokens(*file, append(tokens, t)); err != nil {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "this token is not shown again; only its hash is kept")
			fmt.Fprintln(cmd.OutOrStdout(), secret)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&name, "name", "", "`NAME` of who or what holds it")
	f.StringVar(&role, "role", "read", "`ROLE`: read, operate or admin")
	f.StringVar(&expires, "expires", "",
		"`DURATION` after which it is no longer valid, for example 90d or 12h; the default is never")
	return cmd
}

func newTokenListCommand(file *string) *cobra.Command {
	var listing cli.Listing
	cmd := &cobra.Command{
		Use: "list", Short: "list the tokens", Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tokens, err := tokensOf(*file)
			if err != nil {
				return err
			}
			slices.SortFunc(tokens, func(a, b auth.Token) int { return cmp.Compare(a.Name, b.Name) })
			now := time.Now()
			type item struct { // without hashes
				Name    string     `json:"name"`
				Role    auth.Role  `json:"role"`
				Created time.Time  `json:"created"`
				Expires *time.Time `json:"expires,omitempty"`
				Valid   bool       `json:"valid"`
			}
			list, rows := make([]item, len(tokens)), make([][]cli.Cell, len(tokens))
			for i, t := range tokens {
				expires := cli.PlainCell(dayText(t.Expires, "never"))
				if !t.Valid(now) {
					expires = cli.AlarmCell(dayText(t.Expires, "") + " (expired)")
				}
				list[i] = item{Name: t.Name, Role: t.Role, Created: t.Created, Valid: t.Valid(now)}
				if !t.Expires.IsZero() {
					list[i].Expires = &t.Expires
				}
				rows[i] = []cli.Cell{
					cli.PlainCell(t.Name), cli.PlainCell(t.Role.String()),
					cli.PlainCell(dayText(t.Created, "-")), expires,
				}
			}
			return listing.Print(cmd.OutOrStdout(), list, []string{"NAME", "ROLE", "CREATED", "EXPIRES"}, rows)
		},
	}
	listing.Register(cmd)
	return cmd
}

func newTokenRevokeCommand(file *string) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "revoke", Short: "make a token invalid, and end the sessions begun with it", Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tokens, err := tokensOf(*file)
			if err != nil {
				return err
			}
			rest := slices.DeleteFunc(slices.Clone(tokens), func(t auth.Token) bool { return t.Name == name })
			if len(rest) == len(tokens) {
				return fmt.Errorf("there is no token named %q in %s", name, *file)
			}
			return auth.WriteTokens(*file, rest)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "`NAME` of the token")
	return cmd
}

// tokensOf reads the tokens file that the command line names.
func tokensOf(file string) ([]auth.Token, error) {
	if file == "" {
		return nil, command.Usage(errors.New("--tokens FILE is needed: where the hashes of tokens are"))
	}
	return auth.ReadTokens(file)
}

// expiry returns the time that is text after now; zero if text is empty. Text is a duration such as 90d.
func expiry(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	duration, err := filter.ParseDuration(text)
	if err != nil || duration == 0 {
		return time.Time{}, fmt.Errorf("got %q, want a duration such as 90d or 12h", text)
	}
	return now.Add(duration).Truncate(time.Second), nil
}

// dayText returns t in local time to the minute, or none if it is zero.
func dayText(t time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return t.Local().Format("2006-01-02 15:04")
}
