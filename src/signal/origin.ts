import type { JsonObject } from './attributes.js';

/**
 * The resource and the instrumentation scope of telemetry. Records of a request with the same origin share this object, so it
 * must not be changed.
 */
export interface Origin {
  /** The resource's attributes. */
  readonly resource: JsonObject;
  /** `name`, `version` and `attributes`, as far as they were sent; null if not sent. */
  readonly scope: JsonObject | null;
  /** The resource's `service.name`; empty if absent. */
  readonly serviceName: string;
}
