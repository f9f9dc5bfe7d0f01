package main

import (
	"context"
	"log"
	"strings"
	"time"

	storage "k8s.io/api/storage/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/storage/v1"
	"k8s.io/client-go/tools/clientcmd"
)

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
	api := clients.StorageV1().VolumeAttachments()
	for ctx := context.Background(); ; time.Sleep(300 * time.Millisecond) {
		list, err := api.List(ctx, meta.ListOptions{})
		if err != nil {
			log.Print(err)
			continue
		}
		for i := range list.Items {
			if list.Items[i].Spec.Attacher != name {
				continue
			}
			if err := answer(ctx, api, &list.Items[i]); err != nil {
				log.Printf("%s: %v", list.Items[i].Name, err)
			}
		}
	}
}

func answer(ctx context.Context, api typed.VolumeAttachmentInterface, va *storage.VolumeAttachment) error {
	if va.DeletionTimestamp != nil {
		va.Finalizers = nil
		_, err := api.Update(ctx, va, meta.UpdateOptions{})
		return err
	}
	if va.Status.Attached {
		return nil
	}
	va.Finalizers = []string{"external-attacher/" + strings.ReplaceAll(va.Spec.Attacher, ".", "-")}
	va, err := api.Update(ctx, va, meta.UpdateOptions{})
	if err != nil {
		return err
	}
	va.Status = storage.VolumeAttachmentStatus{Attached: true}
	_, err = api.UpdateStatus(ctx, va, meta.UpdateOptions{})
	log.Printf("attached %s to %s", va.Name, va.Spec.NodeName)
	return err
}
