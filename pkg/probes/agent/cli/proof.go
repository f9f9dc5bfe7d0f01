//go:build linux

package cli

import (
	"os"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
)

// proof is what the answer begins with, empty unless it was asked for.
func (o options) proof() (string, error) {
	if !o.prove {
		return "", nil
	}
	nonce, err := agent.ReadNonce(os.Stdin)
	if err != nil {
		return "", err
	}
	sum, err := ownSum()
	if err != nil {
		return "", err
	}
	return agent.Prove(nonce, sum), nil
}
