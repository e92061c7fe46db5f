import { Type, type TObject } from 'typebox';
import type { Listener, Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { entityTag, REVALIDATION } from '../../http/entity-tag.js';
import type { RouteBuilder } from '../../http/operation.js';
import type { JsonObject } from '../../signal/attributes.js';
import { errorResponses, errorStatuses, problemSchema } from './error-responses.js';
import { asParameter, asSent } from './openapi-requests.js';
import { OpenApiSchemas } from './openapi-schemas.js';

const readOpenApi = {
  id: 'readOpenApi',
  method: 'GET',
  path: '/api/v1/openapi.json',
  tag: 'meta',
  summary: 'This document',
  headers: REVALIDATION,
  access: 'public',
  responses: { 200: Type.Unsafe<JsonObject>({ type: 'object', description: 'An OpenAPI 3.1 document.' }) },
} satisfies Operation;

const TAGS: Readonly<Record<string, string>> = {
  traces: 'Runs of agents: sending, reading and rating them.',
  sessions: 'Conversations: runs that name the same session.',
  agents: 'Agents with their statistics and runs.',
  otlp: 'OTLP/HTTP: traces, metrics and logs from OpenTelemetry clients.',
  models: 'Language models: their calls, tokens and cost.',
  prompts: 'Versions of prompt templates and statistics of the traces that used them.',
  alerts: 'Alert rules for agents and services, and their firings.',
  webhooks: 'Webhook endpoints of an organization and their deliveries.',
  logs: 'Log records.',
  stream: 'Live updates.',
  identity: 'The caller.',
  daemon: 'State of the daemon. Needs the scope `admin`.',
  administration: 'Users, API keys, organizations and members. Needs the scope `admin`.',
  meta: 'The API itself.',
};

/** `/api/v1/openapi.json`: the document of all routes of a listener. */
export function openApiRoutes(routes: RouteBuilder, listener: Listener): readonly Route[] {
  let printed: { readonly routes: number; readonly encoded: Uint8Array; readonly tag: string } | undefined;
  return [
    routes.route(readOpenApi).to(() => {
      const current = listener.routes();
      // Routes are only added, and never after the daemon has started, so the count detects a change.
      if (printed?.routes !== current.length) {
        const encoded = Buffer.from(JSON.stringify(serializeOpenApi(current)));
        printed = { routes: current.length, encoded, tag: entityTag(encoded) };
      }
      // Clients may cache the document but must revalidate it each time.
      const headers = { etag: printed.tag, 'cache-control': 'no-cache' };
      return { status: 200, encoded: printed.encoded, headers };
    }),
  ];
}

/** @returns the OpenAPI 3.1 document of the routes that declare an operation. */
function serializeOpenApi(routes: readonly Route[]): JsonObject {
  const schemas = new OpenApiSchemas();
  const operations = routes.flatMap(({ operation }) => (operation ? [operation] : []));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations)
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = serializeOperation(operation, schemas);
  const problem = schemas.print(problemSchema);
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Jackdaw API',
      version: '1',
      description:
        'Times are ISO 8601, ids UUIDs, money US dollars. Errors are `application/problem+json`. Data belongs to the user of the API key; data of other users is 404.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tags.map((name) => ({ name, ...(TAGS[name] ? { description: TAGS[name] } : {}) })),
    paths,
    components: {
      securitySchemes: {
        api_key: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key, `jd_…`. Each operation lists the scope that it needs; `admin` includes all.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'jackdaw_4319',
          description:
            'The login of a browser, set by `POST /api/v1/session`, with the scopes of its key. The name ends with the port of the address, if it has one; over TLS it begins with `__Host-`, or with `__Secure-` under a path. All requests but `GET` need `Sec-Fetch-Site: same-origin` (or `Origin`) and `X-Jackdaw: 1`.',
        },
      },
      responses: serializeErrorResponses(problem),
      schemas: schemas.components,
    },
  };
  // Serialized and parsed to remove TypeBox's hidden symbols.
  return JSON.parse(JSON.stringify(document)) as JsonObject;
}

function serializeOperation(operation: Operation, schemas: OpenApiSchemas): object {
  const { access, params, query, body } = operation;
  const description = describe(operation);
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(description === '' ? {} : { description }),
    security: access === 'public' ? [] : securityOf(access === 'any' ? [] : [access]),
    ...(params || query || operation.headers?.request
      ? {
          parameters: [
            ...parameters('path', params, schemas),
            ...parameters('query', query, schemas),
            ...requestHeaders(operation),
          ],
        }
      : {}),
    ...(body
      ? { requestBody: { required: true, content: contentOf(operation, schemas.print(asSent({ ...body }))) } }
      : {}),
    responses: { ...serializeSuccesses(operation, schemas), ...serializeErrors(operation, schemas) },
  };
}

