import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type * as sdk from '@aws-sdk/client-s3';
import { Type, type Static, type TObject } from 'typebox';
import { secret } from '../../config/schema.js';
import { formatTime } from '../../signal/time.js';
import { BackupDirectory } from './backup-directory.js';
import { Backups, OBJECTS, UnusableBackup, type BackupPlace } from './backups.js';

const SCHEME = 's3://';
const URL_PATTERN =
  /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9!_.*'()-]+)*)\/?$/;

/** Requests are repeated this often, and bodies that break off. */
const ATTEMPTS = 6;
const BODY_ATTEMPTS = 4;
const CONNECT_MS = 10_000;
const SILENCE_MS = 60_000;
/** Name of the object that locks the prefix. */
const LOCK = 'lock';
/** A lock that was not renewed for this long is ignored, if its process was killed. */
const LEASE_MS = 300_000;
const RENEW_MS = 30_000;
const UNLOCK_MS = 5000;
/** Identifies this process in locks. */
const PROCESS = randomUUID();

/** Keys of configuration sections about S3. Without them the standard AWS variables, files and roles count. */
export const s3Keys = {
  endpoint: Type.Optional(
    Type.String({
      pattern: '^https?://[^/?#@\\s]+/?$',
      description: 'URL of an S3-compatible server. Default: AWS_ENDPOINT_URL_S3, else AWS.',
    }),
  ),
  region: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Region of the bucket. Default: AWS_REGION; us-east-1 with an endpoint.',
    }),
  ),
  path_style: Type.Optional(
    Type.Boolean({
      description: 'Whether URLs have the bucket in their path, not in the host. Default: with an endpoint.',
    }),
  ),
  access_key_id: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Id of the access key. Default: AWS_ACCESS_KEY_ID or other sources of the AWS SDK.',
    }),
  ),
  secret_access_key: Type.Optional(
    secret({ minLength: 1, description: 'Secret of access_key_id, such as ${file:/run/secrets/s3}.' }),
  ),
};

export type S3Settings = Static<TObject<typeof s3Keys>>;

/** For `check` of components with {@link s3Keys}. */
export function checkS3({ access_key_id, secret_access_key }: S3Settings, path: string) {
  if ((access_key_id === undefined) === (secret_access_key === undefined)) return [];
  return [{ path, message: 'needs both access_key_id and secret_access_key, or neither' }];
}

export function isS3Url(text: string): boolean {
  return text.startsWith(SCHEME);
}

/** The backups in a directory or, for `s3://…`, in a bucket. @throws UnusableBackup if it is no URL of a bucket */
export function backupsAt(target: string, s3: S3Settings): Backups {
  return new Backups(isS3Url(target) ? new BackupBucket(target, s3) : new BackupDirectory(resolve(target)));
}

/** A prefix in an S3 bucket. */
export class BackupBucket implements BackupPlace {
  readonly name: string;
  /** Files go from memory to S3. */
  readonly scratch = null;
  readonly #bucket: string;
  /** Empty, or ends with `/`. */
  readonly #prefix: string;
  readonly #settings: S3Settings;
  #opened: Promise<sdk.S3> | undefined;
  #abort: AbortSignal | undefined;
  /** Sizes of the stored parts since the lock was taken. */
  #sizes: Promise<Map<string, number>> | undefined;
  /** Why it is not locked any more. */
  #lost: Error | null = null;

  /** @throws UnusableBackup if it is no URL of a bucket */
  constructor(url: string, settings: S3Settings) {
    const [, bucket, path] = URL_PATTERN.exec(url) ?? [];
    if (bucket === undefined || path === undefined)
      throw new UnusableBackup(`${url} is not the URL of a bucket: use s3://BUCKET or s3://BUCKET/PREFIX.`);
    this.name = `${SCHEME}${bucket}${path}`;
    this.#bucket = bucket;
    this.#prefix = path === '' ? '' : `${path.slice(1)}/`;
    this.#settings = settings;
  }

  where(name: string): string {
    return `${this.name}/${name}`;
  }

