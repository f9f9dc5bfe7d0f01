package longhorn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
)

// manager is the longhorn-manager of n1, Ready or not for an hour.
func manager(ready string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: longhorn-manager-n1, labels: {app: longhorn-manager}, creationTimestamp: '2026-01-01T00:00:00Z'}\nspec: {nodeName: n1, containers: [{name: m, image: m}]}\n" +
		"status: {phase: Running, conditions: [{type: Ready, status: '" + ready + "', lastTransitionTime: '2026-01-02T11:00:00Z'}]}\n"
}

func TestControlPlaneDown(t *testing.T) {
	t.Parallel()
	other := "apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: longhorn-manager-n2, labels: {app: longhorn-manager}}\nspec: {nodeName: n2, containers: [{name: m, image: m}]}\n" +
		"status: {phase: Running, conditions: [{type: Ready, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z'}]}\n"
	down := func(reason, ready string) *scene {
		return newScene().add("m1", manager(ready)).add("m2", other).
			edit("lhnode-n1", "status: {conditions: [{type: Ready, status: 'True'}]", "status: {conditions: [{type: Ready, status: 'False', reason: "+reason+"}]")
	}
	refused := "rpc error: code = Unavailable desc = node n1 is not ready, couldn't attach volume " + vol + " to it"
	unreachable := "rpc error: code = Internal desc = Post \"http://longhorn-backend:9500/v1/volumes\": dial tcp 10.43.0.9:9500: connect: connection refused"
	pod := []string{"certain Pod longhorn-manager-n1"}
	looping := func(began, before string, restarts int) *scene {
		status := fmt.Sprintf("status: {phase: Running, containerStatuses: [{name: m, ready: true, restartCount: %d, state: {running: {startedAt: '2026-01-02T%s'}}, lastState: {terminated: {exitCode: 1, startedAt: '2026-01-02T%s', finishedAt: '2026-01-02T11:55:00Z'}}}]", restarts, began, before)
		return newScene().add("m1", strings.Replace(manager("True"), "status: {phase: Running", status, 1))
	}
	crashing := func() *scene {
		return newScene().add("m1", strings.ReplaceAll(strings.ReplaceAll(manager("False"), "11:00:00Z", "11:59:30Z"), "status: {phase: Running", "status: {phase: Running, containerStatuses: [{name: m, restartCount: 40, state: {waiting: {reason: CrashLoopBackOff}}}]"))
	}
	unresolved := func() *scene {
		return newScene().drop("pv").drop("va").drop("tickets").drop("volume").drop("engine").drop("replica-1").drop("replica-2").
			edit("claim", "volumeName: "+vol+",", "storageClassName: lh,").edit("claim", "phase: Bound, capacity: {storage: 10Gi}", "phase: Pending").edit("claim", "uid: c}", "uid: c, creationTimestamp: '2026-01-02T11:30:00Z'}").
			add("class", "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: lh}\nprovisioner: driver.longhorn.io\n").
			add("event", "apiVersion: v1\nkind: Event\nmetadata: {name: e, namespace: shop}\ninvolvedObject: {kind: PersistentVolumeClaim, name: data, namespace: shop, uid: c}\nreason: ProvisioningFailed\nmessage: 'rpc error: code = Internal desc = Post \"http://longhorn-backend:9500/v1/volumes\": dial tcp: lookup longhorn-backend on 10.43.0.10:53: no such host'\ntype: Warning\ncount: 9\nfirstTimestamp: '2026-01-02T11:31:00Z'\nlastTimestamp: '2026-01-02T11:59:00Z'\n")
	}
	check(t, ControlPlaneDown, []branch{
		{"the manager of the wanted node is down, refused", down("ManagerPodDown", "False").attachError(refused), pod},
		{"the manager of the wanted node is down, nothing said", down("ManagerPodDown", "False"), []string{"likely Pod longhorn-manager-n1"}},
		{"the manager is back", down("ManagerPodDown", "True").attachError(refused), silent},
		{"there is no manager, nothing said", down("ManagerPodMissing", "False").drop("m1"), silent},
		{"the kubelet of the node is silent", down("ManagerPodDown", "False").edit("node-n1", "status: 'True'", "status: Unknown"), silent},
		{"every manager is down, unreachable", newScene().add("m1", manager("False")).attachError(unreachable), pod},
		{"every manager crashes again and again, its log was not read", crashing().attachError(unreachable), []string{"likely Pod longhorn-manager-n1"}},
		{"every manager crashes again and again", crashing().file("logs/longhorn-system/longhorn-manager-n1/m.log", "time=\"2026-01-02T11:58:00Z\" level=fatal msg=\"Error starting manager: leader election lost\"\n").attachError(unreachable), pod},
		{"every manager crashes again and again, the log of one was read", crashing().add("m2", strings.NewReplacer("manager-n1", "manager-n2", "nodeName: n1", "nodeName: n2").Replace(crashing().objects["m1"])).
			file("logs/longhorn-system/longhorn-manager-n2/m.log", "time=\"2026-01-02T11:58:00Z\" level=fatal msg=\"Error starting manager: leader election lost\"\n").attachError(unreachable), []string{"certain Pod longhorn-manager-n2"}},
		{"every manager waits for its webhook", newScene().add("m1", manager("False")).file("logs/longhorn-system/longhorn-manager-n1/m.log",
			"time=\"2026-01-02T11:58:00Z\" level=fatal msg=\"Error starting webhooks: admission webhook service is not accessible on cluster after 2m0s sec: timed out waiting for endpoint https://longhorn-admission-webhook.longhorn-system.svc:9502/v1/healthz to be available\"\n"), pod},
		{"every manager is down, nothing said", newScene().add("m1", manager("False")), []string{"likely Pod longhorn-manager-n1"}},
		{"managers are up and a call fails", newScene().add("m1", manager("True")).attachError(unreachable), []string{"likely Service longhorn-backend"}},
		{"managers are up and answer", newScene().add("m1", manager("True")).attachError("rpc error: code = Internal desc = Bad response statusCode [500]. Status [500]. Body: [message=dial tcp 10.1.0.2:8500: connect: connection refused, detail=] from [http://longhorn-backend:9500/v1/volumes]"), silent},
		{"managers are up, nothing said", newScene().add("m1", manager("True")), silent},
		{"a claim that is not provisioned yet, the name is not resolved", unresolved().add("m1", manager("True")), []string{"certain Service longhorn-backend"}},
		{"nor was a manager seen", unresolved(), []string{"likely Service longhorn-backend"}},
		{"the webhook has no endpoints", newScene().add("m1", manager("True")).add("e", "apiVersion: v1\nkind: Endpoints\nmetadata: {namespace: longhorn-system, name: longhorn-admission-webhook}\n").
			attachError("rpc error: code = Internal desc = Internal error occurred: failed calling webhook \"validator.longhorn.io\": no endpoints available for service \"longhorn-admission-webhook\""), []string{"certain Service longhorn-admission-webhook"}},
		{"the webhook has no endpoints, and pods were not read", newScene().file("snapshot.yaml", gapped("api//pods")).add("e", "apiVersion: v1\nkind: Endpoints\nmetadata: {namespace: longhorn-system, name: longhorn-admission-webhook}\n").
			attachError("rpc error: code = Internal desc = Internal error occurred: failed calling webhook \"validator.longhorn.io\": no endpoints available for service \"longhorn-admission-webhook\""), []string{"likely Service longhorn-admission-webhook"}},
		{"the webhook has no endpoints, which the cluster keeps in slices alone", newScene().add("m1", manager("True")).
			add("e", "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: longhorn-system, name: longhorn-admission-webhook-x1, labels: {kubernetes.io/service-name: longhorn-admission-webhook}}\naddressType: IPv4\nendpoints: [{addresses: [10.1.0.5], conditions: {ready: false}}]\n").
			attachError("rpc error: code = Internal desc = Internal error occurred: failed calling webhook \"validator.longhorn.io\": no endpoints available for service \"longhorn-admission-webhook\""), []string{"certain Service longhorn-admission-webhook"}},
		{"the only manager is Ready for a moment and loops", looping("11:59:40Z", "11:54:00Z", 47).attachError(unreachable), []string{"likely Pod longhorn-manager-n1"}},
		{"the only manager loops, nothing said", looping("11:59:40Z", "11:54:00Z", 47), []string{"likely Pod longhorn-manager-n1"}},
		{"it has run for ten minutes since", looping("11:50:00Z", "11:49:00Z", 47).attachError(unreachable), []string{"likely Service longhorn-backend"}},
		{"its last run was a long one", looping("11:59:40Z", "10:00:00Z", 47).attachError(unreachable), []string{"likely Service longhorn-backend"}},
		{"it was restarted once", looping("11:59:40Z", "11:54:00Z", 1).attachError(unreachable), []string{"likely Service longhorn-backend"}},
		{"another manager works", looping("11:59:40Z", "11:54:00Z", 47).add("m2", other).attachError(unreachable), []string{"likely Service longhorn-backend"}},
		{"the only manager refuses connections", newScene().add("m1", strings.Replace(manager("True"), "phase: Running,", "phase: Running, podIP: 10.1.0.5,", 1)).machine("n1", "@dial/10.1.0.5:9500", "ECONNREFUSED").attachError(unreachable), []string{"certain Service longhorn-backend"}},
		{"it answers", newScene().add("m1", strings.Replace(manager("True"), "phase: Running,", "phase: Running, podIP: 10.1.0.5,", 1)).machine("n1", "@dial/10.1.0.5:9500", "ok 1ms").attachError(unreachable), []string{"likely Service longhorn-backend"}},
		{"nobody wants anything of it", newScene().add("m1", manager("False")).drop("pod").drop("va").drop("tickets"), silent},
	})
}

