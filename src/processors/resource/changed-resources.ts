import { isDeepStrictEqual } from 'node:util';
import type { Fate, Rules } from '../../expressions/rules/rules.js';
import type { Targets } from '../../expressions/rules/rule.js';
import type { Sender } from '../../expressions/scope/identity-fields.js';
import { resourceScope } from '../../expressions/scope/scopes.js';
import type { View } from '../../expressions/scope/view.js';
import { toAnyValue } from '../../otlp/encode/value.js';
import { deploymentOf } from '../../otlp/map/deployment.js';
import { originWith } from '../../otlp/map/origin.js';
import { readOrigin, readSentOrigin } from '../../otlp/map/span-metadata.js';
import { resourceSpansType } from '../../otlp/wire/messages.js';
import type { JsonObject } from '../../signal/attributes.js';
import type { Origin } from '../../signal/origin.js';
import { NO_CONTEXT, type RunContext } from '../../signal/run-context.js';
import type { SentOrigin } from '../../signal/sent-span.js';

/** The attributes of a resource while rules change them. */
export interface ChangingResource {
  attributes: JsonObject;
}

export const RESOURCE_RULES = {
  scope: 'resource',
  targets: {
    kind: 'keys',
    object: {
      is: 'object',
      get: (resource) => resource.attributes,
      set: (resource, object) => void (resource.attributes = object ?? {}),
    },
  } satisfies Targets<ChangingResource>,
} as const;

/** The result of the rules for a value that records share: the same object if nothing changes. */
interface Changed<Value> {
  readonly fate: Fate;
  readonly before: Value;
  readonly after: Value;
  readonly deployment: ChangedDeployment;
}

/** The dimensions of runs that a resource gave before its change, and those that it gives now. */
export interface ChangedDeployment {
  readonly before: RunContext;
  readonly after: RunContext;
}

/** An origin of spans, with the form in which it is stored and forwarded. */
export interface ChangedSentOrigin extends Changed<Origin> {
  readonly sent: SentOrigin;
}

/** Resources after the rules. Records of a batch share origins, so that each is changed once and the result is shared as well. */
export class ChangedResources {
  readonly #rules: Rules<ChangingResource>;
  readonly #identity: View<Sender>;
  readonly #resources = new Map<JsonObject, Changed<JsonObject>>();
  readonly #origins = new Map<Origin, Changed<Origin>>();
  readonly #sent = new Map<SentOrigin, ChangedSentOrigin>();

  constructor(rules: Rules<ChangingResource>, identity: View<Sender>) {
    this.#rules = rules;
    this.#identity = identity;
  }

  resource(before: JsonObject): Changed<JsonObject> {
    return memoized(this.#resources, before, () => {
      const changing = { attributes: before };
      const fate = this.#rules.apply(changing, () => resourceScope(changing.attributes, this.#identity));
      const after = isDeepStrictEqual(changing.attributes, before) ? before : changing.attributes;
      const deployment = { before: dimensionsOf(before), after: dimensionsOf(after) };
      return { fate, before, after, deployment };
    });
  }

  origin(before: Origin): Changed<Origin> {
    return memoized(this.#origins, before, () => {
      const { after, ...changed } = this.resource(before.resource);
      return {
        ...changed,
        before,
        after: after === before.resource ? before : originWith(after, before.scope),
      };
    });
  }

  sentOrigin(sent: SentOrigin): ChangedSentOrigin {
    return memoized(this.#sent, sent, () => {
      const changed = this.origin(readOrigin(sent));
      return { ...changed, sent: changed.after === changed.before ? sent : encoded(sent, changed) };
    });
  }
}

function dimensionsOf(resource: JsonObject): RunContext {
  return deploymentOf(resource).context ?? NO_CONTEXT;
}

function memoized<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = known.get(key);
  if (value === undefined) known.set(key, (value = make()));
  return value;
}

/** The origin with its new attributes; unchanged ones keep the type with which they were sent. */
function encoded(sent: SentOrigin, { before, after }: Changed<Origin>): SentOrigin {
  const { resource, ...rest } = readSentOrigin(sent.bytes);
  const kept = new Map((resource?.attributes ?? []).map((pair) => [(pair.key ?? '').toWellFormed(), pair]));
  const attributes = Object.entries(after.resource).map(([key, value]) => {
    const pair = isDeepStrictEqual(before.resource[key], value) ? kept.get(key) : undefined;
    return pair ?? { key, value: toAnyValue(value) };
  });
  const message = { ...rest, resource: { ...resource, attributes } };
  return { bytes: resourceSpansType.encode(message).finish(), read: after };
}
