package main

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	storage "k8s.io/api/storage/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/storage/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// attacher does what the real sidecar does for a storage that needs no attaching.
type attacher struct {
	api   typed.VolumeAttachmentInterface
	nodes typed.CSINodeInterface
}

// attach answers VolumeAttachments of one driver at once: the storage needs no
// attaching.
func attach(name, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	a := attacher{api: clients.StorageV1().VolumeAttachments(), nodes: clients.StorageV1().CSINodes()}
	for ctx := context.Background(); ; time.Sleep(300 * time.Millisecond) {
		list, err := a.api.List(ctx, meta.ListOptions{})
		if err != nil {
			log.Print(err)
			continue
		}
		for i := range list.Items {
			if list.Items[i].Spec.Attacher != name {
				continue
			}
			if err := a.answer(ctx, &list.Items[i]); err != nil {
				log.Printf("%s: %v", list.Items[i].Name, err)
			}
		}
	}
}

func (a attacher) answer(ctx context.Context, va *storage.VolumeAttachment) error {
	if va.DeletionTimestamp != nil {
		va.Finalizers = nil
		_, err := a.api.Update(ctx, va, meta.UpdateOptions{})
		return err
	}
	if va.Status.Attached {
		return nil
	}
	if err := a.serves(ctx, va); err != nil {
		va.Status.AttachError = &storage.VolumeError{Time: meta.Now(), Message: err.Error()}
		_, err = a.api.UpdateStatus(ctx, va, meta.UpdateOptions{})
		return err
	}
	va.Finalizers = []string{"external-attacher/" + strings.ReplaceAll(va.Spec.Attacher, ".", "-")}
	va, err := a.api.Update(ctx, va, meta.UpdateOptions{})
	if err != nil {
		return err
	}
	va.Status = storage.VolumeAttachmentStatus{Attached: true}
	_, err = a.api.UpdateStatus(ctx, va, meta.UpdateOptions{})
	log.Printf("attached %s to %s", va.Name, va.Spec.NodeName)
	return err
}

// serves says in the sidecar's words that the node does not know the driver.
func (a attacher) serves(ctx context.Context, va *storage.VolumeAttachment) error {
	n, err := a.nodes.Get(ctx, va.Spec.NodeName, meta.GetOptions{})
	if err != nil {
		return err
	}
	for _, d := range n.Spec.Drivers {
		if d.Name == va.Spec.Attacher {
			return nil
		}
	}
	return fmt.Errorf("CSINode %s does not contain driver %s", va.Spec.NodeName, va.Spec.Attacher)
}
