import type { ValidateFunction } from 'ajv';
import { Type, type Static, type TObject, type TSchema } from 'typebox';
import type { FieldError, HttpRequest, HttpResponse, Route } from '../component/http.js';
import type { Identity, Scope } from '../component/identity.js';
import type { Operation } from '../component/operation.js';
import { fieldErrors, validationProblem, validator } from './field-errors.js';
import { isJson, readJsonBody, requireJson } from './json-body.js';
import { readParams, readQuery } from './query-values.js';

/** The part of `Host` that identifies the sender of a request. */
export interface Authentication {
  authenticate(request: HttpRequest, needed: Scope | 'any'): Identity;
}

type Value<Schema> = Schema extends TObject ? Static<Schema> : undefined;

/** The arguments of a handler, validated and typed by the operation's schemas. */
interface Input<O extends Operation> {
  /** Null for a public operation. */
  readonly identity: O['access'] extends 'public' ? null : Identity;
  /** The client's address when the request arrived; the client may have disconnected since. */
  readonly address: string;
  readonly params: Value<O['params']>;
  readonly query: Value<O['query']>;
  readonly body: Value<O['body']>;
  readonly request: HttpRequest;
}

type ReplyOf<Status, Body> = Body extends TSchema
  ? | { readonly status: Status; readonly json: Static<Body> }
    /** The same JSON as bytes, in pieces if it is too large. */
    | {
        readonly status: Status;
        readonly encoded: Uint8Array | AsyncIterable<Uint8Array>;
        readonly headers?: Readonly<Record<string, string>>;
      }
  : { readonly status: Status; readonly headers?: Readonly<Record<string, string>> };

/** A response declared by the operation. */
type Reply<O extends Operation> = {
  [Status in keyof O['responses']]: ReplyOf<Status, O['responses'][Status]>;
}[keyof O['responses']];

type Handler<O extends Operation> = (input: Input<O>) => Reply<O> | Promise<Reply<O>>;

/** Creates routes for declared operations. */
export interface RouteBuilder {
  /** Validates the request by the operation's schemas (422, 400, 415) before it calls the handler. */
  route<O extends Operation>(operation: O): { to(handler: Handler<O>): Route };
  /** For handlers that read their body themselves: only the key is checked. The schemas are used for `openapi.json`. */
  raw(
    operation: Operation,
    handler: (request: HttpRequest, identity: Identity) => HttpResponse | Promise<HttpResponse>,
  ): Route;
}

/**
 * Creates routes whose keys are checked by a host. A schema is compiled when the first request needs it.
 *
 * Requests are refused in this order: key, scope, media type, path, query, body; all but the last before the body is read.
 */
export function createRouteBuilder(host: Authentication): RouteBuilder {
  return {
    route: (operation) => {
      const check = compile(operation);
      return {
        to: (handler) =>
          declared(operation, (request) => {
            const identity = operation.access === 'public' ? null : identify(host, operation, request);
            const { remoteAddress: address } = request;
            if (operation.body) requireJson(request);
            const params = check.params(request);
            const query = check.query(request);
            // Validated above; the compiler cannot derive the types from the schemas.
            const run = async (body: unknown) =>
              answer(
                await handler({ identity, address, params, query, body, request } as Input<typeof operation>),
              );
            if (!operation.body && !mayHaveJson(operation, request)) return run(undefined);
            return readJsonBody(request).then((body) => run(check.body(body)));
          }),
      };
    },
    raw: (operation, handler) =>
      declared(operation, (request) => handler(request, identify(host, operation, request))),
  };
}

function declared(operation: Operation, handle: Route['handle']): Route {
  const { method, path, maxBodyBytes, bodyTimeoutMs } = operation;
  return {
    method,
    path,
    operation,
    isPublic: operation.access === 'public',
    ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
    ...(bodyTimeoutMs === undefined ? {} : { bodyTimeoutMs }),
    handle,
  };
}

function identify(host: Authentication, operation: Operation, request: HttpRequest): Identity {
  const { access } = operation;
  if (access === 'public') throw new TypeError(`${operation.id}: a public operation has no identity`);
  return host.authenticate(request, access);
}

/** An unexpected body is refused rather than ignored: a `dry_run` in it would not take effect. */
const NO_BODY = Type.Object({}, { additionalProperties: false });

function mayHaveJson({ method }: Operation, request: HttpRequest): boolean {
  const length = request.header('content-length') ?? request.header('transfer-encoding') ?? '0';
  return method !== 'GET' && length !== '0' && isJson(request);
}

function compile({ params, query, body = NO_BODY }: Operation) {
  const checkParams = params && checker(params, 'path', 'name');
  const checkQuery = query && checker(query, 'query', 'name');
  const checkBody = checker(body, 'body', 'pointer');
  return {
    params: (request: HttpRequest) => params && checkParams?.(readParams(params, request.params), []),
    query: (request: HttpRequest) => {
      const errors: FieldError[] = [];
      return query && checkQuery?.(readQuery(query, request.query, errors), errors);
    },
    body: (value: unknown) => checkBody(value, []),
  };
}

/**
 * Creates a validator.
 *
 * @returns a function that returns its value with defaults filled in, or throws the 422
 */
function checker(schema: TObject, part: string, place: 'pointer' | 'name') {
  // Compiled at the first request: compiling the schemas of all routes takes a tenth of a start, and most are never used.
  let compiled: ValidateFunction | undefined;
  return (value: unknown, earlier: readonly FieldError[]): unknown => {
    const validate = (compiled ??= validator.compile(schema));
    const isValid = validate(value);
    if (isValid && earlier.length === 0) return value;
    const known = new Set(earlier.map(({ field }) => field));
    // A parameter that could not be read was omitted; do not report it as missing, too.
    const later = fieldErrors(isValid ? [] : validate.errors, place).filter(({ field }) => !known.has(field));
    throw validationProblem(part, [...earlier, ...later]);
  };
}

function answer(reply: {
  readonly status: PropertyKey;
  readonly json?: unknown;
  readonly encoded?: Uint8Array | AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}): HttpResponse {
  const status = Number(reply.status);
  if (reply.encoded) return { status, headers: reply.headers ?? {}, body: reply.encoded };
  const { json, headers = {} } = reply;
  return json === undefined ? { status, headers } : { status, headers, body: JSON.stringify(json) };
}
