package mount

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// crashed is a pod whose container ended with a reason and a message at its last try.
func crashed(reason, message string) *sketch.Sketch {
	return sketch.New(`
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: web-0, uid: w, creationTimestamp: '2026-01-02T11:30:00Z'}
spec:
  nodeName: n1
  volumes: [{name: conf, configMap: {name: settings}}, {name: host, hostPath: {path: /srv/x}}, {name: data, persistentVolumeClaim: {claimName: data}}]
  containers:
  - name: app
    image: i
    volumeMounts:
    - {name: conf, mountPath: /etc/app/app.conf, subPath: app.cnf}
    - {name: conf, mountPath: /config}
    - {name: host, mountPath: /srv/file}
    - {name: data, mountPath: /data}
    - {name: data, mountPath: /etc/passwd, subPath: passwd}
status:
  phase: Running
  containerStatuses: [{name: app, restartCount: 3, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 128, finishedAt: '2026-01-02T11:59:00Z', reason: ` + reason + `, message: '` + message + `'}}}]
`)
}

func TestSubpathTypeMismatch(t *testing.T) {
	t.Parallel()
	const onto = `error mounting "/var/lib/kubelet/pods/w/volume-subpaths/conf/app/0" to rootfs at "/etc/app/app.conf": mount src: not a directory: unknown`
	for name, c := range map[string]struct {
		scene *sketch.Sketch
		want  []string
	}{
		"directory onto file": {crashed("StartError", onto), []string{"certain Pod web-0"}},
		"docker's words": {crashed("ContainerCannotRun", `mounting \"/a\" to rootfs \"/var/lib/docker/m\" at \"/var/lib/docker/m/etc/app/app.conf\" caused \"not a directory\": Are you trying to mount a directory onto a file`),
			[]string{"certain Pod web-0"}},
		"a directory is read as a file":   {crashed("StartError", "unable to find user app: read /etc/passwd: is a directory"), []string{"certain Pod web-0"}},
		"kubelet refuses":                 {crashed("StartError", `failed to prepare subPath for volumeMount "conf" of container "app": mkdir: not a directory`), []string{"certain Pod web-0"}},
		"below a path of the host":        {crashed("StartError", `failed to prepare subPath for volumeMount "host" of container "app"`).Edit("mountPath: /srv/file}", "mountPath: /srv/file, subPath: x}"), []string{"possible Pod web-0"}},
		"the whole ConfigMap onto a file": {crashed("StartError", `error mounting "/v/volumes/kubernetes.io~configmap/conf" to rootfs at "/config": not a directory`), []string{"certain Pod web-0"}},
		"the source is gone":              {crashed("StartError", `error mounting "/p/0//deleted" to rootfs at "/etc/app/app.conf": no such file or directory`), []string{}},
		"a path of the host":              {crashed("StartError", `error mounting "/srv/x" to rootfs at "/srv/file": not a directory`), []string{}},
		"the whole claim":                 {crashed("StartError", `error mounting "/v" to rootfs at "/data": not a directory`), []string{}},
		"a mount of the runtime":          {crashed("StartError", `error mounting "proc" to rootfs at "/proc": not a directory`), []string{}},
		"no mount point in the image":     {crashed("StartError", `error mounting "/a" to rootfs at "/etc/app/app.conf": mkdir: read-only file system`), []string{}},
		"a program that is a directory":   {crashed("StartError", `exec: "/app": is a directory`), []string{}},
		"the program ended by itself":     {crashed("Error", onto), []string{}},
		"it runs again":                   {crashed("StartError", onto).Edit("waiting: {reason: CrashLoopBackOff}", "running: {startedAt: '2026-01-02T11:59:30Z'}"), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.scene.Ask(t, "pod shop/web-0", SubpathTypeMismatch)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