func TestInstanceManagerRestarted(t *testing.T) {
	t.Parallel()
	im := "apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: im-n1}\nspec: {nodeName: n1, containers: [{name: m, image: m}]}\nstatus: {phase: Running, startTime: '2026-01-02T11:45:00Z'}\n"
	hit := func() *scene {
		s := newScene().add("im-pod", im).edit("volume", "state: attaching", "state: attached").edit("volume", "ownerID: n1", "ownerID: n1, currentNodeID: n1, remountRequestedAt: '2026-01-02T11:45:20Z'")
		return s.edit("pod", "status: {phase: Pending}", "status: {phase: Running, startTime: '2026-01-02T11:30:00Z', containerStatuses: [{name: app, ready: true, state: {running: {startedAt: '2026-01-02T11:30:00Z'}}}]}").edit("va", "attached: false", "attached: true")
	}
	ended := func(made string) *scene {
		return hit().edit("volume", ", remountRequestedAt: '2026-01-02T11:45:20Z'", "").edit("im-pod", "11:45:00Z", "11:55:00Z").
			edit("engine", "currentState: stopped, instanceManagerName: ''", "currentState: error, instanceManagerName: im-n1, conditions: [{type: InstanceCreation, status: 'True', lastTransitionTime: '2026-01-02T"+made+":00Z'}]")
	}
	errors := "6,1,85500000000,-; connection1:0: detected conn error (1020)\n6,2,85500100000,-; connection2:0: detected conn error (1020)"
	check(t, InstanceManagerRestarted, []branch{
		{"one volume hit, node not looked at", hit(), []string{"likely Pod im-n1"}},
		{"one volume hit, connections broke together", hit().machine("n1", "@kmsg", errors), []string{"certain Pod im-n1"}},
		{"engine gone, volume attached nowhere", hit().edit("volume", "currentNodeID: n1", "currentNodeID: ''"), []string{"likely Pod im-n1"}},
		{"the pod is younger", hit().edit("pod", "startTime: '2026-01-02T11:30:00Z'", "startTime: '2026-01-02T11:50:00Z'"), silent},
		{"nobody told, the engine is in error", ended("11:40"), []string{"likely Pod im-n1"}},
		{"nobody told, an engine made since is in error", ended("11:58"), silent},
		{"no effect on the volume", hit().edit("volume", "11:45:20Z", "09:00:00Z"), silent},
		{"shared volume that recovered", hit().edit("volume", "accessMode: rwo", "accessMode: rwx"), silent},
	})
}

