package main

import (
	"k8s.io/apiserver/pkg/registry/rest"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/discovery/endpointslice"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/ingressclass"
	"k8s.io/kubernetes/pkg/registry/networking/ipaddress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/node/runtimeclass"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"
)

// strategies are what the server creates objects with, by apiVersion and kind.
var strategies = map[string]rest.RESTCreateStrategy{
	"admissionregistration.k8s.io/v1 MutatingAdmissionPolicy":          mutatingadmissionpolicy.NewStrategy(nil, nil),
	"admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding":   mutatingadmissionpolicybinding.NewStrategy(nil, nil, nil),
	"admissionregistration.k8s.io/v1 MutatingWebhookConfiguration":     mutatingwebhookconfiguration.Strategy,
	"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy":        validatingadmissionpolicy.NewStrategy(nil, nil),
	"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding": &validatingadmissionpolicybinding.Strategy,
	"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration":   validatingwebhookconfiguration.Strategy,
	"apps/v1 ControllerRevision":                                       controllerrevision.Strategy,
	"apps/v1 DaemonSet":                                                daemonset.Strategy,
	"apps/v1 Deployment":                                               deployment.Strategy,
	"apps/v1 ReplicaSet":                                               replicaset.Strategy,
	"apps/v1 StatefulSet":                                              statefulset.Strategy,
	"autoscaling/v1 HorizontalPodAutoscaler":                           horizontalpodautoscaler.Strategy,
	"autoscaling/v2 HorizontalPodAutoscaler":                           horizontalpodautoscaler.Strategy,
	"batch/v1 CronJob":                                                 cronjob.Strategy,
	"batch/v1 Job":                                                     job.Strategy,
	"certificates.k8s.io/v1 CertificateSigningRequest":                 certificates.Strategy,
	"coordination.k8s.io/v1 Lease":                                     lease.Strategy,
	"discovery.k8s.io/v1 EndpointSlice":                                endpointslice.Strategy,
	"flowcontrol.apiserver.k8s.io/v1 FlowSchema":                       flowschema.Strategy,
	"flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration":       prioritylevelconfiguration.Strategy,
	"networking.k8s.io/v1 IPAddress":                                   ipaddress.Strategy,
	"networking.k8s.io/v1 Ingress":                                     ingress.Strategy,
	"networking.k8s.io/v1 IngressClass":                                ingressclass.Strategy,
	"networking.k8s.io/v1 NetworkPolicy":                               networkpolicy.Strategy,
	"networking.k8s.io/v1 ServiceCIDR":                                 servicecidr.Strategy,
	"node.k8s.io/v1 RuntimeClass":                                      runtimeclass.Strategy,
	"policy/v1 PodDisruptionBudget":                                    poddisruptionbudget.Strategy,
	"rbac.authorization.k8s.io/v1 ClusterRole":                         clusterrole.Strategy,
	"rbac.authorization.k8s.io/v1 ClusterRoleBinding":                  clusterrolebinding.Strategy,
	"rbac.authorization.k8s.io/v1 Role":                                role.Strategy,
	"rbac.authorization.k8s.io/v1 RoleBinding":                         rolebinding.Strategy,
	"scheduling.k8s.io/v1 PriorityClass":                               priorityclass.Strategy,
	"storage.k8s.io/v1 CSIDriver":                                      csidriver.Strategy,
	"storage.k8s.io/v1 CSINode":                                        csinode.Strategy,
	"storage.k8s.io/v1 CSIStorageCapacity":                             csistoragecapacity.Strategy,
	"storage.k8s.io/v1 StorageClass":                                   storageclass.Strategy,
	"storage.k8s.io/v1 VolumeAttachment":                               volumeattachment.Strategy,
	"storage.k8s.io/v1 VolumeAttributesClass":                          volumeattributesclass.Strategy,
	"v1 ConfigMap":             configmap.Strategy,
	"v1 Endpoints":             endpoint.Strategy,
	"v1 LimitRange":            limitrange.Strategy,
	"v1 Namespace":             namespace.Strategy,
	"v1 Node":                  node.Strategy,
	"v1 PersistentVolume":      persistentvolume.Strategy,
	"v1 PersistentVolumeClaim": persistentvolumeclaim.Strategy,
	"v1 Pod":                   pod.Strategy,
	"v1 PodTemplate":           podtemplate.Strategy,
	"v1 ReplicationController": replicationcontroller.Strategy,
	"v1 ResourceQuota":         resourcequota.Strategy,
	"v1 Secret":                secret.Strategy,
	"v1 Service":               service.Strategy,
	"v1 ServiceAccount":        serviceaccount.Strategy,
}
