package mask

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"assigned":                 {"node.session.auth.password = hunter2", "node.session.auth.password = ********"},
		"option of a mount":        {"rw,vers=3,username=u,password=hunter2,soft", "rw,vers=3,username=u,password=********,soft"},
		"ceph":                     {"name=admin,secret=AQD+ab==,acl", "name=admin,secret=********,acl"},
		"percent":                  {"cifs user=u%hunter2 0 0", "cifs user=u%******** 0 0"},
		"url":                      {"HTTPS_PROXY=http://user:hunter2@proxy:3128", "HTTPS_PROXY=http://********@proxy:3128"},
		"url of a token":           {"https://ghx@example.org/x", "https://********@example.org/x"},
		"bucket stays":             {"s3://backups@us-east-1/store?backup=b-1", "s3://backups@us-east-1/store?backup=b-1"},
		"variable":                 {"Environment=AWS_SECRET_ACCESS_KEY=hunter2", "Environment=AWS_SECRET_ACCESS_KEY=********"},
		"option and word":          {"k3s agent --token hunter2 --server https://x", "k3s agent --token ******** --server https://x"},
		"word and word":            {"app[1]: password hunter2 iscsi mount", "app[1]: password ******** iscsi mount"},
		"quoted":                   {`config_password "hunter 2"`, `config_password "********"`},
		"json":                     {`{"apiKey":"hunter2","a":1}`, `{"apiKey":"********","a":1}`},
		"json in a text":           {`said \"password\": \"hunter2\" and left`, `said \"password\": \"********\" and left`},
		"header":                   {"Authorization: Bearer abc.def", "Authorization: ********"},
		"basic header":             {"got 401, Authorization: Basic dXNlcjpwdw== (from x)", "got 401, Authorization: ******** (from x)"},
		"escaped, in a form":       {"a=1&client%5Fsecret%3Dhunter2", "a=1&client%5Fsecret%3D********"},
		"a source of a database":   {"open app:hunter2@tcp(db:3306)/x", "open ********@tcp(db:3306)/x"},
		"a share with a user":      {"mount //u:hunter2@nas/share", "mount //********@nas/share"},
		"an address of IPv6":       {"mount //[fe80::1]/share@x", "mount //[fe80::1]/share@x"},
		"a root over iSCSI":        {"netroot=iscsi:u:hunter2@10.0.0.1::3260::iqn.2001-05.x:y", "netroot=iscsi:********@10.0.0.1::3260::iqn.2001-05.x:y"},
		"a block of YAML":          {"password: |-\n  hunter2\n  more\nuser: u", "password: ********\nuser: u"},
		"a value on its own line":  {"{\"password\":\n  \"hunter2\"}", "{\"password\":\n  \"********\"}"},
		"quotes in a value":        {`{"password":"a\"hunter2","b":1}`, `{"password":"********","b":1}`},
		"an arrow":                 {"password -> hunter2", "password -> ********"},
		"user and password":        {"curl -u admin:hunter2 https://x", "curl -u admin:******** https://x"},
		"the next word":            {"sshpass -p hunter2 ssh x", "sshpass ******** ******** ssh x"},
		"short names":              {"bindpw=hunter2 pw: hunter2 JWT=hunter2 connectionString=hunter2", "bindpw=******** pw: ******** JWT=******** connectionString=********"},
		"a signature alone":        {"X-Amz-Signature=hunter2&x", "X-Amz-Signature=********&x"},
		"basic in an option":       {"auth=Basic aHVudGVyMg==", "auth=Basic ********"},
		"tokens of other issuers":  {"glpat-abcdefghijklmnop01 ASIAIOSFODNN7EXAMPLE hvs.abcdefghijklmnop01", "******** ******** ********"},
		"a block of PGP":           {"-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----", "-----BEGIN PGP PRIVATE KEY ******** PGP PRIVATE KEY ********"},
		"header in JSON":           {`{\"Authorization\":\"Basic dXNlcjpwdw==\",\"a\":1}`, `{\"Authorization\":\"********\",\"a\":1}`},
		"digest header":            {`Authorization: Digest username="u", response="hunter2"`, "Authorization: ********"},
		"cookie":                   {"Set-Cookie: JSESSIONID=hunter2; Path=/", "Set-Cookie: ********"},
		"cookie of a watcher":      {"watcher=10.0.0.1:0/1 client.4 cookie=18446", "watcher=10.0.0.1:0/1 client.4 cookie=18446"},
		"signed URL":               {"PUT https://a.blob.core.windows.net/c?sv=1&sig=hunter2%3D&se=2", "PUT https://a.blob.core.windows.net/c?sv=1&sig=********&se=2"},
		"yaml list":                {"{Authorization: [Bearer hunter2]}", "{Authorization: [********]}"},
		"glued":                    {"COMMAND=/usr/bin/mysql -phunter2", "COMMAND=/usr/bin/mysql -p********"},
		"url parameter":            {"GET /x?token=hunter2&a=b", "GET /x?token=********&a=b"},
		"sense key stays":          {"Sense Key : Medium Error [current]", "Sense Key : Medium Error [current]"},
		"prose stays":              {"No key available with this passphrase.", "No key available with this passphrase."},
		"how a program ended":      {"luksOpen: No key available with this passphrase.: exit status 2", "luksOpen: No key available with this passphrase.: exit status 2"},
		"and a word like it":       {"passphrase.: exit-status2", "passphrase.: ********"},
		"missing key stays":        {"Required key not available", "Required key not available"},
		"name of a Secret stays":   {`MountVolume.SetUp failed for volume "v" : secret "db-auth" not found`, `MountVolume.SetUp failed for volume "v" : secret "db-auth" not found`},
		"the cache of the kubelet": {`MountVolume.SetUp failed for volume "v" : failed to sync secret cache: timed out waiting for the condition`, `MountVolume.SetUp failed for volume "v" : failed to sync secret cache: timed out waiting for the condition`},
		"what looks like one":      {"the secret cache7: timed out", "the secret ******** timed out"},
		"key of a Secret stays":    {`MountVolume.SetUp failed for volume "v" : references non-existent secret key: tls.crt`, `MountVolume.SetUp failed for volume "v" : references non-existent secret key: tls.crt`},
		"name of a volume stays":   {`failed for volume "secrets-store" : rpc error: code = Unknown`, `failed for volume "secrets-store" : rpc error: code = Unknown`},
		"name of a driver stays":   {"driver secrets-store.csi.k8s.io mounts a tmpfs", "driver secrets-store.csi.k8s.io mounts a tmpfs"},
		"a property of Java":       {"spring.datasource.password hunter2", "spring.datasource.password ********"},
		"reference stays":          {"csi.storage.k8s.io/provisioner-secret-name: x-secret", "csi.storage.k8s.io/provisioner-secret-name: x-secret"},
		"nothing to hide":          {"EXT4-fs (sdc): mounted filesystem", "EXT4-fs (sdc): mounted filesystem"},
		"passed":                   {"health check passed: 3", "health check passed: 3"},
		"key of a toleration":      {"keyslot: 3", "keyslot: 3"},
		"private key":              {"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----********-----END RSA PRIVATE KEY-----"},
		"escaped Secret name":      {`err=\"secret \\\"x\\\" gone\"`, `err=\"secret \\\"x\\\" gone\"`},
		"token that says itself":   {"got AKIAIOSFODNN7EXAMPLE here", "got ******** here"},
		"a reason of one word":     {"could not use token: expired", "could not use token: expired"},
		"a reason":                 {"failed to fetch token: context deadline exceeded", "failed to fetch token: context deadline exceeded"},
		"a refusal of a server":    {"password: authentication failed for user u", "password: authentication failed for user u"},
		"a reason of the system":   {"cannot load key: open /etc/ceph/k: no such file or directory", "cannot load key: open /etc/ceph/k: no such file or directory"},
		"no such key":              {"key: no such key", "key: no such key"},
		"no Secret":                {"failed to get secret: not found", "failed to get secret: not found"},
		"an object of a reason":    {`failed to fetch token: serviceaccounts "build" is forbidden: no rights`, `failed to fetch token: serviceaccounts "build" is forbidden: no rights`},
		"a status of HTTP":         {"cannot fetch token: 401 Unauthorized", "cannot fetch token: 401 Unauthorized"},
		"a code of a cloud":        {"get credentials: AccessDenied: User is not authorized", "get credentials: AccessDenied: User is not authorized"},
		"an error of gRPC":         {"get token: rpc error: code = Unauthenticated desc = bad", "get token: rpc error: code = Unauthenticated desc = bad"},
		"a URL in a reason":        {`token: Post "https://sts.example.org/": EOF`, `token: Post "https://sts.example.org/": EOF`},
		"a Secret without quotes":  {"failed to get secret csi-admin in namespace storage", "failed to get secret csi-admin in namespace storage"},
		"key of a label":           {`segments:<key:"topology.csi.vmware.com/k8s-zone" value:"z9" >`, `segments:<key:"topology.csi.vmware.com/k8s-zone" value:"z9" >`},
		"key of a key service":     {"disk-encryption-kms-key: projects/p/keyRings/r/cryptoKeys/k", "disk-encryption-kms-key: projects/p/keyRings/r/cryptoKeys/k"},
		"keys of labels":           {"topologyKeys [kubernetes.io/hostname zone] were not found on node n1 labels, topologyKey: zone", "topologyKeys [kubernetes.io/hostname zone] were not found on node n1 labels, topologyKey: zone"},
		"its secret":               {"kms-secret: hunter2, kmsAccessKey: hunter2", "kms-secret: ********, kmsAccessKey: ********"},
		"a weak password":          {"password: manager", "password: ********"},
		"weak, in a map":           {"password: manager user: u", "password: ******** user: u"},
		"weak, in a list":          {"password: access, user", "password: ********, user"},
		"weak, in a file":          {"password: server\nuser: u", "password: ********\nuser: u"},
		"assigned to a word":       {"token=expired", "token=********"},
		"in JSON":                  {`{"token": "expired soon"}`, `{"token": "********"}`},
		"an unknown word":          {"bad password: hunter2 was refused", "bad password: ******** was refused"},
		"a value and its error":    {"bad token: Hunter2: access denied", "bad token: ******** access denied"},
		"a passphrase":             {"passphrase: correct horse battery", "passphrase: ******** horse battery"},
		"token of an API request":  {"err: token CANARY02token, retry", "err: token ********, retry"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Text(test.in)
			if name == "escaped Secret name" {
				return // only must not panic
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
			if again := Text(got); again != got {
				t.Errorf("masked twice: got %q, want %q", again, got)
			}
		})
	}
}

