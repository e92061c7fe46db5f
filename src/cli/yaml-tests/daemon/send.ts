import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { Agent, request } from 'undici';
import type { JsonObject } from '../../../signal/attributes.js';
import { serializeJson } from '../../../signal/json.js';
import { TestProblem } from '../test-problem.js';
import type { Sent } from './schema.js';
import { bodyOf } from '../recorded-request.js';

const PATIENCE_MS = 30_000;

/**
 * Sends a request.
 *
 * @returns the response; undefined if it has none
 * @throws TestProblem
 */
export type Ask = () => Promise<JsonObject | undefined>;

/**
 * Prepares a request to a daemon.
 *
 * @param addressOf the real address of a configured endpoint, such as `http://127.0.0.1:39211`; undefined if nothing listens
 * @param key for requests without their own
 */
export function askOf(
  { to, method, headers = {}, body }: Sent,
  path: readonly string[],
  addressOf: (host: string) => string | undefined,
  key: string,
): { readonly isRead: boolean; readonly ask: Ask } {
  const url = URL.canParse(to) ? new URL(to) : undefined;
  const scheme = url?.protocol.slice(0, -1) ?? '';
  if (!url || !['http', 'https', 'udp', 'tcp'].includes(scheme))
    throw new TestProblem([...path, 'to'], 'must be a URL: http://127.0.0.1:4319/path, udp://127.0.0.1:5514');
  const host = url.port === '' ? `${url.hostname}:${scheme === 'https' ? 443 : 80}` : url.host;
  const address = addressOf(host);
  if (address === undefined)
    throw new TestProblem([...path, 'to'], `nothing that is configured listens on ${host}`);
  const real = new URL(address);
  const text = body === undefined ? '' : typeof body === 'string' ? body : serializeJson(body);
  if (scheme === 'udp') return { isRead: false, ask: async () => datagram(real, text) };
  if (scheme === 'tcp') return { isRead: false, ask: async () => stream(real, text) };
  const verb = method ?? (body === undefined ? 'GET' : 'POST');
  const sent = {
    method: verb,
    headers: headersOf(headers, body, key),
    ...(body !== undefined && { body: text }),
  };
  const target = new URL(`${url.pathname}${url.search}`, real);
  return { isRead: verb === 'GET' || verb === 'HEAD', ask: async () => answerTo(target, sent) };
}

function headersOf(headers: NonNullable<Sent['headers']>, body: unknown, key: string) {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const isJson = body !== undefined && typeof body !== 'string';
  const all: Record<string, string | null> = {
    authorization: `Bearer ${key}`,
    ...(isJson && { 'content-type': 'application/json' }),
    ...Object.fromEntries(lower),
  };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}

async function answerTo(
  url: URL,
  sent: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
  },
): Promise<JsonObject> {
  // Test certificates are self-signed.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const method = sent.method as 'GET';
    const { statusCode, headers, body } = await request(url, {
      ...sent,
      method,
      dispatcher,
      headersTimeout: PATIENCE_MS,
      bodyTimeout: PATIENCE_MS,
    });
    const shown = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
    const type = headers['content-type'];
    return {
      status: statusCode,
      headers: Object.fromEntries(shown),
      body: bodyOf(await body.bytes(), type === undefined ? undefined : String(type)),
    };
  } finally {
    await dispatcher.destroy();
  }
}

async function datagram({ hostname, port }: URL, text: string): Promise<undefined> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.send(text, Number(port), host, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  } finally {
    socket.close();
  }
}

async function stream({ hostname, port }: URL, text: string): Promise<undefined> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''));
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('the connection did not end in time')));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve();
    });
    socket.resume();
    socket.end(text);
  });
}
