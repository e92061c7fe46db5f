import { originWith } from '../../../otlp/map/origin.js';
import type { JsonObject } from '../../../signal/attributes.js';
import type { Origin } from '../../../signal/origin.js';
import type { SentOrigin } from '../../../signal/sent-span.js';
import type { FieldName } from '../config.js';
import type { Gate } from '../values/gate.js';
import type { Redactor } from '../values/redactor.js';

/** The tools that redact the records of one processor. */
export interface Redaction {
  readonly redactor: Redactor;
  readonly fields: ReadonlySet<FieldName>;
  readonly gate: Gate;
  /** Records share origins, so each is redacted once. */
  readonly origins: WeakMap<Origin, Origin>;
  readonly sentOrigins: WeakMap<SentOrigin, SentOrigin>;
}

/** The origin of a log record or a point, redacted. */
export function redactOrigin(origin: Origin, { redactor, origins }: Redaction): Origin {
  const known = origins.get(origin);
  if (known !== undefined) return known;
  const resource = redactor.object(origin.resource);
  const scope = redactor.object(origin.scope);
  const isUnchanged = resource === origin.resource && scope === origin.scope;
  const redacted = isUnchanged ? origin : originWith(resource, scope);
  origins.set(origin, redacted);
  return redacted;
}

/** A map of texts, such as labels. */
export function redactTexts(
  texts: Readonly<Record<string, string>>,
  redactor: Redactor,
): Readonly<Record<string, string>> {
  return redactor.object<JsonObject>(texts) as Record<string, string>;
}
