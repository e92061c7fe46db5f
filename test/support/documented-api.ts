import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isUuid } from '../../src/signal/ids.js';
import { parseTime } from '../../src/signal/time.js';
import type { Answer } from './api-caller.js';

export interface DocumentedOperation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Record<string, unknown>>> };
}

/** Response headers that not every route has. */
const OWN_HEADERS = ['ETag', 'X-Quota-Limit', 'X-Quota-Remaining', 'X-Quota-Reset'];
const DOCUMENT = 'https://jackdaw.test/openapi.json';

/**
 * Validates responses against an OpenAPI document: status, media type and body must be documented, without extra fields.
 */
export class DocumentedApi {
  readonly document: OpenApiDocument;
  /** `operationId status` of every response so far. */
  readonly seen = new Set<string>();
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: OpenApiDocument) {
    this.document = document;
    this.#ajv.addFormat('uuid', isUuid);
    this.#ajv.addFormat('date-time', (text) => parseTime(text) !== undefined && text.endsWith('Z'));
    this.#ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/);
    const exact = structuredClone(document);
    for (const schema of Object.values(exact.components.schemas))
      if ('properties' in schema) schema['additionalProperties'] ??= false;
    this.#ajv.addSchema(exact, DOCUMENT);
  }

  operations(): readonly {
    readonly method: string;
    readonly path: string;
    readonly operation: DocumentedOperation;
  }[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
    );
  }

  /** @returns the problems of a response; an empty list if it is as documented. */
  faults(operation: DocumentedOperation, answer: Answer): readonly string[] {
    this.seen.add(`${operation.operationId} ${answer.status}`);
    const response = this.#resolve(operation.responses[String(answer.status)]);
    if (!response) return [`status ${answer.status} is not documented`];
    const [pointer, { content, headers = {} }] = response;
    const unknown = OWN_HEADERS.filter((name) => answer.headers.has(name) && !(name in headers));
    if (unknown.length > 0) return unknown.map((name) => `header ${name} is not documented`);
    if ('ETag' in headers && !answer.headers.has('ETag')) return ['the documented header ETag is missing'];
    if (!content) return answer.body === undefined ? [] : ['there is a body, but none is documented'];
    const type = answer.headers.get('content-type') ?? 'none';
    if (!(type in content)) return [`content type ${type} is not documented`];
    const validate = this.#validator(`${pointer}/content/${type.replace('/', '~1')}/schema`);
    if (validate(answer.body)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
    );
  }

  /** @returns the path of a response in the document and the response itself, with references resolved. */
  #resolve(response: object | undefined): [string, { content?: object; headers?: object }] | undefined {
    if (response === undefined) return undefined;
    if (!('$ref' in response)) {
      for (const { method, path, operation } of this.operations())
        for (const [status, other] of Object.entries(operation.responses))
          if (other === response)
            return [
              `#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method.toLowerCase()}/responses/${status}`,
              response,
            ];
      return undefined;
    }
    const pointer = String(response.$ref);
    let target: unknown = this.document;
    for (const step of pointer.split('/').slice(1)) target = (target as Record<string, unknown>)[step];
    return [pointer, target as { content?: object; headers?: object }];
  }

  #validator(pointer: string): ValidateFunction {
    const known = this.#validators.get(pointer);
    if (known) return known;
    const escaped = pointer.split('/').map(encodeURIComponent).join('/').replace('%23', '#');
    const validate = this.#ajv.compile({ $ref: `${DOCUMENT}${escaped}` });
    this.#validators.set(pointer, validate);
    return validate;
  }
}