func TestRestartReason(t *testing.T) {
	t.Parallel()
	s := newScene().edit("volume", "state: attaching", "state: attached").edit("volume", "ownerID: n1", "ownerID: n1, currentNodeID: n1, remountRequestedAt: '2026-01-02T11:45:20Z'").
		edit("pod", "status: {phase: Pending}", "status: {phase: Running, startTime: '2026-01-02T11:30:00Z', containerStatuses: [{name: app, ready: true, state: {running: {startedAt: '2026-01-02T11:30:00Z'}}}]}").
		add("class", lhAPI+"Setting\nmetadata: {name: priority-class, namespace: longhorn-system}\nvalue: ''\n")
	for _, n := range []string{"n1", "n2", "n3"} {
		s.add("pod-im-"+n, "apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: im-"+n+"}\nspec: {nodeName: "+n+", priorityClassName: apps, containers: [{name: m, image: m}]}\nstatus: {phase: Running, startTime: '2026-01-02T11:45:00Z'}\n")
	}
	_, r := s.run(t, InstanceManagerRestarted)
	if len(r.RootCauses) != 1 || !strings.Contains(r.RootCauses[0].Message, "priority class apps") {
		t.Errorf("want the priority class as the reason, got %+v", r.RootCauses)
	}
}

func TestIPFamilyUnsupported(t *testing.T) {
	t.Parallel()
	shared := func(ip, line string) *scene {
		return newScene().edit("volume", "accessMode: rwo", "accessMode: rwx").
			add("sm", "apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: share-manager-"+vol+"}\nspec: {nodeName: n1, containers: [{name: m, image: m}]}\nstatus: {phase: Running, podIP: '"+ip+"', podIPs: [{ip: '"+ip+"'}]}\n").
			file("logs/longhorn-system/longhorn-manager-n1/m.log", line+"\n")
	}
	glued := `time="2026-01-02T11:59:00Z" level=error msg="timeout to [fd00::2e:9600]:9600"`
	check(t, IPFamilyUnsupported, []branch{
		{"glued to its port", shared("fd00::2e", glued), []string{"likely ShareManager " + vol}},
		{"an hour ago", shared("fd00::2e", `time="2026-01-02T10:59:00Z" level=error msg="timeout to [fd00::2e:9600]:9600"`), silent},
		{"well-formed", shared("fd00::2e", `time="2026-01-02T11:59:00Z" level=error msg="timeout to [fd00::2e]:9600"`), silent},
		{"IPv4 first", shared("10.42.0.7", glued), silent},
		{"the share is served", shared("fd00::2e", glued).add("share", lhAPI+"ShareManager\nmetadata: {name: "+vol+", namespace: longhorn-system}\nstatus: {state: running}\n"), silent},
	})
	manager := func(node, ip, line string) *scene {
		return newScene().add("im-pod", "apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: im-"+node+"}\nspec: {nodeName: "+node+", containers: [{name: m, image: m}]}\nstatus: {phase: Running, podIP: '"+ip+"', podIPs: [{ip: '"+ip+"'}]}\n").
			file("logs/longhorn-system/im-n1/m.log", line+"\n")
	}
	dial := `[` + vol + `-e-0] time="2026-01-02T11:59:00Z" level=fatal msg="failed to dial replica: dial tcp: address fd00::2e:10015: too many colons in address"`
	found := []string{"likely Volume " + vol}
	check(t, IPFamilyUnsupported, []branch{
		{"a replica on another node", manager("n2", "fd00::2e", dial), found},
		{"the engine's own node", manager("n1", "fd00::2e", dial), found},
		{"nobody waits", manager("n2", "fd00::2e", dial).drop("pod").drop("va").drop("tickets"), found},
		{"a node without a part in the volume", manager("n3", "fd00::2e", dial), silent},
		{"the engine runs", manager("n2", "fd00::2e", dial).edit("engine", "currentState: stopped", "currentState: running"), silent},
		{"another volume's engine", manager("n2", "fd00::2e", strings.Replace(dial, vol, "pvc-other999", 1)).add("other", lhAPI+"Volume\nmetadata: {name: pvc-other999, namespace: longhorn-system}\n"), silent},
		{"it is the end of another address", manager("n2", "::2e", dial), silent},
	})
}

