package launch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestChanged: what a webhook may do to the pod, and what ends it.
func TestChanged(t *testing.T) {
	t.Parallel()
	no, yes, nobody, always := false, true, int64(65534), corev1.ContainerRestartPolicyAlways
	for _, test := range []struct {
		name   string
		change func(p *corev1.Pod, c *corev1.Container)
		want   []string
	}{
		{"nothing", func(*corev1.Pod, *corev1.Container) {}, nil},
		{"the API server's defaults", func(p *corev1.Pod, c *corev1.Container) {
			priority, policy := int32(0), corev1.PreemptLowerPriority
			p.Spec.ServiceAccountName, p.Spec.DeprecatedServiceAccount, p.Spec.SchedulerName = "default", "default", "default-scheduler"
			p.Spec.SecurityContext, p.Spec.Priority, p.Spec.PreemptionPolicy = &corev1.PodSecurityContext{}, &priority, &policy
			p.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "default-dockercfg"}}
			c.TerminationMessagePath, c.TerminationMessagePolicy = "/dev/termination-log", corev1.TerminationMessageReadFile
			c.ImagePullPolicy = corev1.PullAlways
			p.Labels["team"], p.UID = "storage", "1"
		}, nil},
		{"a registry of one's own, the same digest", func(_ *corev1.Pod, c *corev1.Container) { c.Image = "mirror.example/i:x@" + sumA }, nil},
		{"another image", func(_ *corev1.Pod, c *corev1.Container) { c.Image = "evil:1" },
			[]string{`spec.containers[0].image ("evil:1" instead of "i@` + sumA + `")`}},
		{"another digest", func(_ *corev1.Pod, c *corev1.Container) { c.Image = "i@" + sumB },
			[]string{`spec.containers[0].image ("i@` + sumB + `" instead of "i@` + sumA + `")`}},
		{"another command", func(_ *corev1.Pod, c *corev1.Container) { c.Command = []string{"evil"} }, []string{"spec.containers[0].command"}},
		{"arguments", func(_ *corev1.Pod, c *corev1.Container) { c.Args = []string{"evil"} }, []string{"spec.containers[0].args"}},
		{"environment", func(_ *corev1.Pod, c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "LD_PRELOAD", Value: "/x"}} },
			[]string{"spec.containers[0].env"}},
		{"environment from a Secret", func(_ *corev1.Pod, c *corev1.Container) { c.EnvFrom = []corev1.EnvFromSource{{Prefix: "x"}} },
			[]string{"spec.containers[0].envFrom"}},
		{"a hook", func(_ *corev1.Pod, c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{}}
		},
			[]string{"spec.containers[0].lifecycle"}},
		{"a probe", func(_ *corev1.Pod, c *corev1.Container) { c.LivenessProbe = &corev1.Probe{} }, []string{"spec.containers[0].livenessProbe"}},
		{"a token", func(p *corev1.Pod, c *corev1.Container) {
			p.Spec.AutomountServiceAccountToken = &yes
			p.Spec.Volumes = []corev1.Volume{{Name: "token"}}
			c.VolumeMounts = []corev1.VolumeMount{{Name: "token"}}
		}, []string{"spec.volumes", "spec.automountServiceAccountToken", "spec.containers[0].volumeMounts"}},
		{"a sidecar", func(p *corev1.Pod, _ *corev1.Container) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "istio-proxy"})
		}, []string{`spec.containers ("istio-proxy" was added)`}},
		{"a sidecar that starts before", func(p *corev1.Pod, _ *corev1.Container) {
			p.Spec.InitContainers = []corev1.Container{{Name: "istio-proxy", RestartPolicy: &always}}
		}, []string{"spec.initContainers"}},
		{"a container for debugging", func(p *corev1.Pod, _ *corev1.Container) {
			p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{}}
		}, []string{"spec.ephemeralContainers"}},
		{"another node", func(p *corev1.Pod, _ *corev1.Container) { p.Spec.NodeName = "m" }, []string{"spec.nodeName"}},
		{"another kernel", func(p *corev1.Pod, _ *corev1.Container) { v := "gvisor"; p.Spec.RuntimeClassName = &v }, []string{"spec.runtimeClassName"}},
		{"no host processes", func(p *corev1.Pod, _ *corev1.Container) { p.Spec.HostPID = false }, []string{"spec.hostPID"}},
		{"not privileged", func(_ *corev1.Pod, c *corev1.Container) { c.SecurityContext.Privileged = &no }, []string{"spec.containers[0].securityContext"}},
		{"not root", func(_ *corev1.Pod, c *corev1.Container) { c.SecurityContext.RunAsUser = &nobody }, []string{"spec.containers[0].securityContext"}},
		{"no security context", func(_ *corev1.Pod, c *corev1.Container) { c.SecurityContext = nil }, []string{"spec.containers[0].securityContext"}},
		{"a sysctl", func(p *corev1.Pod, _ *corev1.Container) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: "vm.swappiness"}}}
		}, []string{"spec.securityContext.sysctls"}},
		{"no deadline", func(p *corev1.Pod, _ *corev1.Container) { p.Spec.ActiveDeadlineSeconds = nil }, []string{"spec.activeDeadlineSeconds"}},
		{"another name", func(p *corev1.Pod, _ *corev1.Container) { p.Name = "other" }, []string{"metadata.name"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			sent := PodSpec(PodRequest{Node: "n", Namespace: "kube-system", Image: "i@" + sumA, Run: "r", Suffix: "s", Lifetime: time.Minute, Now: now})
			got := sent.DeepCopy()
			test.change(got, &got.Spec.Containers[0])
			if diff := cmp.Diff(test.want, changed(sent, got)); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
