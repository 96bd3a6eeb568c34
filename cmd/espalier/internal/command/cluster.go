package command

// This file reads from a cluster: definitions for every command with schemas, and objects for check.

import (
	"context"
	stderrors "errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/cluster"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/suggest"
	"github.com/espalier-dev/espalier/schema"
)

// clusterFlags say what is read from a cluster. The configuration has none of them: a kubeconfig
// names programs to run, and a repository must not choose one.
type clusterFlags struct {
	context, kubeconfig string
	resources           []string // of --get
	selection           cluster.Selection

	opened      *cluster.Cluster // or nil
	definitions []*schema.CRD
	lists       map[string]*cluster.List // of the objects, by the names of their inputs
}

// allResources is the value of --get that stands for all custom resources.
const allResources = "all"

func (c *clusterFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&c.context, "context", "", "`context` of the kubeconfig, or . for the current one: the definitions in its cluster are used as well, but for kinds that --crd has; nothing is written to it")
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "`file` with the contexts; by default those that KUBECONFIG names, or .kube/config in the home folder")
	err := cmd.RegisterFlagCompletionFunc("context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return append(cluster.Contexts(c.kubeconfig), cluster.Current), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // there is no such flag, although it was added
	}
}

func (c *clusterFlags) addObjectFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&c.resources, "get", nil, "custom `resource` of which all objects in the cluster are read, such as backupplans or backupplans.backup.example.com, or "+allResources+"; may be repeated")
	flags.StringVarP(&c.selection.Namespace, "namespace", "n", "", "`namespace` to which --get is limited")
	flags.StringVarP(&c.selection.Labels, "selector", "l", "", "`labels` to which --get is limited, as in kubectl: app=web,tier!=test")
	flags.StringVar(&c.selection.Fields, "field-selector", "", "`fields` to which --get is limited, as in kubectl: metadata.name=web")
}

// open opens the cluster that flags name, to which nothing is sent yet. An error is one of the
// arguments.
func (c *clusterFlags) open(cmd *cobra.Command) (err error) {
	switch {
	case c.context == "" && cmd.Flags().Changed("context"):
		return stderrors.New("--context: the name is empty: name a context, or . for the current one")
	case c.context == "" && c.kubeconfig != "":
		return stderrors.New("--kubeconfig does nothing without --context: name a context, or . for the current one")
	case c.context == "" && len(c.resources) > 0:
		return stderrors.New("--get reads from a cluster: name its context with --context, or . for the current one")
	case len(c.resources) == 0 && c.selection != (cluster.Selection{}):
		return stderrors.New("--namespace, --selector and --field-selector choose among the objects of --get: add --get RESOURCE")
	case c.context == "":
		return nil
	}
	if err := c.selection.Check(); err != nil {
		return err
	}
	if c.opened, err = cluster.Open(c.kubeconfig, c.context); err != nil {
		return fmt.Errorf("--context: %w", err)
	}
	return nil
}

// readCluster reads the definitions in the cluster, if there is one. An error is reported. If they
// are forbidden, the definitions that a flag names are enough.
func (o *options) readCluster(flag string, named []string) (ok bool) {
	c := &o.cluster
	if c.opened == nil {
		return true
	}
	p := terminal.NewProgress(o.stderr, 0)
	var err error
	c.definitions, err = c.opened.Definitions(context.Background(), func(n int) {
		p.Say(func() string { return finding.Count(n, "definition") + " read" })
	})
	p.Clear()
	if err == nil {
		return true
	}
	if cluster.IsForbidden(err) {
		err = fmt.Errorf("%w: name files with --%s, or ask for the right to list definitions", err, flag)
	}
	o.fail(fmt.Errorf("reading definitions: %s: %w", c.opened, err))
	return cluster.IsForbidden(err) && len(named) > 0
}

