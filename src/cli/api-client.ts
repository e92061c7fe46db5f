import { readFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import type { Static } from 'typebox';
import { Agent, fetch } from 'undici';
import { problemSchema } from '../api/openapi/error-responses.js';
import { isKey } from '../auth/keys.js';
import { INITIAL_KEY_FILE } from '../auth/bootstrap.js';
import type { FieldError } from '../component/http.js';
import type { Operation } from '../component/operation.js';
import { isLoopback } from '../config/endpoint.js';
import { validator } from '../http/field-errors.js';
import { fillPath, queryOf, type OperationAnswer, type OperationCall } from '../http/operation-call.js';
import { withConfigOption, type ConfigOptions } from './config-files.js';
import { apiAddress, initialKeyFile } from './configured-daemon.js';
import type { CliIo } from './io.js';
import { UsageError } from './usage-error.js';

const DEFAULT_URL = 'http://127.0.0.1:4319';
const TIMEOUT_MS = 30_000;

/** Options of every command that calls a daemon. */
export interface ApiOptions extends ConfigOptions {
  readonly url?: string;
  readonly key?: string;
}

/** The input of an operation. */
export interface Call<O extends Operation> extends OperationCall<O> {
  /** Fields with another name on the command line, for messages: `{ query: '<words>' }`. */
  readonly places?: Readonly<Record<string, string>>;
  /** Whether to wait for the response without the limit of {@link TIMEOUT_MS}. */
  readonly isLong?: boolean;
}

/** A response before it is parsed. */
interface Fetched {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
  /** Id of the request in the daemon's log. */
  readonly requestId: string | null;
}

/** Adds `--url`, `--key` and `--config`. */
export function withApiOptions(command: Command): Command {
  return withConfigOption(command, 'configuration file of the daemon, for its address and its first key')
    .option(
      '--url <url>',
      `address of the daemon (or JACKDAW_URL; default: that of --config, else ${DEFAULT_URL})`,
    )
    .addOption(
      new Option(
        '--key <key>',
        `API key (or JACKDAW_KEY, which other processes cannot see; default: the key in ${INITIAL_KEY_FILE} next to the store)`,
      ),
    );
}

/** The address of a daemon, and the key to use. */
export interface Target {
  /** Without a trailing slash. */
  readonly url: string;
  readonly key: string;
  /** For messages: `--key`, `JACKDAW_KEY` or the path of a file. */
  readonly keySource: string;
  /** For messages: what sets the address. Absent: `--url or JACKDAW_URL`. */
  readonly urlSource?: string;
}

/**
 * Finds the daemon's address and the key: from the options, then the environment, then the named configuration, then the default
 * address; and the key from the initial-key file.
 *
 * @throws UsageError, Error if the address is invalid, or the key is missing or malformed; ConfigError.
 */
export async function resolveTarget(
  options: ApiOptions,
  { env, err }: Pick<CliIo, 'env' | 'err'>,
): Promise<Target> {
  const url = resolveUrl(options, { env });
  const isHere = isThisMachine(url);
  const [key, keySource] = await findKey(options, env, isHere ? undefined : url);
  const malformed = `The API key from ${keySource} is malformed: a key is jd_ and 43 characters of base64url.`;
  if (!isKey(key)) throw options.key === undefined ? new Error(malformed) : new UsageError(malformed);
  if (!isHere && url.startsWith('http:'))
    err(
      `Warning: sending the API key to ${url} without encryption; anyone on the network can read it. Use https.`,
    );
  return { url, key, keySource };
}

/**
 * Finds the daemon's address: from the option, then the environment, then the named configuration, then the default.
 *
 * @returns without a trailing slash
 * @throws UsageError, ConfigError
 */
export function resolveUrl(options: Omit<ApiOptions, 'key'>, { env }: Pick<CliIo, 'env'>): string {
  const configured = () => (options.config === undefined ? undefined : apiAddress(options, { env }));
  return readUrl(options.url ?? (env['JACKDAW_URL'] || (configured() ?? DEFAULT_URL)));
}

/** Whether an address is a loopback address, so that data sent to it does not leave the machine. */
function isThisMachine(url: string): boolean {
  return isLoopback({ host: new URL(url).hostname.replace(/^\[|\]$/g, ''), port: 0 });
}

/** The error text for a daemon that does not respond. @param urlSource what sets its address */
export function unreachable(url: string, error: unknown, urlSource = '--url or JACKDAW_URL'): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `${url} did not answer within ${TIMEOUT_MS / 1000} seconds.`;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  const code = cause && 'code' in cause ? String(cause.code) : (cause?.message ?? 'no connection');
  return `No daemon answers at ${url} (${code}): start it with "jackdaw run", or name its address with ${urlSource}.`;
}

/** Calls a daemon's API by the declarations of its routes. */
export class ApiClient {
  readonly #url: string;
  readonly #key: string;
  readonly #keySource: string;

  private constructor(url: string, key: string, keySource: string) {
    this.#url = url;
    this.#key = key;
    this.#keySource = keySource;
  }

  /**
   * Finds the daemon's address and the key.
   *
   * @throws Error if the address is invalid, or the key is missing or malformed.
   */
  static async open(options: ApiOptions, io: Pick<CliIo, 'env' | 'err'>): Promise<ApiClient> {
    const { url, key, keySource } = await resolveTarget(options, io);
    return new ApiClient(url, key, keySource);
  }

