import { HttpProblem, type HttpRequest, type HttpResponse, type UnknownPath } from '../component/http.js';
import type { Cors } from './cors.js';
import type { Exchange } from './engine.js';
import type { Permit } from './admission-controller.js';
import type { RebindingGuard } from './rebinding-guard.js';
import { isWellFormed } from './request-head.js';
import { trimSlash, type Match } from './router.js';

interface GateOptions {
  readonly cors: () => Cors;
  readonly rebinding: RebindingGuard;
}

/** Checks a request before its route handles it: its host, the rules for pages of other origins, and its key, in this order. */
export class Gate {
  readonly #options: GateOptions;
  readonly #guards: { readonly prefix: string; readonly check: (request: HttpRequest) => void }[] = [];
  readonly #unknown: UnknownPath[] = [];

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** See `Listener.guard`. */
  guard(prefix: string, check: (request: HttpRequest) => void): void {
    this.#guards.push({ prefix: trimSlash(prefix), check });
  }

  /** See `Listener.unknown`. */
  unknown(answer: UnknownPath): void {
    this.#unknown.push(answer);
  }

  /**
   * Passes a request to its route.
   *
   * @returns the response of the route
   * @throws HttpProblem if the request is refused; any error of the route
   */
  pass(
    exchange: Exchange,
    request: HttpRequest,
    permit: Permit,
    match: Match,
  ): HttpResponse | Promise<HttpResponse> {
    this.#options.rebinding.check(exchange);
    const preflight = this.#options.cors().preflight(exchange);
    if (preflight !== undefined) return { status: 204, headers: preflight };
    this.#checkGuards(request, match);
    switch (match.kind) {
      case 'found':
        if (!isWellFormed(exchange.query))
          throw new HttpProblem(
            400,
            'invalid_encoding',
            'The query is not well-formed percent-encoded UTF-8.',
          );
        if (match.route.isPublic === true) permit.belongToNobody(exchange.remoteAddress);
        return match.route.handle(request);
      case 'wrong_method':
        return refuseMethod(exchange.method, match.allow);
      case 'malformed':
        throw new HttpProblem(400, 'invalid_encoding', 'The path is not well-formed percent-encoded UTF-8.');
      case 'unknown':
        return this.#answerUnknown(request);
    }
  }

  #answerUnknown(request: HttpRequest): HttpResponse {
    for (const answer of this.#unknown) {
      const response = answer(request);
      if (response) return response;
    }
    throw new HttpProblem(404, 'not_found', 'There is nothing at this path.');
  }

  #checkGuards(request: HttpRequest, match: Match): void {
    const isPublic =
      match.kind === 'found' ? match.route.isPublic : match.kind === 'wrong_method' && match.isPublic;
    if (isPublic === true) return;
    for (const { prefix, check } of this.#guards) {
      if (isUnder(request.path, prefix)) check(request);
    }
  }
}

function refuseMethod(method: string, allow: readonly string[]): HttpResponse {
  const headers = { allow: allow.join(', ') };
  if (method === 'OPTIONS') return { status: 204, headers };
  throw new HttpProblem(405, 'method_not_allowed', `This path accepts ${headers.allow}.`, { headers });
}

function isUnder(path: string, prefix: string): boolean {
  return (
    path.startsWith(prefix) &&
    (path.length === prefix.length || path[prefix.length] === '/' || prefix === '/')
  );
}
