import { randomUUID } from 'node:crypto';
import type { HttpRequest, InspectBody } from '../component/http.js';
import type { Method } from '../component/operation.js';
import { connectionClosed, type Body } from './body.js';
import type { Identity } from '../component/identity.js';
import type { Exchange } from './engine.js';
import type { Permit } from './admission-controller.js';

const WELL_FORMED_ID = /^[A-Za-z0-9._-]{1,128}$/;
const EMPTY = new Uint8Array();

/** A request in the form for handlers and guards. */
export class IncomingRequest implements HttpRequest {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly draining: AbortSignal;
  readonly #exchange: Exchange;
  readonly #body: Body | undefined;
  readonly #permit: Permit;
  #query: URLSearchParams | undefined;
  #abort: AbortController | undefined;
  #isGone = false;

  constructor(
    exchange: Exchange,
    path: string,
    params: Readonly<Record<string, string>>,
    body: Body | undefined,
    permit: Permit,
    draining: AbortSignal,
  ) {
    const id = exchange.header('x-request-id');
    this.id = id !== undefined && WELL_FORMED_ID.test(id) ? id : randomUUID();
    this.method = methodOf(exchange.method);
    this.path = path;
    this.params = params;
    this.#exchange = exchange;
    this.#body = body;
    this.#permit = permit;
    this.draining = draining;
  }

  get query(): URLSearchParams {
    return (this.#query ??= new URLSearchParams(this.#exchange.query));
  }

  get remoteAddress(): string {
    return this.#exchange.remoteAddress;
  }

  /** Created on first access: most requests do not need it. */
  get abort(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#isGone) this.#abort.abort();
    }
    return this.#abort.signal;
  }

  header(name: string): string | undefined {
    return this.#exchange.header(name);
  }

  identified({ userId }: Identity): void {
    this.#permit.belongTo(userId);
  }

  body(inspect?: InspectBody): Promise<Uint8Array> {
    return this.#body === undefined ? Promise.resolve(EMPTY) : this.#body.read(inspect);
  }

  /** Marks that the client has disconnected. */
  gone(): void {
    this.#isGone = true;
    this.#body?.fail(connectionClosed());
    this.#abort?.abort();
  }
}

/** Handlers see a HEAD as a GET; guards see any request without a route as a GET. */
function methodOf(method: string): Method {
  switch (method) {
    case 'POST':
    case 'PUT':
    case 'PATCH':
    case 'DELETE':
      return method;
    default:
      return 'GET';
  }
}
