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
    ("ValidatingAdmissionPolicy", "metadata spec status"),
    (
        "ValidatingAdmissionPolicySpec",
        "paramKind matchConstraints validations failurePolicy auditAnnotations matchConditions \
         variables",
    ),
    ("ValidatingAdmissionPolicyStatus", "observedGeneration typeChecking -"),
    ("TypeChecking", "expressionWarnings"),
    ("ExpressionWarning", "- fieldRef warning"),
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
    ("CustomResourceDefinition", "metadata spec status"),
    (
        "CustomResourceDefinitionSpec",
        "group - names scope - - versions - conversion preserveUnknownFields",
    ),
    ("CustomResourceDefinitionNames", "plural singular shortNames kind listKind categories"),
    (
        "CustomResourceDefinitionVersion",
        "name served storage schema subresources additionalPrinterColumns deprecated \
         deprecationWarning selectableFields",
    ),
    ("CustomResourceValidation", "openAPIV3Schema"),
    ("CustomResourceSubresources", "status scale"),
    ("CustomResourceSubresourceStatus", "-"),
    ("CustomResourceSubresourceScale", "specReplicasPath statusReplicasPath labelSelectorPath"),
    ("CustomResourceColumnDefinition", "name type format description priority jsonPath"),
    ("SelectableField", "jsonPath"),
    ("CustomResourceConversion", "strategy webhook"),
    ("WebhookConversion", "- clientConfig conversionReviewVersions"),
    (
        "CustomResourceDefinitionStatus",
        "conditions acceptedNames storedVersions observedGeneration",
    ),
    (
        "CustomResourceDefinitionCondition",
        "type status lastTransitionTime reason message observedGeneration",
    ),
    (
        "JSONSchemaProps",
        "id $schema $ref description type format title default maximum exclusiveMaximum minimum \
         exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems multipleOf enum \
         maxProperties minProperties required items allOf oneOf anyOf not properties \
         additionalProperties patternProperties dependencies additionalItems definitions \
         externalDocs example nullable x-kubernetes-preserve-unknown-fields \
         x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-map-keys \
         x-kubernetes-list-type x-kubernetes-map-type x-kubernetes-validations",
    ),
    ("ExternalDocumentation", "description url"),
    ("ValidationRule", "rule message messageExpression reason fieldPath optionalOldSelf"),
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

    /// Returns the fields with their numbers, the last one first.
    pub(super) fn fields_backwards(self) -> impl Iterator<Item = (u64, Field)> {
        let count = self.0.split(' ').count() as u64;
        (1..=count).rev().filter_map(move |number| Some((number, self.field(number)?)))
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
    use std::collections::BTreeSet;

    use billhook_apimachinery::KubernetesVersion;
    use billhook_apimachinery::record::{Table, Type};

    use super::*;
    use crate::{definitions, kinds};

    fn table_of(type_: Type) -> Option<Table> {
        use Type::{RecordOrFlag, RecordOrList, RecordOrTexts};
        match type_ {
            Type::Record(table) | RecordOrFlag(table) | RecordOrList(table) => Some(table),
            RecordOrTexts(table) => Some(table),
            Type::Named(_, type_) | Type::Optional(type_) => table_of(*type_),
            Type::List(type_) | Type::Map(type_) => table_of(*type_),
            _ => None,
        }
    }

    fn members(message: Message) -> Vec<&'static str> {
        let members = (1..).map_while(|number| message.field(number)).map(|field| match field {
            Field::Inline(message) => members(message),
            Field::Member("-") => Vec::new(),
            Field::Member(name) => vec![name],
        });
        members.flatten().collect()
    }

    /// A name that a record does not have would be read from no body, one that a message does not
    /// have would be left out of answers.
    fn check(record: &'static Record, known: &mut BTreeSet<&'static str>) {
        if !known.insert(record.name) {
            return;
        }
        let message = Message::of(record);
        assert!(!message.0.is_empty(), "{}", record.name);
        let members = members(message);
        for name in &members {
            assert!(record.field(name).is_some(), "{}: {name}", record.name);
        }
        for field in record.fields {
            let is_told_elsewhere = matches!(field.name, "kind" | "apiVersion")
                && record.field("metadata").is_some()
                || (record.name, field.name) == ("ObjectMeta", "selfLink")
                // No server sets them, and their fields are not described.
                || (record.name, field.name) == ("ValidatingAdmissionPolicyStatus", "conditions");
            assert!(
                is_told_elsewhere || members.contains(&field.name),
                "{}: {}",
                record.name,
                field.name
            );
            if let Some(table) = table_of(field.type_) {
                check(table(), known);
            }
        }
    }

    #[test]
    fn messages_have_the_fields_of_records() {
        let version = KubernetesVersion::default();
        let definitions = definitions::resource(version).unwrap();
        for resource in kinds::resources(version).chain([definitions]) {
            check(resource.record.unwrap(), &mut BTreeSet::new());
        }
    }
}