  async lock(store: string, abort: AbortSignal): Promise<{ release(): Promise<void> }> {
    this.#abort = abort;
    this.#lost = null;
    this.#sizes = undefined;
    let tag = await this.#takeLock(store);
    let renewedAt = performance.now();
    let renewing = Promise.resolve();
    const renew = async (): Promise<void> => {
      try {
        tag = await this.#putLock(store, { IfMatch: tag });
        renewedAt = performance.now();
      } catch (error) {
        const isExpiring = performance.now() - renewedAt > LEASE_MS - RENEW_MS;
        const isLost = error instanceof LockTaken || (isExpiring && !abort.aborted);
        if (isLost && error instanceof Error) this.#lost ??= error;
      }
    };
    const timer = setInterval(() => {
      renewing = renewing.then(renew);
    }, RENEW_MS).unref();
    return {
      release: async () => {
        clearInterval(timer);
        await renewing;
        this.#sizes = undefined;
        this.#abort = AbortSignal.timeout(UNLOCK_MS);
        // A lock that stays, for example without a connection, expires.
        if (this.#lost === null) await this.remove(LOCK).catch(() => undefined);
        this.#abort = undefined;
        (await this.#client()).destroy();
        this.#opened = undefined;
      },
    };
  }

  async *list(folder: string): AsyncIterable<string> {
    for await (const { name } of this.#list(folder)) yield name;
  }

  async bytesOf(name: string): Promise<number | null> {
    this.#sizes ??= this.#listSizes();
    return (await this.#sizes).get(name) ?? null;
  }

  async read(name: string): Promise<Uint8Array | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { Body } = await this.#send((client, options) => client.getObject(this.#at(name), options));
        return (await Body?.transformToByteArray()) ?? null;
      } catch (error) {
        if (isMissing(error)) return null;
        // The SDK repeats requests, but not the reading of a body.
        if (error instanceof UnusableBackup || attempt === BODY_ATTEMPTS) throw this.#explained(error);
        await wait(250 * 2 ** attempt, undefined, { signal: this.#abort });
      }
    }
  }

  async write(name: string, content: Uint8Array, hash: string): Promise<void> {
    if (this.#lost !== null) throw this.#lost;
    const { PutObjectCommand } = await import('@aws-sdk/client-s3');
    const command = new PutObjectCommand({ ...this.#at(name), Body: content });
    // The server verifies this hash. The SDK would compute it on this thread.
    command.middlewareStack.add(
      (next) => async (args) => {
        const { headers } = args.request as { readonly headers: Record<string, string> };
        headers['x-amz-content-sha256'] = hash;
        return await next(args);
      },
      { step: 'build' },
    );
    await this.#send((client, options) => client.send(command, options));
    (await this.#sizes)?.set(name, content.length);
  }

  async flush(): Promise<void> {
    if (this.#lost !== null) throw this.#lost;
  }

  async remove(name: string): Promise<void> {
    if (this.#lost !== null) throw this.#lost;
    // One at a time, because not all servers implement DeleteObjects with the checksums of the SDK.
    await this.#send((client, options) => client.deleteObject(this.#at(name), options));
  }

  async #listSizes(): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for await (const { name, bytes } of this.#list(OBJECTS)) sizes.set(name, bytes);
    return sizes;
  }

  async *#list(folder: string): AsyncIterable<{ readonly name: string; readonly bytes: number }> {
    const Prefix = `${this.#prefix}${folder}/`;
    for (let token: string | undefined; ;) {
      const query = {
        Bucket: this.#bucket,
        Prefix,
        ...(token !== undefined && { ContinuationToken: token }),
      };
      const page = await this.#send((client, options) => client.listObjectsV2(query, options));
      for (const { Key = '', Size = 0 } of page.Contents ?? [])
        yield { name: Key.slice(this.#prefix.length), bytes: Size };
      token = page.NextContinuationToken;
      if (page.IsTruncated !== true || token === undefined) return;
    }
  }

  /**
   * One process at a time opens a store, so a lock of the same store and host by another process was left by a killed
   * process. The same store on another host may be a restored copy.
   */
  async #takeLock(store: string): Promise<string> {
    const found = await this.#readLock();
    if (found === null) return await this.#putLock(store, { IfNoneMatch: '*' });
    const { lock, tag } = found;
    const expiresAt = lock.renewedAt + LEASE_MS;
    const isLeft = lock.store === store && lock.host === hostname() && lock.process !== PROCESS;
    if (!isLeft && expiresAt > Date.now()) throw new LockTaken(this.name, expiresAt);
    return await this.#putLock(store, { IfMatch: tag });
  }

  async #readLock(): Promise<{ readonly lock: Lock; readonly tag: string } | null> {
    try {
      const { Body, ETag = '' } = await this.#send((client, options) =>
        client.getObject(this.#at(LOCK), options),
      );
      return { lock: lockOf((await Body?.transformToString()) ?? ''), tag: ETag };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** @returns the tag of the object @throws LockTaken */
  async #putLock(store: string, condition: { IfNoneMatch: string } | { IfMatch: string }): Promise<string> {
    const lock: Lock = {
      id: randomUUID(),
      store,
      host: hostname(),
      process: PROCESS,
      renewedAt: Date.now(),
    };
    const put = { ...this.#at(LOCK), Body: JSON.stringify(lock) };
    try {
      await this.#send((client, options) => client.putObject({ ...put, ...condition }, options));
    } catch (error) {
      if (statusOf(error) === 501) await this.#send((client, options) => client.putObject(put, options));
      else if (!isRefusedCondition(error)) throw error;
    }
    // Some servers ignore conditions, and a repeated request is refused if the first one succeeded.
    const found = await this.#readLock();
    if (found?.lock.id === lock.id) return found.tag;
    throw new LockTaken(this.name, (found?.lock.renewedAt ?? lock.renewedAt) + LEASE_MS);
  }

  #at(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: `${this.#prefix}${name}` };
  }

  async #send<T>(
    request: (client: sdk.S3, options: { abortSignal?: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    const abort = this.#abort;
    try {
      return await request(await this.#client(), abort === undefined ? {} : { abortSignal: abort });
    } catch (error) {
      abort?.throwIfAborted();
      throw this.#explained(error);
    }
  }

  async #client(): Promise<sdk.S3> {
    this.#opened ??= this.#open();
    return await this.#opened;
  }

  /** Loads the SDK, which only users of S3 need. */
  async #open(): Promise<sdk.S3> {
    const { S3 } = await import('@aws-sdk/client-s3');
    const { region, path_style, access_key_id, secret_access_key } = this.#settings;
    const endpoint = this.#endpoint;
    const { env } = process;
    // The SDK's version is fixed, so its warning about later versions concerns no user.
    env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
    const isPathStyle = env['JACKDAW_S3_PATH_STYLE'] || String(endpoint !== undefined);
    return new S3({
      ...(endpoint !== undefined && { endpoint, region: env['AWS_REGION'] || 'us-east-1' }),
      ...(region !== undefined && { region }),
      ...(access_key_id !== undefined &&
        secret_access_key !== undefined && {
          credentials: { accessKeyId: access_key_id, secretAccessKey: secret_access_key },
        }),
      forcePathStyle: path_style ?? isPathStyle === 'true',
      followRegionRedirects: true,
      maxAttempts: ATTEMPTS,
      // Other servers reject the SDK's own checksums. Signatures contain a SHA-256, and parts are named by theirs.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: SILENCE_MS },
    });
  }

  get #endpoint(): string | undefined {
    const { env } = process;
    return this.#settings.endpoint ?? (env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'] || undefined);
  }

  /** Missing objects and refused conditions stay what they are. */
  #explained(error: unknown): unknown {
    if (!(error instanceof Error) || error instanceof UnusableBackup) return error;
    const { name, message } = error;
    const status = statusOf(error);
    if (isMissing(error) || isRefusedCondition(error) || status === 501) return error;
    const server = this.#endpoint ?? 'S3';
    const text = (reason: string): UnusableBackup => new UnusableBackup(reason, { cause: error });
    if (name === 'NoSuchBucket')
      return text(
        `The bucket ${this.#bucket} does not exist on ${server}: create it, or check its name and the endpoint.`,
      );
    if (name === 'CredentialsProviderError')
      return text(
        'There are no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or access_key_id and secret_access_key in the configuration.',
      );
    if (message.includes('Region is missing'))
      return text('The region of the bucket is not known: set AWS_REGION, or region in the configuration.');
    if (REFUSED_KEYS.includes(name))
      return text(`${server} refused the credentials (${name}): check the access key and its secret.`);
    if (status === 403)
      return text(
        `Access to ${this.name} was denied (${name}): the credentials need s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject.`,
      );
    if (status === 301 || name === 'AuthorizationHeaderMalformed')
      return text(`The bucket ${this.#bucket} is in another region (${message}): set AWS_REGION to it.`);
    if (status !== undefined)
      return text(
        `${server} answered ${status} ${name} (${message}): check that the endpoint is an S3 server, and try again later.`,
      );
    const reason = (message || ((error as NodeJS.ErrnoException).code ?? name)).trim();
    return text(`${server} cannot be reached (${reason}): check the endpoint and the network.`);
  }
}

const REFUSED_KEYS: readonly string[] = [
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'InvalidToken',
  'InvalidClientTokenId',
];

class LockTaken extends UnusableBackup {
  constructor(place: string, expiresAt: number) {
    super(
      `Another Jackdaw is backing up to ${place}: use another prefix for each daemon, or try again later. If it was killed, its lock expires at ${formatTime(expiresAt * 1000)}.`,
    );
  }
}

interface Lock {
  readonly id: string;
  readonly store: string;
  readonly host: string;
  readonly process: string;
  readonly renewedAt: number;
}

function lockOf(text: string): Lock {
  try {
    const { id, store, host, process: by, renewedAt } = Object(JSON.parse(text)) as Partial<Lock>;
    return {
      id: String(id),
      store: String(store),
      host: String(host),
      process: String(by),
      renewedAt: Number(renewedAt) || 0,
    };
  } catch {
    return { id: '', store: '', host: '', process: '', renewedAt: 0 };
  }
}

function statusOf(error: unknown): number | undefined {
  const { $metadata } = Object(error) as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && error.name === 'NoSuchKey';
}

/** Whether a condition of a request did not hold, or another request for the object came first. */
function isRefusedCondition(error: unknown): boolean {
  return [409, 412].includes(statusOf(error) ?? 0);
}