// openLists opens the lists of the objects that --get names. An error is one of the arguments.
func (c *clusterFlags) openLists(s *schemas.Loaded) (names []string, err error) {
	if len(c.resources) == 0 {
		return nil, nil
	}
	known := c.definitions
	if len(known) == 0 { // it was forbidden to read them
		for e := range s.Catalog.All() {
			if !e.CRD.OpenAPI && !slices.Contains(known, e.CRD) {
				known = append(known, e.CRD)
			}
		}
	}
	c.lists = map[string]*cluster.List{}
	for _, resource := range c.resources {
		meant, err := c.named(known, resource)
		if err != nil {
			return nil, fmt.Errorf("--get %s: %w", resource, err)
		}
		for _, crd := range meant {
			name := c.opened.Context + "/" + crd.Name
			if c.lists[name] == nil {
				c.lists[name] = c.opened.List(context.Background(), crd, c.selection)
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// named returns the definitions of a resource.
func (c *clusterFlags) named(known []*schema.CRD, resource string) (meant []*schema.CRD, err error) {
	var names []string
	for _, crd := range known {
		isOutside := crd.Scope == "Cluster" && c.selection.Namespace != ""
		isMeant := slices.Contains([]string{crd.Name, crd.Plural, crd.Singular, crd.Kind}, resource)
		if resource == allResources && !isOutside || isMeant {
			meant = append(meant, crd)
		}
		names = append(names, crd.Name, crd.Plural)
	}
	switch {
	case resource == allResources:
		return meant, nil
	case len(meant) == 0:
		text := "there is no definition of it in the cluster"
		if name := suggest.Closest(resource, names); name != "" {
			text += ", did you mean " + sanitize.Name(name) + "?"
		}
		return nil, stderrors.New(text)
	case len(meant) > 1:
		return nil, fmt.Errorf("this is %s and %s: name one with its group", meant[0].Name, meant[1].Name)
	}
	return meant, nil
}

// A listReader reads a list, and says what to do about an error.
type listReader struct{ *cluster.List }

// Read reads the objects as lines.
func (l listReader) Read(p []byte) (int, error) {
	n, err := l.List.Read(p)
	if cluster.IsForbidden(err) {
		err = fmt.Errorf("%w: ask for the right to list them, or name a namespace with --namespace where you have it", err)
	}
	return n, err
}

var _ io.Reader = listReader{}

// linesOf returns the name of the input for a list, which has a document on each line.
func linesOf(list string) string { return list + ".ndjson" }

// withoutPlaces returns a function that removes the positions, as nobody can look up a line of what
// a server has sent.
func withoutPlaces(emit func(*finding.Outcome) bool) func(*finding.Outcome) bool {
	return func(v *finding.Outcome) bool {
		v.Start = errors.Position{}
		for i := range v.Findings {
			f := &v.Findings[i]
			f.At, f.End, f.First, f.Source = errors.Position{}, errors.Position{}, errors.Position{}, ""
			if f.Rule == finding.RuleUnreadable {
				v.Document = 0 // it is about the list
			}
		}
		return emit(v)
	}
}

// warnOfMixed says which lists are of several states.
func (o *options) warnOfMixed(names []string) {
	for _, name := range names {
		if n := o.cluster.lists[name].Mixed(); n > 0 {
			fmt.Fprintf(o.stderr, "warning: %s: after %s the server had forgotten the state at which the list began, and went on from a later one: objects made or deleted meanwhile may be missing\n",
				sanitize.Name(name), finding.Count(n, "object"))
		}
	}
}

// inputsText says in how many files and lists something is.
func (o *options) inputsText(files int) string {
	lists := len(o.cluster.lists)
	var parts []string
	if files > 0 || lists == 0 {
		parts = append(parts, finding.Count(files, "file"))
	}
	if lists > 0 {
		parts = append(parts, finding.Count(lists, "list")+" of "+sanitize.Name(o.cluster.opened.String()))
	}
	return strings.Join(parts, " and ")
}