// A pod of a Deployment that is only deleted is followed by one that finds the old mount.
func TestPodOfADeployment(t *testing.T) {
	t.Parallel()
	for _, rule := range []*diagnosis.Rule{RemountPending, InstanceManagerRestarted} {
		s := newScene().edit("volume", "state: attaching", "state: attached").edit("volume", "ownerID: n1", "ownerID: n1, currentNodeID: n1, remountRequestedAt: '2026-01-02T11:45:20Z'").
			edit("pod", "status: {phase: Pending}", "status: {phase: Running, startTime: '2026-01-02T11:30:00Z', containerStatuses: [{name: app, ready: true, state: {running: {startedAt: '2026-01-02T11:30:00Z'}}}]}").
			edit("pod", "uid: u,", "uid: u, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: db-7, uid: rs, controller: true}],").
			add("rs", "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {namespace: shop, name: db-7, uid: rs, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: db, uid: d, controller: true}]}\n").
			add("deploy", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {namespace: shop, name: db, uid: d}\nspec: {replicas: 1}\n").
			add("im-pod", "apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: im-n1}\nspec: {nodeName: n1, containers: [{name: m, image: m}]}\nstatus: {phase: Running, startTime: '2026-01-02T11:45:00Z'}\n")
		_, r := s.run(t, rule)
		var titles []string
		for _, c := range r.RootCauses {
			for _, m := range c.Remedies {
				titles = append(titles, m.Title)
			}
		}
		if all := strings.Join(titles, "; "); !strings.Contains(all, "cale deployment shop/db to 0") || strings.Contains(all, "elete pod") {
			t.Errorf("%s: want the Deployment scaled to 0, got %q", rule.Name, titles)
		}
	}
}
