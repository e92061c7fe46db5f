import type { JsonObject } from './attributes.js';

/**
 * The resource and the instrumentation scope that telemetry came from. Shared by all records of a request that have it, so it
 * must not be changed.
 */
export interface Origin {
  /** The resource's attributes. */
  readonly resource: JsonObject;
  /** `name`, `version` and `attributes`, as far as they were sent; null where nothing was. */
  readonly scope: JsonObject | null;
  /** The resource's `service.name`; empty where there is none. */
  readonly serviceName: string;
}
