import type { HttpProblem, HttpResponse, Route } from '../component/http.js';
import type { Clock, Logger, OpenSpan, Tracer } from '../component/telemetry.js';
import type { UserLimits } from '../component/user-limits.js';
import { sendAnswer, type AnswerBase } from './answer.js';
import { Body } from './body.js';
import type { Cors } from './cors.js';
import type { Closing, Exchange } from './engine.js';
import type { Gate } from './gate.js';
import type { HttpMetrics } from './http-metrics.js';
import { DEFAULT_BODY_TIMEOUT_MS, DEFAULT_MAX_BODY_BYTES, type HttpLimits } from './limits.js';
import { AdmissionController, type Permit } from './admission-controller.js';
import type { MinRateMonitor } from './min-rate-monitor.js';
import { failureOf, overloaded, problemResponse, shuttingDown } from './problem.js';
import { headProblem } from './request-head.js';
import { IncomingRequest } from './request.js';
import { trimSlash, type Match, type Router } from './router.js';
import { FairQueue } from './fair-queue.js';
import { MS_PER_SECOND } from '../signal/time-units.js';
import { waitFor } from '../telemetry/wait-for.js';

export interface DispatcherSettings {
  readonly router: Router;
  readonly gate: Gate;
  readonly cors: () => Cors;
  /** Whether browsers use HTTPS to reach it. */
  readonly isHttps: () => boolean;
  readonly limits: HttpLimits;
  readonly users: UserLimits;
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  readonly rateMonitor: MinRateMonitor;
  readonly clock: Clock;
  readonly tracer?: Tracer | undefined;
}

/** The state of one request in the dispatcher. */
interface Call {
  readonly exchange: Exchange;
  readonly request: IncomingRequest;
  readonly route: Route | undefined;
  /** How the route, or another one with the same path, formats problems. */
  readonly refuse: Route['refuse'];
  readonly body: Body | undefined;
  readonly permit: Permit;
  /** For the access log only; empty if that is off. After the response no engine can read the address. */
  readonly remoteAddress: string;
  /** From `performance.now()`. */
  readonly startedMs: number;
  /** If it is traced. */
  readonly span: OpenSpan | undefined;
  status: number;
  /** Whether its response ends the connection. */
  isLast: boolean;
  isGone: boolean;
  /** Whether the response is cached for several clients, so that a slow reader costs only the connection. */
  isAnswerShared: boolean;
  /** The handler and the connection; the call is over when neither needs it any more. */
  partsUnderWay: number;
}

/** One year. Without subdomains: they may be other servers. */
const HSTS = ['strict-transport-security', 'max-age=31536000'] as const;
/** All servers of a machine share this name, whatever their ports, and some may not support TLS. */
const LOCALHOST = /^([^:]+\.)?localhost\.?(:|$)/i;

/** From this status on, the server is at fault. */
const FAULTS = 500;

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/** Handles a request from its head to the end of its response. */
export class Dispatcher {
  readonly #settings: DispatcherSettings;
  readonly #admission: AdmissionController;
  readonly #largeBodies = new FairQueue(1);
  readonly #idle: (() => void)[] = [];
  #underWay = 0;
  readonly #draining = new AbortController();

