//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::ListType;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static ALLOCATED_DEVICE_STATUS: Record = Record::new(
    "AllocatedDeviceStatus",
    &[
        Field::new("driver", Type::Text).numbered(&[1]).required().needed(),
        Field::new("pool", Type::Text).numbered(&[2]).required().needed(),
        Field::new("device", Type::Text).numbered(&[3]).required().needed(),
        Field::new("shareID", Type::Optional(&Type::Text)).numbered(&[7]),
        Field::new("conditions", Type::List(&Type::Record(|| &super::meta_v1::CONDITION))).numbered(&[4]).required().list(ListType::Map(&["type"])),
        Field::new("data", Type::Optional(&Type::Any)).numbered(&[5]),
        Field::new("networkData", Type::Optional(&Type::Record(|| &super::resource_v1::NETWORK_DEVICE_DATA))).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static ALLOCATION_RESULT: Record = Record::new(
    "AllocationResult",
    &[
        Field::new("devices", Type::Record(|| &super::resource_v1::DEVICE_ALLOCATION_RESULT)).numbered(&[1]).required(),
        Field::new("nodeSelector", Type::Optional(&Type::Record(|| &super::core_v1::NODE_SELECTOR))).numbered(&[3]),
        Field::new("allocationTimestamp", Type::Optional(&Type::Time)).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static CEL_DEVICE_SELECTOR: Record = Record::new(
    "CELDeviceSelector",
    &[
        Field::new("expression", Type::Text).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static CAPACITY_REQUEST_POLICY: Record = Record::new(
    "CapacityRequestPolicy",
    &[
        Field::new("default", Type::Optional(&Type::Quantity)).numbered(&[1]).required(),
        Field::new("validValues", Type::List(&Type::Quantity)).numbered(&[3]),
        Field::new("validRange", Type::Optional(&Type::Record(|| &super::resource_v1::CAPACITY_REQUEST_POLICY_RANGE))).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static CAPACITY_REQUEST_POLICY_RANGE: Record = Record::new(
    "CapacityRequestPolicyRange",
    &[
        Field::new("min", Type::Optional(&Type::Quantity)).numbered(&[1]).needed(),
        Field::new("max", Type::Optional(&Type::Quantity)).numbered(&[2]),
        Field::new("step", Type::Optional(&Type::Quantity)).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static CAPACITY_REQUIREMENTS: Record = Record::new(
    "CapacityRequirements",
    &[
        Field::new("requests", Type::Map(&Type::Quantity)).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static COUNTER: Record = Record::new(
    "Counter",
    &[
        Field::new("value", Type::Quantity).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static COUNTER_SET: Record = Record::new(
    "CounterSet",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("counters", Type::Map(&Type::Record(|| &super::resource_v1::COUNTER))).numbered(&[2]).needed(),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE: Record = Record::new(
    "Device",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("attributes", Type::Map(&Type::Record(|| &super::resource_v1::DEVICE_ATTRIBUTE))).numbered(&[2]),
        Field::new("capacity", Type::Map(&Type::Record(|| &super::resource_v1::DEVICE_CAPACITY))).numbered(&[3]),
        Field::new("consumesCounters", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_COUNTER_CONSUMPTION))).numbered(&[4]),
        Field::new("nodeName", Type::Optional(&Type::Text)).numbered(&[5]),
        Field::new("nodeSelector", Type::Optional(&Type::Record(|| &super::core_v1::NODE_SELECTOR))).numbered(&[6]),
        Field::new("allNodes", Type::Optional(&Type::Flag)).numbered(&[7]),
        Field::new("taints", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_TAINT))).numbered(&[8]),
        Field::new("bindsToNode", Type::Optional(&Type::Flag)).numbered(&[9]),
        Field::new("bindingConditions", Type::List(&Type::Text)).numbered(&[10]),
        Field::new("bindingFailureConditions", Type::List(&Type::Text)).numbered(&[11]),
        Field::new("allowMultipleAllocations", Type::Optional(&Type::Flag)).numbered(&[12]),
        Field::new("nodeAllocatableResourceMappings", Type::Map(&Type::Record(|| &super::resource_v1::NODE_ALLOCATABLE_RESOURCE_MAPPING))).numbered(&[13]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_ALLOCATION_CONFIGURATION: Record = Record::new(
    "DeviceAllocationConfiguration",
    &[
        Field::new("source", Type::Named("v1.AllocationConfigSource", &Type::Text)).numbered(&[1]).required().needed().one_of(&["FromClaim","FromClass"]),
        Field::new("requests", Type::List(&Type::Text)).numbered(&[2]),
        Field::new("opaque", Type::Optional(&Type::Record(|| &super::resource_v1::OPAQUE_DEVICE_CONFIGURATION))).numbered(&[3, 1]).embedded("DeviceConfiguration"),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_ALLOCATION_RESULT: Record = Record::new(
    "DeviceAllocationResult",
    &[
        Field::new("results", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_REQUEST_ALLOCATION_RESULT))).numbered(&[1]),
        Field::new("config", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_ALLOCATION_CONFIGURATION))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_ATTRIBUTE: Record = Record::new(
    "DeviceAttribute",
    &[
        Field::new("int", Type::Optional(&Type::Int64)).numbered(&[2]),
        Field::new("bool", Type::Optional(&Type::Flag)).numbered(&[3]),
        Field::new("string", Type::Optional(&Type::Text)).numbered(&[4]),
        Field::new("version", Type::Optional(&Type::Text)).numbered(&[5]),
        Field::new("ints", Type::List(&Type::Int64)).numbered(&[6]),
        Field::new("bools", Type::List(&Type::Flag)).numbered(&[7]),
        Field::new("strings", Type::List(&Type::Text)).numbered(&[8]),
        Field::new("versions", Type::List(&Type::Text)).numbered(&[9]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_CAPACITY: Record = Record::new(
    "DeviceCapacity",
    &[
        Field::new("value", Type::Quantity).numbered(&[1]).required().needed(),
        Field::new("requestPolicy", Type::Optional(&Type::Record(|| &super::resource_v1::CAPACITY_REQUEST_POLICY))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_CLAIM: Record = Record::new(
    "DeviceClaim",
    &[
        Field::new("requests", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_REQUEST))).numbered(&[1]).required(),
        Field::new("constraints", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_CONSTRAINT))).numbered(&[2]),
        Field::new("config", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_CLAIM_CONFIGURATION))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_CLAIM_CONFIGURATION: Record = Record::new(
    "DeviceClaimConfiguration",
    &[
        Field::new("requests", Type::List(&Type::Text)).numbered(&[1]),
        Field::new("opaque", Type::Optional(&Type::Record(|| &super::resource_v1::OPAQUE_DEVICE_CONFIGURATION))).numbered(&[2, 1]).embedded("DeviceConfiguration"),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_CLASS: Record = Record::new(
    "DeviceClass",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::resource_v1::DEVICE_CLASS_SPEC)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_CLASS_CONFIGURATION: Record = Record::new(
    "DeviceClassConfiguration",
    &[
        Field::new("opaque", Type::Optional(&Type::Record(|| &super::resource_v1::OPAQUE_DEVICE_CONFIGURATION))).numbered(&[1, 1]).embedded("DeviceConfiguration"),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_CLASS_SPEC: Record = Record::new(
    "DeviceClassSpec",
    &[
        Field::new("selectors", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_SELECTOR))).numbered(&[1]),
        Field::new("config", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_CLASS_CONFIGURATION))).numbered(&[2]),
        Field::new("extendedResourceName", Type::Optional(&Type::Text)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_CONSTRAINT: Record = Record::new(
    "DeviceConstraint",
    &[
        Field::new("requests", Type::List(&Type::Text)).numbered(&[1]),
        Field::new("matchAttribute", Type::Optional(&Type::Named("v1.FullyQualifiedName", &Type::Text))).numbered(&[2]),
        Field::new("distinctAttribute", Type::Optional(&Type::Named("v1.FullyQualifiedName", &Type::Text))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_COUNTER_CONSUMPTION: Record = Record::new(
    "DeviceCounterConsumption",
    &[
        Field::new("counterSet", Type::Text).numbered(&[1]).required().needed(),
        Field::new("counters", Type::Map(&Type::Record(|| &super::resource_v1::COUNTER))).numbered(&[2]).needed(),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_REQUEST: Record = Record::new(
    "DeviceRequest",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("exactly", Type::Optional(&Type::Record(|| &super::resource_v1::EXACT_DEVICE_REQUEST))).numbered(&[2]),
        Field::new("firstAvailable", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_SUB_REQUEST))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_REQUEST_ALLOCATION_RESULT: Record = Record::new(
    "DeviceRequestAllocationResult",
    &[
        Field::new("request", Type::Text).numbered(&[1]).required().needed(),
        Field::new("driver", Type::Text).numbered(&[2]).required().needed(),
        Field::new("pool", Type::Text).numbered(&[3]).required().needed(),
        Field::new("device", Type::Text).numbered(&[4]).required().needed(),
        Field::new("adminAccess", Type::Optional(&Type::Flag)).numbered(&[5]),
        Field::new("tolerations", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_TOLERATION))).numbered(&[6]),
        Field::new("bindingConditions", Type::List(&Type::Text)).numbered(&[7]),
        Field::new("bindingFailureConditions", Type::List(&Type::Text)).numbered(&[8]),
        Field::new("shareID", Type::Optional(&Type::Text)).numbered(&[9]),
        Field::new("consumedCapacity", Type::Map(&Type::Quantity)).numbered(&[10]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_SELECTOR: Record = Record::new(
    "DeviceSelector",
    &[
        Field::new("cel", Type::Optional(&Type::Record(|| &super::resource_v1::CEL_DEVICE_SELECTOR))).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_SUB_REQUEST: Record = Record::new(
    "DeviceSubRequest",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("deviceClassName", Type::Text).numbered(&[2]).required().needed(),
        Field::new("selectors", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_SELECTOR))).numbered(&[3]),
        Field::new("allocationMode", Type::Named("v1.DeviceAllocationMode", &Type::Text)).numbered(&[4]).one_of(&["All","ExactCount"]),
        Field::new("count", Type::Int64).numbered(&[5]),
        Field::new("tolerations", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_TOLERATION))).numbered(&[6]),
        Field::new("capacity", Type::Optional(&Type::Record(|| &super::resource_v1::CAPACITY_REQUIREMENTS))).numbered(&[7]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_TAINT: Record = Record::new(
    "DeviceTaint",
    &[
        Field::new("key", Type::Text).numbered(&[1]).required().needed(),
        Field::new("value", Type::Text).numbered(&[2]),
        Field::new("effect", Type::Named("v1.DeviceTaintEffect", &Type::Text)).numbered(&[3]).required().needed().one_of(&["NoExecute","NoSchedule","None"]),
        Field::new("timeAdded", Type::Optional(&Type::Time)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static DEVICE_TOLERATION: Record = Record::new(
    "DeviceToleration",
    &[
        Field::new("key", Type::Text).numbered(&[1]),
        Field::new("operator", Type::Named("v1.DeviceTolerationOperator", &Type::Text)).numbered(&[2]).one_of(&["Equal","Exists"]).default("\"Equal\""),
        Field::new("value", Type::Text).numbered(&[3]),
        Field::new("effect", Type::Named("v1.DeviceTaintEffect", &Type::Text)).numbered(&[4]).one_of(&["NoExecute","NoSchedule","None"]),
        Field::new("tolerationSeconds", Type::Optional(&Type::Int64)).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static EXACT_DEVICE_REQUEST: Record = Record::new(
    "ExactDeviceRequest",
    &[
        Field::new("deviceClassName", Type::Text).numbered(&[1]).required().needed(),
        Field::new("selectors", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_SELECTOR))).numbered(&[2]),
        Field::new("allocationMode", Type::Named("v1.DeviceAllocationMode", &Type::Text)).numbered(&[3]).one_of(&["All","ExactCount"]),
        Field::new("count", Type::Int64).numbered(&[4]),
        Field::new("adminAccess", Type::Optional(&Type::Flag)).numbered(&[5]),
        Field::new("tolerations", Type::List(&Type::Record(|| &super::resource_v1::DEVICE_TOLERATION))).numbered(&[6]),
        Field::new("capacity", Type::Optional(&Type::Record(|| &super::resource_v1::CAPACITY_REQUIREMENTS))).numbered(&[7]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static NETWORK_DEVICE_DATA: Record = Record::new(
    "NetworkDeviceData",
    &[
        Field::new("interfaceName", Type::Text).numbered(&[1]),
        Field::new("ips", Type::List(&Type::Text)).numbered(&[2]),
        Field::new("hardwareAddress", Type::Text).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static NODE_ALLOCATABLE_RESOURCE_MAPPING: Record = Record::new(
    "NodeAllocatableResourceMapping",
    &[
        Field::new("capacityKey", Type::Optional(&Type::Named("v1.QualifiedName", &Type::Text))).numbered(&[1]),
        Field::new("allocationMultiplier", Type::Optional(&Type::Quantity)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static OPAQUE_DEVICE_CONFIGURATION: Record = Record::new(
    "OpaqueDeviceConfiguration",
    &[
        Field::new("driver", Type::Text).numbered(&[1]).required().needed(),
        Field::new("parameters", Type::Any).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static RESOURCE_CLAIM: Record = Record::new(
    "ResourceClaim",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::resource_v1::RESOURCE_CLAIM_SPEC)).numbered(&[2]).required().needed(),
        Field::new("status", Type::Record(|| &super::resource_v1::RESOURCE_CLAIM_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static RESOURCE_CLAIM_CONSUMER_REFERENCE: Record = Record::new(
    "ResourceClaimConsumerReference",
    &[
        Field::new("apiGroup", Type::Text).numbered(&[1]),
        Field::new("resource", Type::Text).numbered(&[3]).required().needed(),
        Field::new("name", Type::Text).numbered(&[4]).required().needed(),
        Field::new("uid", Type::Named("types.UID", &Type::Text)).numbered(&[5]).required().needed(),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static RESOURCE_CLAIM_SPEC: Record = Record::new(
    "ResourceClaimSpec",
    &[
        Field::new("devices", Type::Record(|| &super::resource_v1::DEVICE_CLAIM)).numbered(&[1]).required(),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static RESOURCE_CLAIM_STATUS: Record = Record::new(
    "ResourceClaimStatus",
    &[
        Field::new("allocation", Type::Optional(&Type::Record(|| &super::resource_v1::ALLOCATION_RESULT))).numbered(&[1]),
        Field::new("reservedFor", Type::List(&Type::Record(|| &super::resource_v1::RESOURCE_CLAIM_CONSUMER_REFERENCE))).numbered(&[2]).list(ListType::Map(&["uid"])).patched_by("uid"),
        Field::new("devices", Type::List(&Type::Record(|| &super::resource_v1::ALLOCATED_DEVICE_STATUS))).numbered(&[4]).list(ListType::Map(&["driver","device","pool","shareID"])),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static RESOURCE_CLAIM_TEMPLATE: Record = Record::new(
    "ResourceClaimTemplate",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::resource_v1::RESOURCE_CLAIM_TEMPLATE_SPEC)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static RESOURCE_CLAIM_TEMPLATE_SPEC: Record = Record::new(
    "ResourceClaimTemplateSpec",
    &[
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::resource_v1::RESOURCE_CLAIM_SPEC)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static RESOURCE_POOL: Record = Record::new(
    "ResourcePool",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("generation", Type::Int64).numbered(&[2]).required().needed(),
        Field::new("resourceSliceCount", Type::Int64).numbered(&[3]).required().needed(),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static RESOURCE_SLICE: Record = Record::new(
    "ResourceSlice",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::resource_v1::RESOURCE_SLICE_SPEC)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.resource.v1");

pub(crate) static RESOURCE_SLICE_SPEC: Record = Record::new(
    "ResourceSliceSpec",
    &[
        Field::new("driver", Type::Text).numbered(&[1]).required().needed(),
        Field::new("pool", Type::Record(|| &super::resource_v1::RESOURCE_POOL)).numbered(&[2]).required().needed(),
        Field::new("nodeName", Type::Optional(&Type::Text)).numbered(&[3]),
        Field::new("nodeSelector", Type::Optional(&Type::Record(|| &super::core_v1::NODE_SELECTOR))).numbered(&[4]),
        Field::new("allNodes", Type::Optional(&Type::Flag)).numbered(&[5]),
        Field::new("devices", Type::List(&Type::Record(|| &super::resource_v1::DEVICE))).numbered(&[6]),
        Field::new("perDeviceNodeSelection", Type::Optional(&Type::Flag)).numbered(&[7]),
        Field::new("sharedCounters", Type::List(&Type::Record(|| &super::resource_v1::COUNTER_SET))).numbered(&[8]),
    ],
)
.at_home("io.k8s.api.resource.v1");
