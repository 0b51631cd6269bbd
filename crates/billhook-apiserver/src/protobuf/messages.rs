//! The numbers of fields in messages. Their types are those of the records that declare them.

use billhook_apimachinery::record::Record;

/// The fields of each message in the order of their numbers, which begin with 1. A dash stands for a
/// number that is not read, `+` for a message whose fields are members of the object around it.
const MESSAGES: &[(&str, &str)] = &[
    (
        "ObjectMeta",
        "name generateName namespace - uid resourceVersion generation creationTimestamp \
         deletionTimestamp deletionGracePeriodSeconds labels annotations ownerReferences finalizers \
         - - managedFields",
    ),
    ("OwnerReference", "kind - name uid apiVersion controller blockOwnerDeletion"),
    ("ManagedFieldsEntry", "manager operation apiVersion time - fieldsType fieldsV1 subresource"),
    ("LabelSelector", "matchLabels matchExpressions"),
    ("LabelSelectorRequirement", "key operator values"),
    ("DeleteOptions", "gracePeriodSeconds preconditions orphanDependents propagationPolicy dryRun"),
    ("Preconditions", "uid resourceVersion"),
    ("Namespace", "metadata spec status"),
    ("NamespaceSpec", "finalizers"),
    ("NamespaceStatus", "phase conditions"),
    ("NamespaceCondition", "type status - lastTransitionTime reason message"),
    ("ConfigMap", "metadata data binaryData immutable"),
    ("Secret", "metadata data type stringData immutable"),
    ("ServiceAccount", "metadata secrets imagePullSecrets automountServiceAccountToken"),
    ("LocalObjectReference", "name"),
    ("ObjectReference", "kind namespace name uid apiVersion resourceVersion fieldPath"),
    (
        CORE_EVENT,
        "metadata involvedObject reason message source firstTimestamp lastTimestamp count type \
         eventTime series action related reportingComponent reportingInstance",
    ),
    (
        EVENT,
        "metadata eventTime series reportingController reportingInstance action reason regarding \
         related note type deprecatedSource deprecatedFirstTimestamp deprecatedLastTimestamp \
         deprecatedCount",
    ),
    ("EventSource", "component host"),
    ("EventSeries", "count lastObservedTime"),
    ("Lease", "metadata spec"),
    (
        "LeaseSpec",
        "holderIdentity leaseDurationSeconds acquireTime renewTime leaseTransitions strategy \
         preferredHolder",
    ),
    ("MutatingWebhookConfiguration", "metadata webhooks"),
    (
        "MutatingWebhook",
        "name clientConfig rules failurePolicy namespaceSelector sideEffects timeoutSeconds \
         admissionReviewVersions matchPolicy reinvocationPolicy objectSelector matchConditions",
    ),
    ("ValidatingWebhookConfiguration", "metadata webhooks"),
    (
        "ValidatingWebhook",
        "name clientConfig rules failurePolicy namespaceSelector sideEffects timeoutSeconds \
         admissionReviewVersions matchPolicy objectSelector matchConditions",
    ),
    ("WebhookClientConfig", "service caBundle url"),
    ("ServiceReference", "namespace name path port"),
    ("Rule", "apiGroups apiVersions resources scope"),
    ("RuleWithOperations", "operations +Rule"),
    ("NamedRuleWithOperations", "resourceNames +RuleWithOperations"),
    ("MatchCondition", "name expression"),
    (
        "MatchResources",
        "namespaceSelector objectSelector resourceRules excludeResourceRules - - matchPolicy",
    ),
    ("ParamKind", "apiVersion kind"),
    ("Variable", "name expression"),
    ("Validation", "expression message reason messageExpression"),
    ("AuditAnnotation", "key valueExpression"),
    ("ValidatingAdmissionPolicy", "metadata spec"),
    (
        "ValidatingAdmissionPolicySpec",
        "paramKind matchConstraints validations failurePolicy auditAnnotations matchConditions \
         variables",
    ),
    ("MutatingAdmissionPolicy", "metadata spec"),
    (
        "MutatingAdmissionPolicySpec",
        "paramKind matchConstraints variables mutations failurePolicy matchConditions \
         reinvocationPolicy",
    ),
    ("Mutation", "- patchType applyConfiguration jsonPatch"),
    ("ApplyConfiguration", "expression"),
    ("ValidatingAdmissionPolicyBinding", "metadata spec"),
    (
        "ValidatingAdmissionPolicyBindingSpec",
        "policyName paramRef matchResources validationActions",
    ),
    ("MutatingAdmissionPolicyBinding", "metadata spec"),
    ("MutatingAdmissionPolicyBindingSpec", "policyName paramRef matchResources"),
    ("ParamRef", "name namespace selector parameterNotFoundAction"),
    ("SubjectAccessReview", "metadata spec"),
    ("SubjectAccessReviewSpec", "resourceAttributes nonResourceAttributes user groups - uid"),
    ("ResourceAttributes", "namespace verb group version resource subresource name"),
    ("NonResourceAttributes", "path verb"),
    ("SelfSubjectRulesReview", "metadata spec"),
    ("SelfSubjectRulesReviewSpec", "namespace"),
    ("SelfSubjectReview", "metadata"),
];

