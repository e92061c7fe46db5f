import type { Command } from 'commander';
import { Agent, request } from 'undici';
import { readDaemon, type DaemonJson } from '../api/resources/daemon.js';
import { resolveTarget, unreachable, withApiOptions, type ApiOptions } from './api-client.js';
import { tapSocket } from './configured-daemon.js';
import type { CliIo } from './io.js';

/** Options of commands that watch a daemon. */
export interface WatchOptions extends ApiOptions {
  readonly socket?: string;
}

/** An event of the stream. @param data parsed JSON */
export interface StreamEvent {
  readonly name: string;
  readonly data: unknown;
}

type Edge = DaemonJson['edges'][number];

export function withWatchOptions(command: Command): Command {
  return withApiOptions(command).option(
    '--socket <path>',
    'socket of the extension tap (default: that of --config; without one, the API is used)',
  );
}

/** A daemon that is watched through its API, or through the socket of its extension `tap`. */
export class WatchedDaemon {
  /** For messages. */
  readonly #name: string;
  readonly #origin: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #dispatcher: Agent;

  private constructor(name: string, origin: string, headers: Readonly<Record<string, string>>, agent: Agent) {
    this.#name = name;
    this.#origin = origin;
    this.#headers = headers;
    this.#dispatcher = agent;
  }

  /** @throws UsageError, ConfigError or Error if neither a socket nor an address with a key is known */
  static async open(options: WatchOptions, io: CliIo): Promise<WatchedDaemon> {
    const isElsewhere = options.url !== undefined || (io.env['JACKDAW_URL'] ?? '') !== '';
    const configured = options.config === undefined || isElsewhere ? undefined : tapSocket(options, io);
    const socketPath = options.socket ?? configured;
    // A quiet edge sends comments every 15 s.
    const timeouts = { headersTimeout: 30_000, bodyTimeout: 60_000 };
    if (socketPath !== undefined)
      return new WatchedDaemon(
        socketPath,
        'http://localhost',
        {},
        new Agent({ ...timeouts, connect: { socketPath } }),
      );
    const { url, key } = await resolveTarget(options, io);
    return new WatchedDaemon(url, url, { authorization: `Bearer ${key}` }, new Agent(timeouts));
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  async read(): Promise<DaemonJson> {
    const body = await this.#get(readDaemon.path);
    return (await body.json()) as DaemonJson;
  }

  /** The events of a tap on an edge, until the daemon ends it or `signal` aborts. */
  async *tap({ pipeline, from, to }: Edge, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const query = new URLSearchParams({ topics: 'tap', pipeline, from: endOf(from), to: endOf(to) });
    const body = await this.#get(`/api/v1/dashboard/stream?${query.toString()}`, signal);
    let rest = '';
    try {
      for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) {
        const blocks = (rest + chunk).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) {
          const name = /^event: (.*)$/m.exec(block)?.[1];
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (name !== undefined && data !== undefined) yield { name, data: JSON.parse(data) };
        }
      }
    } catch (error) {
      if (!signal.aborted) throw new Error(`${this.#name} ended the stream`, { cause: error });
    }
  }

  async #get(path: string, signal: AbortSignal | null = null) {
    const { statusCode, body } = await request(this.#origin + path, {
      headers: this.#headers,
      dispatcher: this.#dispatcher,
      signal,
    }).catch((error: unknown) => {
      throw new Error(
        this.#origin === this.#name ? unreachable(this.#name, error) : noSocket(this.#name, error),
      );
    });
    if (statusCode === 200) return body;
    const problem = (await body.json().catch(() => undefined)) as { readonly detail?: string } | undefined;
    throw new Error(
      problem?.detail ?? `${this.#name} answered with status ${statusCode}, unlike a Jackdaw daemon.`,
    );
  }
}

/** `receiver:otlp` */
export function endOf({ kind, id }: Edge['from']): string {
  return `${kind}:${id}`;
}

function noSocket(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no connection';
  return `No daemon answers at the socket ${path} (${code}): start one with the extension tap, as the same user, and run the command in the same folder.`;
}
