import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { Factory } from '../../../component/factory.js';
import { httpExporterWith, openSender } from '../../../exporters/http/factory.js';
import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import { serializeJson } from '../../../signal/json.js';
import type { StillClock } from '../../../telemetry/still-clock.js';
import { bodyOf, NOT_SENT, recordedRequest } from '../recorded-request.js';
import type { TestFile } from '../test-schema.js';
import { decodeProtobuf } from '../../../otlp/decode/protobuf.js';
import { TELEMETRY_SIGNALS, type Batches } from '../../../signal/batch.js';
import { otlpIntake } from '../otlp-intake.js';
import { shownItems } from '../shown-items.js';

const MOST_FIELDS = 1_000_000;

/**
 * Decodes an OTLP request in protobuf, by signal: items as expressions see them, and as a gateway would read them.
 *
 * @param path of the request: `/v1/traces`
 * @throws OtlpDecodeError
 */
async function sentItems(path: string, body: Uint8Array, clock: StillClock): Promise<JsonObject> {
  const signal = TELEMETRY_SIGNALS.find((one) => path.endsWith(`/v1/${one}`));
  if (signal === undefined) return {};
  const items: JsonValue[] = [];
  const output = {
    consume: (batch: Batches[typeof signal]) => {
      items.push(...shownItems(signal, batch));
      return Promise.resolve({ accepted: batch.items.length, refused: [] });
    },
  };
  await otlpIntake(clock, { [signal]: output }).take(
    signal,
    { decode: () => decodeProtobuf(signal, body, MOST_FIELDS) },
    { userId: '', keyId: null },
    { abort: new AbortController().signal },
  );
  return { [signal]: items };
}

type Answers = TestFile['servers'][string];

/** Local servers that a daemon under test sends to instead of remote ones. */
export class Servers {
  /** The address of each server by its name, such as `http://127.0.0.1:39211`. */
  readonly variables: Readonly<Record<string, string>>;
  readonly #servers: readonly Server[];
  readonly #requests: JsonObject[];

  /** Starts a server for each name. */
  static async open(wanted: TestFile['servers'], clock: StillClock): Promise<Servers> {
    const requests: JsonObject[] = [];
    const entries = await Promise.all(
      Object.entries(wanted).map(async ([name, answers]) => {
        const server = await serve(answers, async (request) => {
          requests.push(await shown(name, request, clock));
        });
        return { name, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
      }),
    );
    return new Servers(entries, requests);
  }

  private constructor(
    entries: readonly { readonly name: string; readonly server: Server; readonly url: string }[],
    requests: JsonObject[],
  ) {
    this.variables = Object.fromEntries(entries.map(({ name, url }) => [name, url]));
    this.#servers = entries.map(({ server }) => server);
    this.#requests = requests;
  }

  /** Requests since the last clear, in order of arrival. */
  get requests(): readonly JsonObject[] {
    return this.#requests;
  }

  /** Replaces the exporter `http` by one that sends only to these servers and records its other requests with theirs. */
  instead(builtin: readonly Factory[]): readonly Factory[] {
    const own = new Set(Object.values(this.variables));
    const http = httpExporterWith(async (settings) => {
      const sender = await openSender(settings);
      return {
        send: async (request, ...others) => {
          if (own.has(new URL(request.url).origin)) return sender.send(request, ...others);
          this.#requests.push(recordedRequest(request));
          return NOT_SENT;
        },
        close: () => sender.close(),
      };
    });
    return builtin.map((factory) =>
      factory.kind === http.kind && factory.type === http.type ? http : factory,
    );
  }

  forget(): void {
    this.#requests.splice(0);
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#servers.map(
        async (server) =>
          new Promise<void>((resolve) => {
            server.close(() => {
              resolve();
            });
            server.closeAllConnections();
          }),
      ),
    );
  }
}

async function serve(
  { answers }: Answers,
  note: (request: IncomingMessage) => Promise<void>,
): Promise<Server> {
  let count = 0;
  const server = createServer((request, response) => {
    const at = Math.min(count++, answers.length - 1);
    const { status = 200, headers = {}, body } = answers[at] ?? {};
    const isText = body === undefined || typeof body === 'string';
    const type = isText ? {} : { 'content-type': 'application/json' };
    note(request).then(
      () =>
        response
          .writeHead(status, { ...type, ...headers })
          .end(isText ? body : serializeJson(body as JsonValue)),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      resolve();
    });
  });
  return server;
}

async function shown(server: string, request: IncomingMessage, clock: StillClock): Promise<JsonObject> {
  const { method = '', url = '' } = request;
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const bytes = await buffer(request);
  const body = headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
  const items = headers['content-type'] === 'application/x-protobuf' ? await sentItems(url, body, clock) : {};
  return { server, method, path: url, headers, body: bodyOf(body, headers['content-type']), ...items };
}
