import type { JsonObject } from '../../signal/attributes.js';
import { objectOf, textOf, toKeyValues } from './value.js';
import type { Resource, Scope } from '../wire/requests.js';
import { serializeJson } from '../../signal/json.js';

/** Items of one resource, by scope, in the order they were added. */
export interface OriginGroup<Item> {
  readonly resource: Resource;
  readonly scopes: readonly { readonly scope: Scope; readonly items: Item[] }[];
}

interface Bucket<Item> {
  readonly resource: JsonObject;
  readonly scopes: Map<string, { readonly scope: Scope; readonly items: Item[] }>;
}

/** Groups items by resource and scope, as OTLP sends them. */
export class OriginGroups<Item> {
  readonly #buckets = new Map<string, Bucket<Item>>();
  /** JSON by object: most items share the same objects, so each is serialized once. */
  readonly #texts = new Map<JsonObject, string>();

  /** The list of items with this resource and scope. */
  itemsOf(resource: JsonObject, scope: JsonObject | null): Item[] {
    const key = this.#textOf(resource);
    let bucket = this.#buckets.get(key);
    if (!bucket) this.#buckets.set(key, (bucket = { resource, scopes: new Map() }));
    const scopeKey = scope === null ? '' : this.#textOf(scope);
    let group = bucket.scopes.get(scopeKey);
    if (!group) bucket.scopes.set(scopeKey, (group = { scope: scopeOf(scope), items: [] }));
    return group.items;
  }

  get groups(): readonly OriginGroup<Item>[] {
    return [...this.#buckets.values()].map(({ resource, scopes }) => ({
      resource: resourceOf(resource),
      scopes: [...scopes.values()],
    }));
  }

  #textOf(object: JsonObject): string {
    let text = this.#texts.get(object);
    if (text === undefined) this.#texts.set(object, (text = serializeJson(object)));
    return text;
  }
}

export function resourceOf(attributes: JsonObject): Resource {
  return { attributes: toKeyValues(attributes) };
}

export function scopeOf(scope: JsonObject | null): Scope {
  const name = textOf(scope?.['name']);
  const version = textOf(scope?.['version']);
  const attributes = objectOf(scope?.['attributes']);
  return {
    ...(name === undefined ? {} : { name }),
    ...(version === undefined ? {} : { version }),
    ...(attributes === undefined ? {} : { attributes: toKeyValues(attributes) }),
  };
}
