import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { runContext, DIMENSIONS, type RunContext, type Dimension } from '../../signal/run-context.js';
import { CONVENTIONS } from './clients/index.js';
import { repositoryIn } from './clients/vcs.js';
import { identity } from './conventions/readers.js';
import type { Provenance } from './provenance.js';
import type { SpanReading } from './span-reading.js';

/** The dimensions of runs that a resource gives. */
export interface Deployment {
  /** Null if it gives none. */
  readonly context: RunContext | null;
  /** The attribute that gives each value. */
  readonly keys: ReadonlyMap<Dimension, string>;
}

/** The attributes of resources for each field, best first. */
const KEYS: readonly (readonly [Dimension, readonly string[]])[] = DIMENSIONS.map((field) => {
  const sources = CONVENTIONS.flatMap(({ resource }) => Object.entries(resource?.[field] ?? {}));
  return [field, sources.toSorted(([, a], [, b]) => a - b).map(([key]) => key)];
});

const SDK_RESOURCES: ReadonlySet<JsonValue | undefined> = new Set(
  CONVENTIONS.flatMap(({ sdkVersions }) => sdkVersions ?? []),
);
const SERVICE_VERSION = 'service.version';

/** @param resource its attributes */
export function deploymentOf(resource: JsonObject): Deployment {
  const isOfSdk =
    SDK_RESOURCES.has(resource['service.name']) || SDK_RESOURCES.has(resource['telemetry.sdk.name']);
  const found: { [Field in Dimension]?: JsonValue } = {};
  const keys = new Map<Dimension, string>();
  for (const [field, candidates] of KEYS) {
    for (const key of candidates) {
      const given = resource[key];
      if (given === undefined || (isOfSdk && key === SERVICE_VERSION)) continue;
      const value = identity(given);
      if (value === undefined) continue;
      found[field] = value;
      keys.set(field, key);
      break;
    }
  }
  const repository = repositoryIn(resource);
  if (repository !== null) {
    found.repository = repository.name;
    keys.set('repository', repository.key);
  }
  return { context: runContext(found), keys };
}

/** Tells which attributes of the resource give values that the span itself lacks. */
export function explainDeployment({ keys }: Deployment, reading: SpanReading, provenance: Provenance): void {
  for (const [field, key] of keys)
    if (!reading.has(field)) provenance.decided(field, `${key} of the resource`);
}
