import type { JsonObject } from '../../signal/attributes.js';
import type { Origin } from '../../signal/origin.js';
import { toJsonObject } from './any-value.js';
import type { Resource, Scope } from '../wire/requests.js';

/** The origin of all records under one resource and scope of a request. */
export function originOf(resource: Resource | null | undefined, scope: Scope | null | undefined): Origin {
  return originWith(toJsonObject(resource?.attributes), scopeOf(scope));
}

/** @param resource its attributes */
export function originWith(resource: JsonObject, scope: JsonObject | null): Origin {
  const service = resource['service.name'];
  return { resource, scope, serviceName: typeof service === 'string' ? service : '' };
}

function scopeOf(scope: Scope | null | undefined): JsonObject | null {
  const { name, version } = scope ?? {};
  const attributes = toJsonObject(scope?.attributes);
  const hasAttributes = Object.keys(attributes).length > 0;
  if (!name && !version && !hasAttributes) return null;
  const fields: JsonObject = {};
  if (name) fields.name = name.toWellFormed();
  if (version) fields.version = version.toWellFormed();
  if (hasAttributes) fields.attributes = attributes;
  return fields;
}
