import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { Route } from '../../src/component/http.js';
import type { EngineChoice } from '../../src/http/engine-choice.js';
import { createListener, type HttpListener, type HttpListenerOptions } from '../../src/http/listener.js';
import { PrometheusMeter } from '../../src/telemetry/meter.js';
import { HandClock } from './hand-clock.js';
import { RecordingLogger } from './recording-logger.js';

/** Every listener test runs on both. */
export const ENGINES = ['uws', 'node'] as const satisfies readonly EngineChoice[];

export interface TestListener {
  /** Waits until that many requests are pending. */
  readonly underWay: (requests: number) => Promise<void>;
  readonly listener: HttpListener;
  /** `http://127.0.0.1:40123` */
  readonly url: string;
  readonly port: number;
  readonly clock: HandClock;
  readonly logger: RecordingLogger;
  /** The value of a series by its name without prefix and its labels without `listener`; undefined if it does not exist. */
  readonly metric: (name: string, labels?: Readonly<Record<string, string>>) => Promise<number | undefined>;
}

/** A listener on a free port, closed with the test. */
export async function startListener(
  t: { teardown(end: () => Promise<void>): void },
  engine: EngineChoice | undefined,
  routes: readonly Route[],
  options: Partial<HttpListenerOptions> = {},
): Promise<TestListener> {
  const clock = new HandClock();
  const logger = new RecordingLogger();
  const meter = new PrometheusMeter();
  const endpoint = '127.0.0.1:0';
  const listener = createListener(endpoint, { engine, clock, logger, meter, ...options });
  for (const route of routes) listener.route(route);
  const { host, port } = await listener.open();
  t.teardown(async () => {
    await listener.close(AbortSignal.abort());
  });
  const metric: TestListener['metric'] = async (name, labels = {}) => {
    const { text } = await meter.print();
    const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
    const line = text
      .split('\n')
      .find((line) => line.startsWith(`jackdaw_${name}{`) && wanted.every((label) => line.includes(label)));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
  };
  return {
    listener,
    url: `${listener.secure ? 'https' : 'http'}://${host}:${port}`,
    port,
    clock,
    logger,
    metric,
    underWay: async (requests) => {
      while ((await metric('http_requests_in_flight')) !== requests) await pause();
    },
  };
}

/** Pause between two checks of a condition. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2));
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as JSON. */
  readonly json: () => unknown;
}

/** One raw request of `node:http`: nothing is added, decompressed or followed. */
export function send(
  url: string,
  options: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | Uint8Array;
  } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options;
    const request = httpRequest(url, { method, headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(pieces).toString();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: text,
          json: () => JSON.parse(text) as unknown,
        });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}
