package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/test/e2e/internal/lab"
)

const (
	crowdSpaces = 10
	crowdClaims = 9 // of each namespace; with the faults' own some hundred volumes
	crowdPods   = 6 // at most, of each of those who move pods
	movers      = 3
	faultSlots  = 4 // faults that last at the same time
)

// TestSoak is run by make e2e-soak alone: many volumes, pods that come and go, faults at
// random, and questions all the while. What has no fault is healthy or waiting, every
// fault is named while it lasts, nothing is left, and the tool does not grow.
func TestSoak(t *testing.T) {
	lasts, err := time.ParseDuration(os.Getenv("MOUNTDOCTOR_SOAK"))
	if err != nil {
		t.Skip("make e2e-soak soaks")
	}
	install(t, disk)
	apply(t, "zonal.yaml", disk)
	s := &soak{lasts: lasts}
	s.crowd(t)
	s.until = time.Now().Add(lasts)
	t.Run("together", func(t *testing.T) {
		for i := range movers {
			t.Run(fmt.Sprintf("pods %d", i), func(t *testing.T) { t.Parallel(); s.move(t, i) })
		}
		for i := range faultSlots {
			t.Run(fmt.Sprintf("faults %d", i), func(t *testing.T) { t.Parallel(); s.fail(t, i) })
		}
		t.Run("questions", func(t *testing.T) { t.Parallel(); s.questions(t) })
		t.Run("watch", func(t *testing.T) { t.Parallel(); s.watch(t) })
	})
	nothingLeft(t)
	s.report()
}

// soak is what the parts of it share.
type soak struct {
	until   time.Time
	lasts   time.Duration
	claims  []one
	volumes []string // of the claims, in their order
	asked   []asked  // of questions alone
}

// one is a claim of the crowd; its pod has its name.
type one struct{ ns, claim string }

func (s *soak) over() bool { return time.Now().After(s.until) }

// crowd makes the volumes that have no fault.
func (s *soak) crowd(t *testing.T) {
	for i := range crowdSpaces {
		ns := fmt.Sprintf("crowd-%d", i)
		namespace(t, ns)
		var all []vars
		for j := range crowdClaims {
			c := one{ns, fmt.Sprintf("data-%d", j)}
			all = append(all, disk.with(vars{"NS": ns, "CLAIM": c.claim}))
			s.claims = append(s.claims, c)
		}
		apply(t, "crowd.yaml", all...)
	}
	made := map[one]string{}
	eventually(t, 5*time.Minute, "the crowd is bound", func() bool {
		for l := range strings.Lines(field(`{range .items[*]}{.metadata.namespace} {.metadata.name} {.spec.volumeName}{"\n"}{end}`, "-A", "persistentvolumeclaims")) {
			if f := strings.Fields(l); len(f) == 3 {
				made[one{f[0], f[1]}] = f[2]
			}
		}
		return len(made) == len(s.claims)
	})
	for _, c := range s.claims {
		s.volumes = append(s.volumes, made[c])
	}
	t.Cleanup(func() { // before the namespaces go: their volumes can
		for i := range crowdSpaces {
			_, _ = cluster.Kubectl("-n", fmt.Sprintf("crowd-%d", i), "delete", "pods,persistentvolumeclaims", "--all", "--wait=false")
		}
	})
}

// move starts and ends pods of its share of the crowd, on either node.
func (s *soak) move(t *testing.T, share int) {
	var mine, running []one
	for i, c := range s.claims {
		if i%movers == share {
			mine = append(mine, c)
		}
	}
	moved := 0
	for ; !s.over(); moved++ {
		c := mine[rand.IntN(len(mine))]
		if i := slices.Index(running, c); i >= 0 || len(running) == crowdPods {
			i = max(i, 0)
			c = running[i]
			kubectl(t, "-n", c.ns, "delete", "pod", c.claim, "--timeout=2m")
			running = slices.Delete(running, i, i+1)
		}
		node := lab.Nodes[rand.IntN(len(lab.Nodes))].Name
		apply(t, "crowd-pod.yaml", disk.with(vars{"NS": c.ns, "CLAIM": c.claim, "NODE": node}))
		running = append(running, c)
		eventually(t, 4*time.Minute, "pod "+c.ns+"/"+c.claim+" is ready", func() bool {
			return field(`{.status.containerStatuses[0].ready}`, "-n", c.ns, "pod", c.claim) == "true"
		})
		time.Sleep(time.Duration(rand.IntN(5000)) * time.Millisecond)
	}
	fmt.Printf("SOAK pods started by mover %d: %d\n", share, moved)
}

// fail makes one fault after the other, each with a claim of its own.
func (s *soak) fail(t *testing.T, slot int) {
	made := 0
	for time.Until(s.until) > 3*time.Minute {
		f := faults[rand.IntN(len(faults))]
		old := f.name
		f.name = fmt.Sprintf("fault-%d-%d", slot, made)
		if f.want.Subject.Namespace == old {
			f.want.Subject.Namespace = f.name
		}
		t.Run(f.name+" "+old, f.whole)
		made++
	}
	fmt.Printf("SOAK faults of slot %d: %d\n", slot, made)
}

// whole is a fault from its beginning to its cure.
func (f fault) whole(t *testing.T) {
	v := f.claim(t)
	f.life(t, v)
	ready(t, v)
	f.on(t, v)
	f.trigger(t, v)
	v["SINCE"] = time.Now().Format(time.RFC3339)
	f.named(t, v)
	f.off(t, v)
	f.cure(t, v)
	f.gone(t, v)
}