  /**
   * @returns the body of a successful response, which has the declared shape; undefined if it has none.
   * @throws Error with a message for the user: daemon not reachable, key refused, invalid request, unexpected response.
   */
  async call<O extends Operation>(operation: O, call: Call<O> = {}): Promise<OperationAnswer<O>> {
    const { ok, status, text, requestId } = await this.#fetch(operation, call);
    if (!ok) throw this.#refusal(operation, call.places, { ok, status, text, requestId });
    const schema = operation.responses[status];
    const value = schema ? parseJson(text) : undefined;
    if (schema === undefined || (schema !== null && !validator.validate(schema, value)))
      throw new Error(
        `${this.#url} did not answer like a Jackdaw daemon: is something else listening there?`,
      );
    // Validated on the line above against the schema of this type.
    return value as OperationAnswer<O>;
  }

  async #fetch(operation: Operation, call: Call<Operation>): Promise<Fetched> {
    const query = queryOf(call.query ?? {});
    const path = fillPath(operation.path, call.params ?? {});
    const url = `${this.#url}${path}${query.size === 0 ? '' : `?${query.toString()}`}`;
    // The default agent aborts after five minutes.
    const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
    try {
      const response = await fetch(url, {
        method: operation.method,
        headers: {
          authorization: `Bearer ${this.#key}`,
          accept: 'application/json',
          ...(call.body ? { 'content-type': 'application/json' } : {}),
        },
        ...(call.body ? { body: JSON.stringify(call.body) } : {}),
        redirect: 'error',
        signal: call.isLong === true ? null : AbortSignal.timeout(TIMEOUT_MS),
        dispatcher,
      });
      const { ok, status, headers } = response;
      return { ok, status, text: await response.text(), requestId: headers.get('x-request-id') };
    } catch (cause) {
      throw new Error(unreachable(this.#url, cause), { cause });
    } finally {
      await dispatcher.destroy();
    }
  }

  #refusal(
    operation: Operation,
    places: Call<Operation>['places'],
    { status, text, requestId }: Fetched,
  ): Error {
    const problem = parseJson(text);
    if (!validator.validate<Static<typeof problemSchema>>(problemSchema, problem))
      return new Error(`${this.#url} answered with status ${status}, unlike a Jackdaw daemon.`);
    if (status === 401)
      return new Error(
        `The daemon does not accept the API key from ${this.#keySource}. If every admin key is lost, stop the daemon and run "jackdaw keys create --offline".`,
      );
    // The detail would repeat the first error.
    if (problem.errors && problem.errors.length > 0) return usageError(operation, problem.errors, places);
    if (problem.code === 'forbidden_scope')
      return new Error(
        `${problem.detail} Use a key that has it; an administrator makes one with "jackdaw keys create".`,
      );
    const isFault = status >= 500 && requestId !== null;
    return new Error(isFault ? `${problem.detail} (request ${requestId})` : problem.detail);
  }
}

/**
 * Translates a daemon's field errors to the command line. An option has the name of its field (`--expires-at`), an argument that
 * of the path placeholder (`<user>`), unless `places` has another.
 */
function usageError(
  operation: Operation,
  errors: readonly FieldError[],
  places: Call<Operation>['places'] = {},
): UsageError {
  const lines = errors.map(({ field, message }) => `${places[field] ?? place(operation, field)} ${message}`);
  return new UsageError([...new Set(lines)].join('\njackdaw: '));
}

function place(operation: Operation, field: string): string {
  const [name = ''] = field.replace(/^\//, '').split('/');
  if (name === '') return 'the input';
  const isArgument = Object.hasOwn(operation.params?.properties ?? {}, name);
  // `user_id` is the field of both `--user` and `<user>`; `evaluators` and `metadata.KEY` are those of options that are repeated.
  const word = name.replace(/_id$|(?<=^evaluator)s$|\.KEY$/, '').replaceAll('_', '-');
  return isArgument ? `<${word}>` : `--${word}`;
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UsageError(`"${text}" is not the address of a daemon: use one such as ${DEFAULT_URL}`);
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** @param elsewhere the address, if it is on another machine: the key in the file is only for a daemon on this machine */
async function findKey(
  options: ApiOptions,
  env: NodeJS.ProcessEnv,
  elsewhere: string | undefined,
): Promise<[string, string]> {
  if (options.key !== undefined) return [options.key, '--key'];
  const variable = env['JACKDAW_KEY'];
  if (variable !== undefined && variable !== '') return [variable, 'JACKDAW_KEY'];
  if (elsewhere !== undefined)
    throw new Error(
      `No API key for ${elsewhere}: set JACKDAW_KEY or give --key. The key in the initial key file is only sent to loopback addresses.`,
    );
  const file = initialKeyFile(options, { env });
  if (file === null)
    throw new Error(
      'No API key: set JACKDAW_KEY or give --key. The control store of this configuration is not in a file, so there is no initial key next to it.',
    );
  try {
    return [(await readFile(file, 'utf8')).trim(), file];
  } catch (cause) {
    throw new Error(
      `No API key: set JACKDAW_KEY, give --key, or make the daemon's ${file} readable; --config names a configuration other than the built-in one.`,
      { cause },
    );
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
