package command

// This file has the flag that says which built-in kinds there are.

import (
	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/builtin"
)

// A kubernetesRelease is the value of --kubernetes-version. The zero value has no kinds.
type kubernetesRelease struct{ release *builtin.Release }

// noKinds is the value that stands for no built-in kinds.
const noKinds = "none"

// String returns the minor version.
func (v *kubernetesRelease) String() string {
	if v.release == nil {
		return noKinds
	}
	return v.release.Version
}

// Type names the value in help texts.
func (v *kubernetesRelease) Type() string { return "version" }

// Set takes a version, of which the minor version counts, or none.
func (v *kubernetesRelease) Set(text string) (err error) {
	if v.release = nil; text != noKinds {
		v.release, err = builtin.Find(text)
	}
	return err
}

// addKubernetesVersion adds the flag, with the newest version for its default.
func (o *options) addKubernetesVersion(cmd *cobra.Command) {
	o.kubernetes.release = builtin.Newest()
	cmd.Flags().Var(&o.kubernetes, "kubernetes-version", "minor `version` of Kubernetes whose built-in kinds are known, such as "+o.kubernetes.release.Version+", or none; required fields are known of the newest alone, as far as its server is proved to ask for them")
	err := cmd.RegisterFlagCompletionFunc("kubernetes-version", cobra.FixedCompletions(append(builtin.Versions(), noKinds), cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag, although it was added
	}
}

// needSchemas returns an error if there is nothing to decode objects with.
func (o *options) needSchemas() error {
	if len(o.crds)+len(o.openAPI) == 0 && o.cluster.opened == nil && o.kubernetes.release == nil {
		return errNoSchemas
	}
	return nil
}
