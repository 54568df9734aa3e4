// The rules of oasdiff that are errors, by their ids (oasdiff/oasdiff, checker/rules.go, as it was in November 2026).

const bodyRequest = `all-of-added any-of-removed became-enum become-not-nullable const-added const-changed
  enum-value-removed max-decreased exclusive-max-decreased max-length-set max-length-decreased max-set exclusive-max-set
  min-increased exclusive-min-increased min-items-increased min-items-set min-length-increased min-set exclusive-min-set
  one-of-removed type-changed list-of-types-narrowed prefix-items-removed if-added then-added else-added contains-added
  min-contains-increased max-contains-decreased dependent-required-added dependent-required-changed dependent-schema-added
  pattern-property-added property-names-added unevaluated-items-added unevaluated-properties-added content-schema-added
  content-media-type-changed content-encoding-changed max-items-decreased max-items-set max-properties-decreased
  max-properties-set min-properties-increased unique-items-set multiple-of-set multiple-of-changed`;

const bodyResponse = `all-of-removed any-of-added became-nullable const-removed const-changed max-increased
  exclusive-max-increased max-length-increased max-length-unset min-decreased exclusive-min-decreased min-items-decreased
  min-items-unset min-length-decreased one-of-added type-changed type-generalized list-of-types-widened prefix-items-added
  if-removed then-removed else-removed contains-removed min-contains-decreased max-contains-increased
  dependent-required-removed dependent-required-changed dependent-schema-removed pattern-property-removed
  property-names-removed unevaluated-items-removed unevaluated-properties-removed content-schema-removed
  content-media-type-changed content-encoding-changed max-items-increased max-properties-increased min-properties-decreased
  unique-items-unset multiple-of-unset multiple-of-changed`;

const lifecycle =
  "deprecated-sunset-missing deprecated-invalid sunset-date-too-small stability-decreased";

/** Names by what all of them begin with. */
const named: Readonly<Record<string, string>> = {
  "api-": `security-removed security-scope-added global-security-removed global-security-scope-added stability-decreased
    deprecated-sunset-parse deprecated-sunset-missing invalid-stability-level sunset-date-too-small
    path-removed-without-deprecation path-sunset-parse path-removed-before-sunset removed-without-deprecation
    removed-before-sunset sunset-deleted sunset-date-changed-too-small`,
  "": `added-required-request-body new-required-request-default-parameter-to-existing-path new-required-request-parameter
    new-request-path-parameter new-required-request-header-property new-required-request-property
    new-required-request-property-with-default parameter-removed-before-sunset required-response-header-removed
    webhook-removed`,
  "request-header-property-": "became-enum became-required",
  "request-parameter-": `became-enum became-not-nullable property-became-not-nullable deprecated-sunset-missing
    sunset-date-too-small sunset-deleted sunset-date-changed-too-small enum-value-removed property-enum-value-removed
    max-items-decreased max-length-set max-length-decreased max-set exclusive-max-set max-decreased exclusive-max-decreased
    min-items-set min-items-increased min-length-increased min-set exclusive-min-set min-increased exclusive-min-increased
    pattern-added sunset-parse become-required type-changed property-type-specialized x-extensible-enum-value-removed
    list-of-types-narrowed property-list-of-types-narrowed`,
  "request-body-": `${bodyRequest} media-type-removed media-type-schema-added media-type-item-schema-added removed
    became-required wrapped-in-one-of`,
  "request-property-": `${bodyRequest} ${lifecycle} pattern-added became-required became-required-with-default
    x-extensible-enum-value-removed`,
  "response-header-": "became-optional type-changed type-generalized became-nullable",
  "response-media-type-": "removed name-generalized",
  "response-body-": `${bodyResponse} media-type-schema-removed media-type-item-schema-removed
    media-type-item-schema-removed-untyped wrapped-in-one-of`,
  "response-property-": `${bodyResponse} ${lifecycle} pattern-removed became-optional`,
  "response-": "required-property-removed success-status-removed",
};

export const ruleIds: readonly string[] = Object.entries(named).flatMap(([start, names]) =>
  names.split(/\s+/).map((name) => `${start}${name}`),
);