  constructor(settings: DispatcherSettings) {
    this.#settings = settings;
    this.#admission = new AdmissionController(settings.limits, settings.users, (of) => {
      settings.metrics.shareRefused(of);
    });
  }

  get requestsInFlight(): number {
    return this.#underWay;
  }

  get bodyBytesInFlight(): number {
    return this.#admission.bodyBytes;
  }

  /** A route's largest body and its compressed form always fit, whatever the limits are. */
  makeRoomFor(route: Route): void {
    this.#admission.makeRoomFor(route.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES);
  }

  drain(): void {
    this.#draining.abort();
  }

  /**
   * Waits until no request is in progress.
   *
   * @returns the number of remaining requests if the deadline comes first
   */
  async whenIdle(deadline: AbortSignal): Promise<number> {
    while (this.#underWay > 0 && !deadline.aborted) {
      // Pipelined requests start when those before them on their connection are over.
      await waitFor(new Promise<void>((resolve) => this.#idle.push(resolve)), deadline);
    }
    return this.#underWay;
  }

  /** Never throws. */
  readonly accept = (exchange: Exchange): void => {
    const { router, clock, logger, rateMonitor } = this.#settings;
    this.#underWay++;
    const path = trimSlash(exchange.path);
    const match = router.match(exchange.method, path);
    const found = match.kind === 'found' ? match : undefined;
    const { signal } = this.#draining;
    const contentLength = exchange.hasBody ? lengthOf(exchange) : 0;
    const permit = this.#admission.arrive(contentLength ?? 0);
    const body = exchange.hasBody
      ? new Body({
          contentLength,
          contentEncoding: exchange.header('content-encoding'),
          maxBytes: found?.route.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
          timeoutMs: found?.route.bodyTimeoutMs ?? DEFAULT_BODY_TIMEOUT_MS,
          budget: permit.bodies,
          rateMonitor,
          queue: this.#largeBodies,
          clock,
        })
      : undefined;
    const call: Call = {
      exchange,
      request: new IncomingRequest(
        exchange,
        // Guards must see the path of the route, not another spelling of it.
        found?.route.aliases ? trimSlash(found.route.path) : path,
        found?.params ?? NO_PARAMS,
        body,
        permit,
        signal,
      ),
      route: found?.route,
      refuse: found?.route.refuse ?? (match.kind === 'wrong_method' ? match.route?.refuse : undefined),
      body,
      permit,
      remoteAddress: logger.isDebugEnabled() ? exchange.remoteAddress : '',
      startedMs: performance.now(),
      span: this.#settings.tracer && spanOf(this.#settings, exchange, match),
      status: 0,
      isLast: false,
      isGone: false,
      isAnswerShared: false,
      partsUnderWay: 2,
    };
    exchange.onClosed((gone) => {
      call.isGone = gone;
      if (gone) call.request.gone();
      this.#partOver(call);
    });
    if (call.span === undefined) this.#handle(call, match);
    else
      call.span.within(() => {
        this.#handle(call, match);
      });
  };

  #handle(call: Call, match: Match): void {
    const { exchange, body, permit } = call;
    let response: HttpResponse | Promise<HttpResponse>;
    try {
      response = this.#respond(call, match);
      permit.goesOn(() => exchange.remoteAddress);
    } catch (error) {
      response = this.#failed(call, error);
    }
    if (response instanceof Promise) {
      // While the handler runs, the body is collected whether or not the handler reads it.
      if (body !== undefined && body.problem === undefined) {
        exchange.receive((piece, isLast) => {
          body.take(piece, isLast);
        });
        body.startTimeout();
      }
      void this.#answerLater(call, response);
    } else {
      const sending = this.#answer(call, response);
      if (sending === undefined) this.#partOver(call);
      else void this.#finish(call, sending);
    }
  }

  #respond(call: Call, match: Match): HttpResponse | Promise<HttpResponse> {
    const { exchange, request, permit } = call;
    const problem = headProblem(exchange);
    if (problem !== undefined) {
      call.isLast = true;
      throw problem;
    }
    if (this.#draining.signal.aborted) throw shuttingDown();
    if (this.#admission.isFull) throw overloaded();
    return this.#settings.gate.pass(exchange, request, permit, match);
  }

  async #answerLater(call: Call, pending: Promise<HttpResponse>): Promise<void> {
    let response: HttpResponse;
    try {
      response = await pending;
    } catch (error) {
      response = this.#failed(call, error);
    }
    call.body?.discard();
    const sending = this.#answer(call, response);
    if (sending === undefined) this.#partOver(call);
    else await this.#finish(call, sending);
  }

  /**
   * Sends a response.
   *
   * @returns a promise that never rejects if sending takes longer
   */
  #answer(call: Call, response: HttpResponse): Promise<void> | undefined {
    try {
      call.status = response.status;
      call.isAnswerShared = isShared(response);
      return sendAnswer(call.exchange, response, this.#base(call))?.catch((error: unknown) => {
        this.#answerFailure(call, error);
      });
    } catch (error) {
      this.#answerFailure(call, error);
      return undefined;
    }
  }

  async #finish(call: Call, sending: Promise<void>): Promise<void> {
    await sending;
    this.#partOver(call);
  }

  /** Answers with a problem if the response could not be sent. */
  #answerFailure(call: Call, error: unknown): void {
    const { exchange } = call;
    const response = problemAnswer(call, failureOf(error).problem);
    this.#logFault(call, error);
    if (exchange.isClosed) return;
    if (exchange.hasBegun) {
      exchange.abort();
      return;
    }
    call.status = response.status;
    void sendAnswer(exchange, response, this.#base(call));
  }

  #base(call: Call): AnswerBase {
    const { cors, isHttps } = this.#settings;
    const headers = ['x-request-id', call.request.id, ...cors().headersFor(call.exchange)];
    if (isHttps() && !LOCALHOST.test(call.exchange.header('host') ?? '')) headers.push(...HSTS);
    return {
      headers,
      closing: this.#closingOf(call),
    };
  }

  #closingOf({ isLast, body }: Call): Closing {
    // After a body that timed out, the start of the next request is unknown.
    if (isLast || body?.problem?.code === 'request_timeout') return 'now';
    return this.#draining.signal.aborted ? 'at_rest' : 'no';
  }

  #failed(call: Call, error: unknown): HttpResponse {
    const failure = failureOf(error);
    if (failure.isFault) this.#logFault(call, error);
    return problemAnswer(call, failure.problem);
  }

  #logFault(call: Call, error: unknown): void {
    // A disconnected client makes handlers fail in many ways. None of them is a fault.
    if (call.isGone) return;
    const { request, route, exchange } = call;
    this.#settings.logger.error(
      { requestId: request.id, method: exchange.method, route: route?.path, err: error },
      'A request failed because of an internal error; the client received only the request id.',
    );
  }

  #partOver(call: Call): void {
    call.partsUnderWay--;
    if (call.partsUnderWay > 0) {
      if (call.isAnswerShared) call.permit.leave(call.body?.cost ?? 0);
      return;
    }
    const { exchange, request, route, body, status, remoteAddress } = call;
    const { metrics, logger } = this.#settings;
    const durationMs = performance.now() - call.startedMs;
    if (body?.problem !== undefined) metrics.bodyRefused(body.problem.code);
    body?.release();
    call.permit.leave(body?.cost ?? 0);
    metrics.answered(
      exchange.method,
      call.isGone ? undefined : status,
      route?.label ?? route?.path,
      durationMs / MS_PER_SECOND,
    );
    call.span?.end({
      attributes: { 'http.response.status_code': status },
      error: call.isGone ? 'client_disconnected' : status >= FAULTS ? String(status) : undefined,
    });
    if (logger.isDebugEnabled()) {
      const { id: requestId, path } = request;
      logger.debug(
        { requestId, method: exchange.method, path, status, isGone: call.isGone, durationMs, remoteAddress },
        'Request answered.',
      );
    }
    this.#underWay--;
    if (this.#underWay === 0) for (const done of this.#idle.splice(0)) done();
  }
}

/** Public routes are for probes, scrapers and the files of the pages: they are not traced. */
function spanOf(
  { tracer, isHttps }: DispatcherSettings,
  exchange: Exchange,
  match: Match,
): OpenSpan | undefined {
  if (match.kind !== 'found' || match.route.isPublic === true) return undefined;
  const { method } = exchange;
  const { path } = match.route;
  const attributes = {
    'http.request.method': method,
    'http.route': path,
    'url.scheme': isHttps() ? 'https' : 'http',
  };
  return tracer?.begin(
    { name: `${method} ${path}`, kind: 'server', attributes },
    exchange.header('traceparent'),
  );
}

function problemAnswer({ refuse, request }: Call, problem: HttpProblem): HttpResponse {
  return refuse === undefined ? problemResponse(problem) : refuse(problem, request);
}

/** A route that sends an entity tag caches the response together with its compressed forms. */
function isShared({ headers, body }: HttpResponse): boolean {
  return headers?.['etag'] !== undefined && body instanceof Uint8Array;
}

/** Length of the body; undefined if it is chunked. */
function lengthOf(exchange: Exchange): number | undefined {
  if (exchange.header('transfer-encoding') !== undefined) return undefined;
  return Number(exchange.header('content-length'));
}
