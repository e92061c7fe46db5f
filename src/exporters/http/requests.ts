import type { ConsumeContext } from '../../component/consumer.js';
import { isHeaderValue } from '../../config/request-headers.js';
import { sizeBytes } from '../../config/size.js';
import {
  compileTemplate,
  compileTextTemplate,
  type JsonTemplate,
  type OnFailure,
  type TextTemplate,
} from '../../expressions/json-template.js';
import {
  identityView,
  itemsScope,
  type Scope,
  eventScope,
  logScope,
  spanScope,
  traceScope,
  traceView,
} from '../../expressions/scope/scopes.js';
import type { JsonValue } from '../../signal/attributes.js';
import type { Batch, Batches } from '../../signal/batch.js';
import { serializeJson } from '../../signal/json.js';
import { hasBody, requestScope, type HttpConfig } from './config.js';
import type { Sender } from '../../expressions/scope/identity-fields.js';
import type { View } from '../../expressions/scope/view.js';
import type { ItemName } from './config.js';

/** A request to send. */
export interface BuiltRequest {
  readonly url: string;
  readonly method: HttpConfig['method'];
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null if the method has no body. */
  readonly body: string | null;
  /** The records in the request. */
  readonly records: readonly object[];
}

/** A record from which no request can be built. */
interface Unfit {
  readonly record: object;
  readonly reason: string;
}

export interface BuiltRequests {
  readonly requests: readonly BuiltRequest[];
  readonly unfit: readonly Unfit[];
}

interface Rendered extends Unit {
  readonly value: JsonValue;
}

const CONTENT_TYPES = {
  json: 'application/json',
  json_array: 'application/json',
  ndjson: 'application/x-ndjson',
};

/** Builds the requests of a batch according to the configuration. */
export class Requests {
  readonly #config: HttpConfig;
  readonly #url: TextTemplate;
  readonly #headers: readonly (readonly [name: string, value: TextTemplate])[];
  readonly #body: JsonTemplate;
  readonly #envelope: JsonTemplate | undefined;
  readonly #maxBytes: number;
  readonly #onFailure: OnFailure;

