package snapshot

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// vocabulary knows every word that must not be seen, and its token.
type vocabulary struct {
	key    []byte
	known  map[string]bool   // IPv6 addresses of the snapshot, as written
	exact  map[string]string // whole values
	inside map[string]string // words that are replaced wherever they stand alone in a text
	sorted []string          // of inside, longest first
	first  map[byte][]string // sorted, by first letter
	plain  map[string]bool   // further words that may be said: those of drivers
}

func newVocabulary(key []byte) *vocabulary {
	return &vocabulary{key: key, known: map[string]bool{}, exact: map[string]string{}, inside: map[string]string{}, plain: map[string]bool{}}
}

// token is a keyed hash: nobody without the key can guess a name and compare.
func (w *vocabulary) token(kind, s string) string {
	m := hmac.New(sha256.New, w.key)
	m.Write([]byte(kind + "\x00" + s))
	return hex.EncodeToString(m.Sum(nil))
}

// name gives a name its token: a letter for the kind and ten digits, a valid DNS label.
func (w *vocabulary) name(kind, s string) {
	if s == "" || keptName(s) || w.exact[s] != "" {
		return
	}
	w.put(s, kind+"-"+w.token("name", s)[:10])
}

func (w *vocabulary) put(s, token string) {
	if ordinary(s) {
		w.exact[s] = s
		return
	}
	w.exact[s], w.inside[s] = token, token
}

