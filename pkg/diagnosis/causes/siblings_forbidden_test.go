package causes

import (
	"fmt"
	"strings"
	"testing"
)

// TestForbidden: clouds answer with the 403 of a right, and with words such as "forbidden" or "unauthorized", where an amount
// is used up, calls are too many, or they serve the whole account nothing. Each text is that of a driver or its cloud's SDK.
func TestForbidden(t *testing.T) {
	t.Parallel()
	const (
		rights   = "broken: likely csi-credentials-wrong ServiceAccount kube-system/default"
		named    = "broken: certain csi-credentials-wrong ServiceAccount kube-system/default"
		slow     = "waiting: certain backend-throttled VolumeAttachment csi-a waiting"
		full     = "broken: likely attach-limit-exceeded Node n1"
		nothing  = "broken: unexplained attach-failed; unexplained pod-waiting-for-volume"
		refused  = "broken: certain provisioning-failed PersistentVolumeClaim shop/data"
		aws, gce = "ebs.csi.aws.com vol-0a1b2c3d4e5f60718 ", "pd.csi.storage.gke.io projects/p/zones/z/disks/pvc-1 "
		ali      = "diskplugin.csi.alibabacloud.com d-bp1abc "
		nova     = "cinder.csi.openstack.org 50e7a1c0-1111-4222-8333-123456789012 Attach Volume failed with error failed to attach 50e7 volume to 22a3 compute: Request forbidden: [POST https://n:8774/v2.1/servers/22a3/os-volume_attachments], error message: "
	)
	for text, want := range map[string]string{
		aws + "api error UnauthorizedOperation: You are not authorized to perform this operation.":                                                                                              rights,
		aws + "https response error StatusCode: 400, api error Blocked: This account is currently blocked and not recognized as a valid account.":                                               nothing,
		aws + "!operation error EC2: CreateVolume, https response error StatusCode: 401, api error OptInRequired: You are not subscribed to this service.":                                      refused,
		gce + "googleapi: Error 403: The billing account for the owning project is disabled in state absent, accountDisabled":                                                                   nothing,
		gce + "googleapi: Error 403: Compute Engine API has not been used in project 123 before or it is disabled., accessNotConfigured":                                                        nothing,
		gce + "!googleapi: Error 403: Project charming-module-137923 (#808448574146) has billing disabled. Please enable it., forbidden":                                                        refused,
		gce + "!googleapi: Error 403: Insufficient regional quota to satisfy request: resource \"SSD_TOTAL_GB\": request requires '100.0' and is short '20.0'., forbidden":                      refused,
		gce + "googleapi: Error 403: Request Rate Limit exceeded for project, userRateLimitExceeded":                                                                                            slow,
		gce + "googleapi: Error 403: Service account csi@p.iam.gserviceaccount.com is disabled., forbidden":                                                                                     rights,
		"disk.csi.azure.com /subscriptions/s/d !RESPONSE 403: 403 Forbidden\nERROR CODE: RequestDisallowedByPolicy\n{\"error\": {\"message\": \"Resource 'pvc-1' was disallowed by policy.\"}}": refused,
		"disk.csi.azure.com /subscriptions/s/d RESPONSE 403: 403 Forbidden\nERROR CODE: ReadOnlyDisabledSubscription\nThe subscription '986a' is disabled and therefore marked as read only.":   nothing,
		"disk.csi.azure.com /subscriptions/s/d ClientSecretCredential authentication failed. AADSTS50057: The user account is disabled.":                                                        rights,
		"disk.csi.azure.com /subscriptions/s/d Attach volume x to instance n1 failed with azure cloud provider rate limited(read) for operation VMGet":                                          slow,
		ali + "SDK.ServerError\nErrorCode: Forbidden.RAM\nMessage: User not authorized to operate on the specified resource, or this API doesn't support RAM.":                                  rights,
		ali + "SDK.ServerError\nErrorCode: InvalidAccessKeyId.Inactive\nMessage: Specified access key is disabled.":                                                                             rights,
		ali + "SDK.ServerError\nErrorCode: SignatureDoesNotMatch\nMessage: Specified signature is not matched with our calculation.":                                                            rights,
		ali + "!SDK.ServerError\nErrorCode: Forbidden.RiskControl\nMessage: This operation is forbidden by Aliyun RiskControl system.":                                                          refused,
		ali + "!Aliyun API Error: RequestId: D0CC639E Status Code: 403 Code: OperationDenied Message: The resource is out of usage.":                                                            refused,
		ali + "SDK.ServerError\nErrorCode: InstanceDiskLimitExceeded\nMessage: The amount of the disk on instance in question reach its limits.":                                                full,
		"com.tencent.cloud.csi.cbs disk-1 ![TencentCloudSDKError] Code=UnauthorizedOperation.NotCertification, Message=The account has not been certified.":                                     refused,
		"evs.csi.huaweicloud.com v-1 {\"status_code\":403,\"error_code\":\"PAP.0003\",\"error_message\":\"Policy doesn't allow evs:volumes:use to be performed.\"}":                             named,
		"csi.hetzner.cloud 12345678 failed to publish volume: the token is only allowed to perform GET requests (token_readonly)":                                                               rights,
		nova + `{"forbidden": {"code": 403, "message": "Quota exceeded for resources: ['volumes']"}}`:                                                                                           nothing,
		nova + `{"forbidden": {"code": 403, "message": "The maximum allowed number of disk devices (16) to attach to a single instance has been exceeded."}}`:                                   full,
		nova + `{"conflictingRequest": {"code": 409, "message": "Instance 22a3 is locked"}}`:                                                                                                    nothing,
		nova + `{"error":{"code":401,"message":"The account is locked for user: 1b0c.","title":"Unauthorized"}}`:                                                                                rights,
		"csi-isilon.dellemc.com v-1 !AEC_FORBIDDEN Privilege check failed. The following write permission is required: quota (ISI_PRIV_QUOTA). HTTP status code: 403":                           rights,
		"csi.vsphere.vmware.com 7d03bad9-eaae-4bbc-b794-9049223cf609 ServerFaultCode: Cannot complete login due to an incorrect user name or password. The user account is locked":              rights,
		"disk-csi-driver.mks.ycloud.io fhm1 !The cloud b1g is blocked: billing account is not active":                                                                                           refused,
		"block.csi.vultr.com 1111-22 {\"error\":\"Rate limit hit - please reduce your request rate. If you need an increase, please contact support.\",\"status\":503}":                         slow,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			f := strings.SplitN(text, " ", 3)
			words, provision := strings.CutPrefix(f[2], "!")
			words = "rpc error: code = Internal desc = " + words
			if w := vol(f[0], f[1], ""); provision {
				show(t, pvcEvent(pendingClaim(w, "Immediate", anno(f[0])), "Warning", "ProvisioningFailed", f[0]+"_controller-0_6d", "failed to provision volume with StorageClass \"fast\": "+words).Waits(), "pvc shop/data", want)
			} else {
				w = va(w.Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: "+fmt.Sprintf("%q", words)+"}")
				if !w.Attaches() {
					w.Edit("attachRequired: false", "attachRequired: true")
				}
				show(t, attachFailed(w, "AttachVolume.Attach failed for volume \"pv-data\" : "+words), "pvc shop/data", want)
			}
		})
	}
}