// TestIdentitiesStay: what a diagnosis goes by, and sentences about secrets that tell none.
func TestIdentitiesStay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"dm-3 is LVM-S2euTnbgP3jclpVv4J8k26uGMJkdNJgpzJoQ3WepO9K22iBtIAAkSuQ2bBVeX39J here", "PV S2euTn-bgP3-jcle-Vv4J-8k26-uGMJ-kdNJgp was found",
		"wwn 0x600a098038304437415d4b6a59684a55 serial S4EWNX0R123456A of Samsung_SSD_970_EVO_Plus_1TB_S4EWNX0R123456A", "image x@sha256:0f9b3c6f4ad1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b",
		"handle 0001-0024-fed5480a-f00f-417a-a51d-31d8a8144c03-0000000000000002-eba90b33-0156-4207-87b4-789907d26ad5 is mounted", "func=instance.V1DataEngineInstanceOps.InstanceLog file=x.go:519",
		"volume ocid1.volume.oc1.iad.abuwcljrzqhhbgo4xwkv5q6mrzvjvjvjvjvjvjvjvjvjvjvjvjvjvjvja is attached to eui.0025388b710116a9", `Post "https://longhorn-admission-webhook.longhorn-system.svc:9502/v1/webhook/mutation?timeout=10s": EOF`,
		"Secrets are never in a snapshot", "the passphrase was right, the key is missing", "secret for Ceph-CSI: cluster id and monitors", "STATUS_PASSWORD_EXPIRED (127)", "exit codes pass through: 42",
		"pin the pod to node n1, salt and pepper", "auth: unable to find a keyring on /etc/ceph/ceph.client.admin.keyring", "target iqn.2004-10.com.example:5432:x", "event web-0.17a1b2c3d4e5f607 says so",
		"36 35 7:0 / /mnt/vault/token ro - ext4 /dev/loop0 ro", "10.0.0.1:/srv/secrets rw,hard", "mounting nas-key:/export/a on /mnt failed", "login to iqn.2010-01.com.acme.secrets:token.key-1 failed", "bind /export/key=1 to x",
		`Unable to attach: unmounted volumes=[root token], unattached volumes=[secrets token root]: timed out`, `persistentvolumeclaim "db-token" bound to non-existent`, `with StorageClass "pass": rpc error`, "PVC bearer-tokens bound to invalid PV",
		"cannot open 'tank/password': dataset does not exist", "multipathd: pass: couldn't get size", "to node secret-node: volume must be healthy", "attach volume to token-01.example.com: node is down", "{NodeID:key Parameters:map[a:b]}", `called with node_id:\"key\"" func="a.b"`, "on /iface-default/10.0.0.1:3260-iqn.2010-01.com.acme.secrets:token.key-1-lun-7 failed", "node=key state=up", "logs/a/token-b/token-b:8: I0512 said",
		`error processing PVC "ns"/"bearer-tokens": PVC is not bound`, "mount of /mnt/K8sVolA1b2C3d4E5f6G7h8I9 failed", "claim of the token. Retry later", "the token-store waits",
		"36 35 7:0 / /mnt/ProductionDataStore01/a rw - ext4 /dev/loop0 rw", "37 35 7:0 / /data/MyOrgK8sProdVolumes2024 rw - ext4 /dev/loop0 rw",
	} {
		if got := Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestArgs(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"kubelet":           {"/usr/bin/kubelet --root-dir=/data/kubelet --v=2 --config /etc/k.yaml", "/usr/bin/kubelet --root-dir=/data/kubelet --v=2 --config /etc/k.yaml"},
		"unknown option":    {"csiplugin --endpoint=unix:///csi/csi.sock --tenant=acme", "csiplugin --endpoint=unix:///csi/csi.sock --tenant=********"},
		"secret options":    {"csiplugin --password hunter2 --vault-token=x", "csiplugin --password ******** --vault-token=********"},
		"cifs":              {"mount.cifs -o username=u,password=hunter2 //s/x /m", "mount.cifs -o username=u,password=******** //s/x /m"},
		"nfs":               {"mount.nfs 10.0.0.1:/export /mnt -o vers=4.1,hard", "mount.nfs 10.0.0.1:/export /mnt -o vers=4.1,hard"},
		"a key of digits":   {"program 0123456789abcdef0123456789abcdef01234567 fe80::1 36001405aabbccddeeff00112233445566", "program ******** fe80::1 36001405aabbccddeeff00112233445566"},
		"unknown word":      {"program hunter2", "program ********"},
		"engine":            {"longhorn --volume-name pvc-1 replica /host/var/lib/longhorn/replicas/pvc-1-a --size 1073741824 --listen 0.0.0.0:10000", "longhorn --volume-name pvc-1 replica /host/var/lib/longhorn/replicas/pvc-1-a --size 1073741824 --listen 0.0.0.0:10000"},
		"glued password":    {"mysql -uroot -pHunter2", "mysql -uroot -p********"},
		"kubelet of k3s":    {"k3s agent --kubelet-arg=root-dir=/data", "k3s agent --kubelet-arg=root-dir=/data"},
		"secret of k3s":     {"k3s agent --kubelet-arg=token=abc", "k3s agent --kubelet-arg=token=********"},
		"no options at all": {"iscsid", "iscsid"},
		"a password of -a":  {"redis-cli -h r -a hunter2", "redis-cli -h ******** -a ********"},
		"a portal":          {"iscsiadm -m node -p 10.0.0.1:3260", "iscsiadm -m node -p 10.0.0.1:3260"},
		"a setting":         {"iscsiadm -o update -n node.session.auth.password -v hunter2", "iscsiadm -o update -n node.session.auth.password -v ********"},
		"another setting":   {"iscsiadm -o update --name=node.session.auth.password --value hunter2", "iscsiadm -o update --name=node.session.auth.password --value ********"},
		"no secret setting": {"iscsiadm -o update -n node.startup -v manual", "iscsiadm -o update -n node.startup -v manual"},
		"user and password": {"etcdctl --user root:hunter2", "etcdctl --user ********"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(Args(strings.Fields(test.in)), " ")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMount: where something is mounted names no secret; options and sources do.
func TestMount(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`36 35 7:0 / /mnt/my\040token ro,relatime shared:1 - ext4 /dev/loop0 ro`:        "",
		"36 35 0:9 /a /vol/token=x,y rw - fuse.glusterfs gl-1:secret-vol rw,max_read=1": "",
		"36 35 0:9 / /m rw - nfs4 nas-key:/export/token rw":                             "",
		"36 35 0:9 / /m rw - cifs //nas/x rw,username=u,password=hunter2,soft":          "36 35 0:9 / /m rw - cifs //nas/x rw,username=u,password=********,soft",
		"36 35 0:9 / /token rw - fuse.juicefs redis://:hunter2@r/1 rw":                  "36 35 0:9 / /token rw - fuse.juicefs redis://********@r/1 rw",
		"36 35 0:9 / /m password=hunter2 torn":                                          "36 35 0:9 / /m password=******** torn",
	} {
		if want == "" {
			want = in
		}
		if diff := cmp.Diff(want, Mount(in)); diff != "" {
			t.Errorf("mismatch (-want +got):\n%s", diff)
		}
	}
}

// TestSentence: a name behind its kind is no secret's; without the kind it may be one's.
func TestSentence(t *testing.T) {
	t.Parallel()
	known := func(name string) bool { return name == "key" || name == "shop/token" || name == "secret-node" }
	for in, want := range map[string]string{
		"LVM on node key activated the group":            "LVM on node key activated the group",
		"Claim shop/token asks for a class":              "Claim shop/token asks for a class",
		"Pod x on node secret-node: its disk is gone":    "Pod x on node secret-node: its disk is gone",
		"the driver says: key hunter2 is bad, token: x1": "the driver says: key ******** is bad, token: ********",
	} {
		if diff := cmp.Diff(want, Sentence(in, known)); diff != "" {
			t.Errorf("mismatch (-want +got):\n%s", diff)
		}
	}
}

// FuzzText must never panic, and hides what it hid.
func FuzzText(f *testing.F) {
	for _, s := range []string{"password = x", `secret: "`, "key=[", "://a:b@", "token \\\"", "-----BEGIN PRIVATE KEY-----"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		Text(s)
		if out := Text("password=" + "canary1234" + " " + s); strings.Contains(out, "canary1234") && !strings.Contains(s, "canary1234") {
			t.Errorf("the password is still in %q", out)
		}
	})
}

// TestOwn: a command and a step name Secrets; only what is assigned is a value there.
func TestOwn(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"kubectl -n shop get secret db-auth -o yaml":  "kubectl -n shop get secret db-auth -o yaml",
		"Make the Secret anew, with a password in it": "Make the Secret anew, with a password in it",
		"mount -o password=hunter2 //h/s /mnt":        "mount -o password=******** //h/s /mnt",
		"tool --password hunter2":                     "tool --password ********",
	} {
		if got := Own(in, nil); got != want {
			t.Errorf("Own(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Text("The Secret db-auth is used by nobody."); got != "The Secret db-auth is used by nobody." {
		t.Errorf("the name of a Secret is hidden: %q", got)
	}
}

func TestArgsOfStorageTools(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"rbd --id u -m 10.0.0.1:6789 --keyfile=/tmp/k map kube/csi-vol-1 --device-type krbd": "rbd --id u -m 10.0.0.1:6789 --keyfile=/tmp/k map kube/csi-vol-1 --device-type krbd",
		"rbd --key AQD+ab== map kube/x": "rbd --key ******** map kube/x",
		"zfs mount tank/pvc-1":          "zfs mount tank/pvc-1",
		"app kube/hunter2":              "app ********",
	} {
		if got := strings.Join(Args(strings.Fields(in)), " "); got != want {
			t.Errorf("Args(%q) = %q, want %q", in, got, want)
		}
	}
}
