import type { Labels, Meter } from '../component/telemetry.js';
import type { NoRoom } from './connections.js';
import type { SpentShare } from './admission-controller.js';

/** Seconds: from fractions of a millisecond to the longest commit. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const UNMATCHED = 'unmatched';

/** Label values for the reasons of refused bodies. */
const BODY_REASONS: Readonly<Record<string, string>> = {
  body_too_large: 'too_large',
  overloaded: 'overloaded',
  request_timeout: 'timeout',
  invalid_encoding: 'invalid_encoding',
  unsupported_media_type: 'unknown_encoding',
};

/** The metrics of a listener. Labels have few values: methods, status classes, route patterns. */
export class HttpMetrics {
  readonly #requests;
  readonly #duration;
  readonly #refusedBodies;
  readonly #refusedConnections;
  readonly #evictedConnections;
  readonly #slowReaders;
  readonly #refusedShares;
  readonly #endpoint: string;
  readonly #meter: Meter;
  // One labels object for each series, so that a request allocates none.
  /** By method, then by status class; 0 if the client disconnected. */
  readonly #ofRequests = new Map<string, Labels[]>();
  readonly #ofRoutes = new Map<string, Labels>();

  constructor(meter: Meter, endpoint: string) {
    this.#meter = meter;
    this.#endpoint = endpoint;
    this.#requests = meter.counter('http_requests_total', {
      description: 'Requests by method and status class; status gone means that the client disconnected.',
      labelNames: ['listener', 'method', 'status'],
    });
    this.#duration = meter.histogram('http_request_duration_seconds', {
      description: 'Time from the request head to the end of the response, by route.',
      labelNames: ['listener', 'route'],
      buckets: BUCKETS,
    });
    this.#refusedBodies = meter.counter('http_refused_bodies_total', {
      description: 'Refused bodies, by reason.',
      labelNames: ['listener', 'reason'],
    });
    this.#refusedConnections = meter.counter('http_refused_connections_total', {
      description: 'New connections closed at the limit because all others had a request in progress.',
      labelNames: ['listener', 'reason'],
    });
    this.#evictedConnections = meter.counter('http_evicted_connections_total', {
      description: 'Idle connections closed to make room for new ones.',
      labelNames: ['listener', 'reason'],
    });
    this.#slowReaders = meter.counter('http_slow_readers_total', {
      description: 'Responses cut off because the client read too slowly.',
      labelNames: ['listener'],
    });
    this.#refusedShares = meter.counter('http_user_share_refusals_total', {
      description:
        'Requests refused because the user, or all callers without a key (public_requests), exceeded their share.',
      labelNames: ['listener', 'of'],
    });
  }

  /** Counts a connection closed at a limit: a new one, or an idle one. */
  noRoom(reason: NoRoom, isNew: boolean): void {
    const counter = isNew ? this.#refusedConnections : this.#evictedConnections;
    counter.add(1, { listener: this.#endpoint, reason });
  }

  /** Counts a response that was cut off because the client read too slowly. */
  slowReader(): void {
    this.#slowReaders.add(1, { listener: this.#endpoint });
  }

  /**
   * Counts a response.
   *
   * @param status of the response; undefined if the client disconnected first
   * @param route the pattern; undefined if no route has the path
   */
  answered(method: string, status: number | undefined, route: string | undefined, seconds: number): void {
    const known = METHODS.has(method) ? method : 'other';
    this.#requests.add(1, this.#requestLabels(known, status));
    this.#duration.record(seconds, this.#routeLabels(route ?? UNMATCHED));
  }

  /** Counts a request of a user, or of an address without a key, that exceeded its share. */
  shareRefused(of: SpentShare): void {
    this.#refusedShares.add(1, { listener: this.#endpoint, of });
  }

  bodyRefused(code: string): void {
    const reason = BODY_REASONS[code];
    if (reason !== undefined) this.#refusedBodies.add(1, { listener: this.#endpoint, reason });
  }

  /**
   * Exports the work in progress while the listener is open.
   *
   * @returns a function that ends it
   */
  observe(inFlight: { bytes: () => number; requests: () => number; connections: () => number }): () => void {
    const labels = { listener: this.#endpoint };
    const labelNames = ['listener'];
    const endings = [
      this.#meter.gauge(
        'http_body_bytes_in_flight',
        { description: 'Bytes of bodies held for requests in progress.', labelNames },
        inFlight.bytes,
        labels,
      ),
      this.#meter.gauge(
        'http_requests_in_flight',
        { description: 'Requests in progress.', labelNames },
        inFlight.requests,
        labels,
      ),
      this.#meter.gauge(
        'http_connections',
        {
          description: 'Open connections. With uWebSockets.js, connections with a request in progress.',
          labelNames,
        },
        inFlight.connections,
        labels,
      ),
    ];
    return () => {
      for (const end of endings) end();
    };
  }

  #requestLabels(method: string, status = 0): Labels {
    const classOfStatus = Math.floor(status / 100);
    const ofMethod = this.#ofRequests.get(method) ?? [];
    const known = ofMethod[classOfStatus];
    if (known !== undefined) return known;
    const outcome = classOfStatus === 0 ? 'gone' : `${classOfStatus}xx`;
    const labels = { listener: this.#endpoint, method, status: outcome };
    ofMethod[classOfStatus] = labels;
    this.#ofRequests.set(method, ofMethod);
    return labels;
  }

  #routeLabels(route: string): Labels {
    const known = this.#ofRoutes.get(route);
    if (known !== undefined) return known;
    const labels = { listener: this.#endpoint, route };
    this.#ofRoutes.set(route, labels);
    return labels;
  }
}