function describe({ description, audit = [] }: Operation): string {
  const actions = 'none' in audit ? [] : audit.map((action) => `\`${action}\``);
  const audited = actions.length === 0 ? '' : `Audited as ${actions.join(', ')}.`;
  return [description, audited].filter(Boolean).join(' ');
}

/** Either of them is sufficient. @param scopes the required scopes */
function securityOf(scopes: readonly string[]): object[] {
  return [{ api_key: scopes }, { session: scopes }];
}

/** Keywords of a parameter in addition to JSON Schema. */
type ParameterSchema = Readonly<Record<string, unknown>> & {
  /** Another name of the same parameter, which is not shown. */
  readonly aliasOf?: string;
  readonly contentMediaType?: string;
  readonly contentSchema?: object;
};

function parameters(place: 'path' | 'query', schema: TObject | undefined, schemas: OpenApiSchemas): object[] {
  const all = Object.entries((schema?.properties ?? {}) as Readonly<Record<string, ParameterSchema>>);
  const aliased = new Set(all.map(([, { aliasOf }]) => aliasOf));
  return all.flatMap(([name, property]) => {
    // An alias is described by its target parameter; one of the two must be given.
    if (property.aliasOf !== undefined) return [];
    const { contentMediaType, contentSchema, ...plain } = property;
    const { description, ...rest } = schemas.print(place === 'query' ? asParameter(plain) : plain);
    const isRequired =
      aliased.has(name) || (schema?.required as string[] | undefined)?.includes(name) === true;
    return [
      {
        name,
        in: place,
        required: place === 'path' || (isRequired && rest['default'] === undefined),
        ...(description === undefined ? {} : { description }),
        ...(contentMediaType === undefined
          ? { schema: rest }
          : { content: { [contentMediaType]: { schema: contentSchema } } }),
      },
    ];
  });
}

function requestHeaders({ headers }: Operation): object[] {
  return Object.entries(headers?.request ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
}

function serializeSuccesses(operation: Operation, schemas: OpenApiSchemas): object {
  const { method, summary, responses, headers: { response = {} } = {} } = operation;
  const headers = Object.keys(response).length === 0 ? {} : { headers: serializeHeaders(response) };
  const unchanged = { description: 'Not changed since the `ETag` in `If-None-Match`', ...headers };
  const successes: Record<string, object> = Object.fromEntries(
    Object.entries(responses).map(([status, schema]) => [
      status,
      schema
        ? { description: summary, ...headers, content: answerOf(operation, schemas.print(schema)) }
        : { description: `${summary}: done, no body`, ...headers },
    ]),
  );
  return method === 'GET' && 'ETag' in response ? { ...successes, 304: unchanged } : successes;
}

function serializeErrors(operation: Operation, schemas: OpenApiSchemas): object {
  const { protocol } = operation;
  if (!protocol) return errorReferences(operation);
  const content = contentOf(operation, schemas.print(protocol.errorBody));
  return Object.fromEntries(
    Object.entries(protocol.errors).map(([status, description]) => {
      const { headers } = errorResponses[Number(status)] ?? {};
      return [status, { description, ...(headers && { headers: serializeHeaders(headers) }), content }];
    }),
  );
}

function errorReferences(operation: Operation): object {
  return Object.fromEntries(
    errorStatuses(operation).map((status) => {
      const name = errorResponses[status]?.name;
      if (name === undefined)
        throw new Error(`${operation.id}: no error with status ${status} is described in error-responses.ts`);
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

function serializeErrorResponses(problem: object): object {
  return Object.fromEntries(
    Object.values(errorResponses).map(({ name, description, headers }) => [
      name,
      {
        description,
        ...(headers ? { headers: serializeHeaders(headers) } : {}),
        content: { 'application/problem+json': { schema: problem } },
      },
    ]),
  );
}

function serializeHeaders(headers: Readonly<Record<string, string>>): object {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
}

function answerOf(operation: Operation, schema: object): object {
  const { mediaType } = operation;
  return mediaType === undefined ? contentOf(operation, schema) : { [mediaType]: { schema } };
}

/** By media type; all but JSON are binary. */
function contentOf({ protocol }: Operation, schema: object): object {
  const binary = { type: 'string', format: 'binary', description: 'The same message in protobuf.' };
  const others = (protocol?.mediaTypes ?? []).map((type) => [type, { schema: binary }] as const);
  return { 'application/json': { schema }, ...Object.fromEntries(others) };
}