var (
	uuidShape   = pattern.MustCompile(`^(?:[a-z]+-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	systemSpace = pattern.MustCompile(`^(?:kube-(?:system|public|node-lease)|default|longhorn-system|rook-ceph|cattle-.*)$`)
)

// keptName tells whether a name carries no meaning of the user's: UID-shaped names of
// volumes, and the namespaces of the system.
func keptName(s string) bool {
	return uuidShape.MatchString(s) || systemSpace.MatchString(s) || programs[s]
}

// programs are daemons that rules know by name; workloads and labels are often called like them.
var programs = map[string]bool{"rbd-mirror": true}

// ordinary words stay: inside a text or a path a token would hit words of the system ("data"
// in /data, "dev" in /dev, "node" in a sentence), and a name must be one everywhere.
func ordinary(s string) bool { return len(s) < 4 || commonWords[s] }

var commonWords = func() map[string]bool {
	out := map[string]bool{}
	for _, s := range strings.Fields(`data node nodes volume volumes claim storage config cache default test prod staging production
		logs mount mounts kubelet plugins pods proc sysfs device devices block longhorn csi driver server client worker master
		control-plane database postgres mysql redis mongo nginx apache java python main root system local host network attached
		healthy running pending failed error true false none global public private backup restore share export exports files media`) {
		out[s] = true
	}
	return out
}()

// learn reads every name of the snapshot.
func (w *vocabulary) learn(s *Snapshot) {
	w.learnObjects(s)
	w.learnNodes(s)
	w.learnDerived(s)
	for k := range w.inside {
		w.sorted = append(w.sorted, k)
	}
	sort.Slice(w.sorted, func(i, j int) bool {
		if len(w.sorted[i]) != len(w.sorted[j]) {
			return len(w.sorted[i]) > len(w.sorted[j])
		}
		return w.sorted[i] < w.sorted[j]
	})
	w.first = map[byte][]string{}
	for _, k := range w.sorted {
		w.first[k[0]] = append(w.first[k[0]], k)
	}
}

// object learns the name of a namespaced object of a user and its namespace.
func (w *vocabulary) object(kind string, o metav1.Object) {
	if systemSpace.MatchString(o.GetNamespace()) && o.GetNamespace() != "default" {
		return
	}
	w.name("ns", o.GetNamespace())
	w.name(kind, o.GetName())
	for k, v := range o.GetLabels() {
		if !systemDomain(k) && len(v) > 3 {
			w.name("l", v)
		}
	}
}

func (w *vocabulary) learnObjects(s *Snapshot) {
	c := &s.Cluster
	w.learnDrivers(c)
	w.learnContainers(c)
	for _, n := range c.Nodes {
		w.name("node", n.Name)
		for _, a := range n.Status.Addresses {
			if a.Type != corev1.NodeInternalIP && a.Type != corev1.NodeExternalIP {
				w.name("host", a.Address)
			}
		}
		w.opaque("id", n.Spec.ProviderID)
		for _, a := range n.Status.Addresses {
			w.known[a.Address] = true
		}
	}
	for _, n := range c.CSINodes {
		for _, d := range n.Spec.Drivers {
			w.name("node", d.NodeID)
		}
	}
	w.learnVolumes(c)
	for _, v := range c.Longhorn.Volumes {
		w.name("vol", v.Name)
	}
	for _, p := range c.Pods {
		w.known[p.Status.PodIP] = true
		for _, ip := range p.Status.PodIPs {
			w.known[ip.IP] = true
		}
	}
	eachNamespaced(c, w.object)
	for _, e := range c.Events {
		if !systemSpace.MatchString(e.ObjNamespace) && e.ObjNamespace != "" {
			w.name("ns", e.ObjNamespace)
			w.name("o", e.ObjName)
		}
	}
}

// learnVolumes learns PVs and what their drivers call them.
func (w *vocabulary) learnVolumes(c *Cluster) {
	for _, p := range c.PVs {
		w.name("pv", p.Name)
		if p.Spec.CSI != nil {
			w.opaque("vol", p.Spec.CSI.VolumeHandle)
		}
		if p.Spec.RBD != nil {
			w.opaque("img", p.Spec.RBD.RBDImage)
		}
		if d := p.Spec.AWSElasticBlockStore; d != nil {
			w.opaque("vol", d.VolumeID[strings.LastIndexByte(d.VolumeID, '/')+1:]) // aws://ZONE/vol-…
		}
		if d := p.Spec.GCEPersistentDisk; d != nil {
			w.opaque("vol", d.PDName)
		}
		if d := p.Spec.Cinder; d != nil {
			w.opaque("vol", d.VolumeID)
		}
	}
}

// eachNamespaced visits the objects whose names are the user's.
func eachNamespaced(c *Cluster, visit func(string, metav1.Object)) {
	for _, o := range c.Pods {
		visit("pod", o)
	}
	for _, o := range c.Claims {
		visit("pvc", o)
	}
	for _, o := range c.StatefulSets {
		visit("sts", o)
	}
	for _, o := range c.Deployments {
		visit("deploy", o)
	}
	for _, o := range c.ReplicaSets {
		visit("rs", o)
	}
	for _, o := range c.DaemonSets {
		visit("ds", o)
	}
	for _, o := range c.Jobs {
		visit("job", o)
	}
	for _, o := range c.CronJobs {
		visit("cron", o)
	}
	for _, o := range c.Services {
		visit("svc", o)
	}
	for _, o := range c.Endpoints {
		visit("svc", o)
	}
	for _, o := range c.NetworkPolicies {
		visit("np", o)
	}
	for _, o := range c.DisruptionBudgets {
		visit("pdb", o)
	}
	for _, o := range c.Others {
		visit("o", o)
	}
}

func (w *vocabulary) learnNodes(s *Snapshot) {
	for _, n := range s.Nodes {
		w.name("node", n.Name)
		if n.Facts == nil {
			continue
		}
		host := n.Facts.Identity.Hostname
		if host != "localhost" && host != "localhost.localdomain" {
			w.name("host", host)
			short, _, dotted := strings.Cut(host, ".")
			if dotted {
				w.name("host", short)
			}
		}
		for _, b := range n.Facts.Block {
			w.identity(b.WWID)
			w.serial(b.Serial)
			if b.DM != nil {
				if _, id, ok := strings.Cut(b.DM.UUID, "mpath-"); ok {
					w.identity(strings.TrimPrefix(id, "3"))
				}
			}
		}
	}
}

// learnDerived recomputes what is a hash of names: staging paths are sha256(handle),
// VolumeAttachments csi-sha256(handle + driver + node).
func (w *vocabulary) learnDerived(s *Snapshot) {
	for _, p := range s.Cluster.PVs {
		if p.Spec.CSI == nil {
			continue
		}
		handle, driver := p.Spec.CSI.VolumeHandle, p.Spec.CSI.Driver
		token := w.whole(handle)
		w.put(sha(handle), sha(token))
		for _, n := range s.Cluster.Nodes {
			w.put(AttachmentName(handle, driver, n.Name), AttachmentName(token, driver, w.whole(n.Name)))
		}
		for _, va := range s.Cluster.Attachments {
			w.put(AttachmentName(handle, driver, va.Spec.NodeName), AttachmentName(token, driver, w.whole(va.Spec.NodeName)))
		}
	}
}

// whole is what a whole value becomes.
func (w *vocabulary) whole(s string) string {
	if t, ok := w.exact[s]; ok {
		return t
	}
	return s
}

func sha(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
