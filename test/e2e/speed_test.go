package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// TestSpeed measures, and is run by make e2e-speed alone: times are compared with a
// peer in the same run and printed, what the API server is asked is counted.
func TestSpeed(t *testing.T) {
	if os.Getenv("MOUNTDOCTOR_SPEED") == "" {
		t.Skip("make e2e-speed measures")
	}
	install(t, disk)
	t.Run("beside kubectl", func(t *testing.T) {
		v := claim(t, disk, "speed")
		runPod(t, v, "db", "worker-1")
		againstGet(t, v)
		againstPod(t)
	})
	t.Run("growth", growth)
}

// median runs it several times.
func median(t *testing.T, times int, run func()) time.Duration {
	t.Helper()
	var all []time.Duration
	for range times {
		begin := time.Now()
		run()
		all = append(all, time.Since(begin))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// againstGet compares the API's part with kubectl get of the objects of the chain.
func againstGet(t *testing.T, v vars) {
	va := field("{.items[0].metadata.name}", "volumeattachments.storage.k8s.io", "--field-selector=metadata.name!=none")
	ours := median(t, 9, func() { plugin(t, "pvc", "data", "-n", "speed", "--no-probe") })
	theirs := median(t, 9, func() {
		kubectl(t, "get", "-n", "speed", "pvc/data", "pod/db", "-o", "json")
		kubectl(t, "get", "events", "-n", "speed", "-o", "json")
		kubectl(t, "get", "pv/"+v["VOLUME"], "volumeattachments.storage.k8s.io/"+va, "node/worker-1", "csinode/worker-1", "csidriver/"+v["DRIVER"], "-o", "json")
		kubectl(t, "get", "daemonsets,pods", "-n", v["SYSTEM"], "-o", "json")
	})
	fmt.Printf("SPEED pvc --no-probe %s : kubectl get of the chain, four calls %s = %.2f\n", ours.Round(time.Millisecond), theirs.Round(time.Millisecond), ratio(ours, theirs))
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// againstPod compares a whole run with the least that looks at a node: a pod that
// starts, is read by exec, and is deleted.
func againstPod(t *testing.T) {
	n := 0
	theirs := median(t, 5, func() {
		n++
		name := fmt.Sprintf("bare-%d", n)
		kubectl(t, "run", name, "-n", "speed", "--image=busybox:1.36", "--image-pull-policy=IfNotPresent", "--restart=Never", "--privileged",
			`--overrides={"spec":{"nodeName":"worker-1","terminationGracePeriodSeconds":0}}`, "--", "sleep", "600")
		kubectl(t, "wait", "-n", "speed", "pod/"+name, "--for=condition=Ready", "--timeout=60s")
		kubectl(t, "exec", "-n", "speed", name, "--", "cat", "/proc/1/mountinfo")
		kubectl(t, "delete", "-n", "speed", "pod", name, "--wait=false")
	})
	ours := median(t, 5, func() { doctor(t, "pvc", "data", "-n", "speed") })
	alone := median(t, 5, func() { plugin(t, "pvc", "data", "-n", "speed") })
	fmt.Printf("SPEED whole pvc %s : bare pod started, read and deleted %s = %.2f (until no pod is left: %s)\n",
		alone.Round(time.Millisecond), theirs.Round(time.Millisecond), ratio(alone, theirs), ours.Round(time.Millisecond))
}

const (
	manyNodes  = 5000
	manyClaims = 50000
)

// growth counts what one claim's question asks of the API server, before and after
// many nodes and claims with volumes and attachments exist. Nothing is cleaned up: the
// controllers that could are gone, and the lab ends with this test.
func growth(t *testing.T) {
	v := disk.with(vars{"NS": "growth"})
	kubectl(t, "create", "namespace", "growth")
	eventually(t, 20*time.Second, "namespace growth has its account", func() bool {
		return field("{.metadata.name}", "-n", "growth", "serviceaccount", "default") != ""
	})
	apply(t, "claim.yaml", v)
	waitBound(t, "growth")
	runPod(t, v, "db", "worker-1")
	calls, bytes := counted(t)
	// No controller may judge the objects that come.
	for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
		if err := cluster.Kill(name); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	crowd(t)
	took := time.Since(begin)
	moreCalls, moreBytes := counted(t)
	fmt.Printf("SPEED pvc asks %d calls, %d bytes with 2 nodes; %d calls, %d bytes with %d nodes and %d claims (made in %s): %.2f and %.2f times\n",
		calls, bytes, moreCalls, moreBytes, manyNodes, manyClaims, took.Round(time.Second),
		float64(moreCalls)/float64(calls), float64(moreBytes)/float64(bytes))
	if 2*moreCalls > 3*calls || 2*moreBytes > 3*bytes {
		t.Error("a claim's question costs more in a large cluster")
	}
}

// counted asks through a proxy that counts.
func counted(t *testing.T) (calls, bytes int64) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "proxy")
	proxy := exec.Command("kubectl", "proxy", "--unix-socket="+socket)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = proxy.Process.Kill(); _ = proxy.Wait() }()
	eventually(t, 20*time.Second, "the proxy listens", func() bool { _, err := os.Stat(socket); return err == nil })
	var requests, answered atomic.Int64
	behind := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "localhost"})
	behind.Transport = &http.Transport{DisableCompression: true, DialContext: dialer(socket)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		behind.ServeHTTP(&counting{w, &answered}, r)
	}))
	defer server.Close()
	empty := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a := plugin(t, "pvc", "data", "-n", "growth", "--no-probe", "--kubeconfig", empty, "--server", server.URL)
	if a.code == 1 {
		t.Fatal(a.out, a.errors)
	}
	return requests.Load(), answered.Load()
}

type counting struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (c *counting) Write(b []byte) (int, error) {
	c.bytes.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

// crowd makes the nodes, and the claims with their volumes and attachments.
func crowd(t *testing.T) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig("admin"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "crowd"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	parallel(t, manyNodes, func(ctx context.Context, i int) error { return oneNode(ctx, client, i) })
	parallel(t, manyClaims, func(ctx context.Context, i int) error { return oneClaim(ctx, client, i) })
}

func parallel(t *testing.T, count int, one func(context.Context, int) error) {
	t.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := int(next.Add(1)); i <= count && t.Context().Err() == nil; i = int(next.Add(1)) {
				if err := one(t.Context(), i); err != nil && !apierrors.IsAlreadyExists(err) {
					t.Error(err)
					return
				}
			}
		}()
	}
	wg.Wait()
}

func oneNode(ctx context.Context, client kubernetes.Interface, i int) error {
	_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("crowd-%d", i)}}, metav1.CreateOptions{})
	return err
}

func oneClaim(ctx context.Context, client kubernetes.Interface, i int) error {
	name, class := fmt.Sprintf("crowd-%d", i), disk["CLASS"]
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	if _, err := client.CoreV1().PersistentVolumeClaims("crowd").Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class, VolumeName: name, AccessModes: modes,
			Resources: corev1.VolumeResourceRequirements{Requests: size}},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{StorageClassName: class, AccessModes: modes, Capacity: size,
			ClaimRef:               &corev1.ObjectReference{Namespace: "crowd", Name: name},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "crowd.example.com", VolumeHandle: name}}},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := client.StorageV1().VolumeAttachments().Create(ctx, &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: storagev1.VolumeAttachmentSpec{Attacher: "crowd.example.com", NodeName: fmt.Sprintf("crowd-%d", 1+i%manyNodes),
			Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}},
	}, metav1.CreateOptions{})
	return err
}

func dialer(socket string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
}