  /** @param onFailure receives each failed expression */
  constructor(config: HttpConfig, onFailure: OnFailure) {
    const scope = requestScope(config);
    this.#config = config;
    this.#onFailure = onFailure;
    this.#url = compileTextTemplate(config.url ?? '', scope, 'url', encodeURIComponent);
    this.#headers = Object.entries(config.headers).map(([name, value]) => [
      name.toLowerCase(),
      compileTextTemplate(value, scope, `headers.${name}`),
    ]);
    this.#body = compileTemplate(config.body ?? `\${{ ${config.item} }}`, config.item, 'body');
    this.#envelope =
      config.envelope === undefined ? undefined : compileTemplate(config.envelope, 'items', 'envelope');
    this.#maxBytes = sizeBytes(config.max_request_size);
  }

  /** @param isDone whether a record needs no further request */
  build(batch: Batch<unknown>, context: ConsumeContext, isDone: (record: object) => boolean): BuiltRequests {
    const identity = identityView(batch, context);
    const unfit: Unfit[] = [];
    const rendered: Rendered[] = [];
    for (const unit of unitsOf(this.#config.item, batch, identity)) {
      if (isDone(unit.record)) continue;
      const value = this.#render(unit);
      if (value === undefined)
        unfit.push({ record: unit.record, reason: 'an expression of the body cannot be evaluated' });
      else rendered.push({ ...unit, value });
    }
    const scopeOf = (units: readonly Rendered[]) =>
      itemsScope(
        units.map(({ value }) => value),
        identity,
      );
    const requests =
      this.#config.format === 'json'
        ? rendered.flatMap((unit) => this.#fit([unit], () => unit.scope, unfit))
        : this.#fit(rendered, scopeOf, unfit);
    return { requests, unfit };
  }

  /** Splits a request that would be too large. */
  #fit(
    units: readonly Rendered[],
    scopeOf: (units: readonly Rendered[]) => Scope,
    unfit: Unfit[],
  ): readonly BuiltRequest[] {
    if (units.length === 0) return [];
    const scope = scopeOf(units);
    const body = hasBody(this.#config) ? this.#print(units, scope) : null;
    if (body !== null && Buffer.byteLength(body) > this.#maxBytes) {
      const [first] = units;
      if (units.length > 1) {
        const middle = Math.ceil(units.length / 2);
        return [units.slice(0, middle), units.slice(middle)].flatMap((part) =>
          this.#fit(part, scopeOf, unfit),
        );
      }
      if (first) unfit.push({ record: first.record, reason: 'its body is larger than max_request_size' });
      return [];
    }
    const request = this.#request(scope, body, units);
    if (request !== undefined) return [request];
    for (const { record } of units)
      unfit.push({ record, reason: 'an expression of the URL or of a header has no usable value' });
    return [];
  }

  #request(scope: Scope, body: string | null, units: readonly Rendered[]): BuiltRequest | undefined {
    const url = this.#url.render(scope, this.#onFailure);
    if (url === undefined || !keepsItsPath(url)) return undefined;
    const headers: Record<string, string> = {};
    if (body !== null) headers['content-type'] = CONTENT_TYPES[this.#config.format];
    for (const [name, template] of this.#headers) {
      const value = template.render(scope, this.#onFailure);
      if (value === undefined || !isHeaderValue(value)) return undefined;
      headers[name] = value;
    }
    return {
      url,
      method: this.#config.method,
      headers,
      body,
      records: units.map(({ record }) => record),
    };
  }

  #print(units: readonly Rendered[], scope: Scope): string {
    const values = units.map(({ value }) => value);
    switch (this.#config.format) {
      case 'json':
        return serializeJson(values[0] ?? null);
      case 'json_array':
        return serializeJson(this.#envelope?.render(scope, this.#onFailure) ?? values);
      case 'ndjson':
        // Some servers, such as Elasticsearch, expect several lines per item.
        return values
          .flatMap((value) => (Array.isArray(value) ? value : [value]))
          .map((line) => `${serializeJson(line)}\n`)
          .join('');
    }
  }

  /** @returns undefined for a dropped item */
  #render({ scope }: Unit): JsonValue | undefined {
    let failures = 0;
    const value = this.#body.render(scope, (place, error) => {
      failures += 1;
      this.#onFailure(place, error);
    });
    return failures > 0 && this.#config.on_error === 'drop' ? undefined : value;
  }
}

/** Whether a URL keeps its number of path segments: a value such as `..` would lead to a parent folder. */
function keepsItsPath(url: string): boolean {
  const written = /^https?:\/\/[^/?#]*([^?#]*)/.exec(url)?.[1] ?? '';
  return URL.canParse(url) && new URL(url).pathname.split('/').length === (written || '/').split('/').length;
}

/** The content of one body. */
interface Unit {
  readonly record: object;
  /** The scope of its expressions. */
  readonly scope: Scope;
}

/** Splits a batch into the units of a body. @param batch of the signal of `item` */
function unitsOf(item: ItemName, batch: Batch<unknown>, identity: View<Sender>): readonly Unit[] {
  switch (item) {
    case 'event':
      return (batch as Batches['events']).items.map((event) => ({
        record: event,
        scope: eventScope(event, identity),
      }));
    case 'log':
      return (batch as Batches['logs']).items.map((log) => ({ record: log, scope: logScope(log, identity) }));
    case 'trace':
      return (batch as Batches['traces']).items.map((trace) => ({
        record: trace,
        scope: traceScope(traceView(trace), identity),
      }));
    case 'span':
      return (batch as Batches['traces']).items.flatMap((trace) => {
        const view = traceView(trace);
        return trace.spans.map((span) => ({ record: span, scope: spanScope(span, view, identity) }));
      });
  }
}