const CORE_EVENT: &str = "core Event";
const EVENT: &str = "Event";

/// The times with fractions of seconds.
const MICRO_TIMES: [&str; 4] = ["eventTime", "lastObservedTime", "acquireTime", "renewTime"];

/// A message: the names of its fields.
#[derive(Clone, Copy)]
pub(super) struct Message(&'static str);

/// A field of a message.
pub(super) enum Field {
    /// A field of the record.
    Member(&'static str),
    /// A message whose fields are members of the object around it.
    Inline(Message),
}

impl Message {
    /// Returns the message of a record; without fields if none of them is read.
    pub(super) fn of(record: &Record) -> Self {
        // Records of both kinds of events have the same name.
        match record.name {
            EVENT if record.field("involvedObject").is_some() => Self::named(CORE_EVENT),
            name => Self::named(name),
        }
    }

    fn named(name: &str) -> Self {
        let found = MESSAGES.iter().find(|(known, _)| *known == name);
        Message(found.map_or("", |(_, fields)| fields))
    }

    /// Returns the field of a number.
    pub(super) fn field(self, number: u64) -> Option<Field> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        let name = self.0.split(' ').nth(index)?;
        Some(match name.strip_prefix('+') {
            Some(name) => Field::Inline(Self::named(name)),
            None => Field::Member(name),
        })
    }
}

/// Whether a time has fractions of seconds.
pub(super) fn has_fraction(name: &str) -> bool {
    MICRO_TIMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use billhook_apimachinery::KubernetesVersion;
    use billhook_apimachinery::record::{Table, Type};

    use super::*;
    use crate::kinds;

    fn table_of(type_: Type) -> Option<Table> {
        match type_ {
            Type::Record(table) => Some(table),
            Type::Named(_, type_) | Type::Optional(type_) | Type::List(type_) => table_of(*type_),
            _ => None,
        }
    }

    /// Names that a record does not have would be read from no body.
    fn check(message: Message, record: &'static Record) {
        for field in (1..).map_while(|number| message.field(number)) {
            match field {
                Field::Inline(message) => check(message, record),
                Field::Member("-") => {}
                Field::Member(name) => {
                    let field = record.field(name);
                    let field = field.unwrap_or_else(|| panic!("{}: {name}", record.name));
                    if let Some(table) = table_of(field.type_) {
                        assert!(!Message::of(table()).0.is_empty(), "{}", table().name);
                        check(Message::of(table()), table());
                    }
                }
            }
        }
    }

    #[test]
    fn messages_have_the_fields_of_records() {
        for resource in kinds::resources(KubernetesVersion::default()) {
            let record = resource.record.unwrap();
            check(Message::of(record), record);
        }
    }
}
