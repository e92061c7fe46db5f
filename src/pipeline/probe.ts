import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import type { Resource } from '../component/factory.js';
import type { TlsOptions } from '../component/host.js';
import type { Config } from '../config/config.js';
import type { Problem } from '../config/config-error.js';
import { isLockedByOther } from '../config/directory-lock.js';
import { parseEndpoint } from '../config/endpoint.js';
import { readTlsFiles } from '../http/tls.js';
import { exclusivePaths, ownerOf, type Owner } from './owner-files.js';
import { overlap, type Claim } from './resources.js';

/**
 * Checks the preconditions of a start: free ports, files that are accessible and not locked by another process, certificates. It
 * leaves no traces. A daemon that runs the same configuration files may hold the files and ports.
 *
 * @param configFiles absolute paths of the configuration files and folders
 */
export async function probeClaims(
  config: Config,
  claims: readonly Claim[],
  configFiles: readonly string[],
): Promise<readonly Problem[]> {
  const isOwn = (owner: Owner): boolean => JSON.stringify(owner.config) === JSON.stringify(configFiles);
  const locks = new Map<string, Owner | null>();
  for (const path of exclusivePaths(claims))
    if (await isLockedByOther(path)) locks.set(path, ownerOf(path) ?? null);
  const own = [...locks.values()].filter((owner) => owner !== null).find(isOwn);
  const mayBeTaken = (endpoint: string): boolean =>
    own !== undefined && own.endpoints.some((other) => isSamePlace(other, endpoint));

  const problems: Problem[] = [];
  const probed = new Set<string>();
  for (const { resource, path } of claims) {
    // Components that share a listener claim the same port and certificate.
    const name = JSON.stringify(resource);
    if (probed.has(name)) continue;
    probed.add(name);
    const owner = 'path' in resource ? locks.get(resource.path) : undefined;
    let message: string | undefined;
    if ('path' in resource && owner !== undefined) {
      if (owner === null || !isOwn(owner)) message = inUse(resource.path, owner);
    } else if (!('endpoint' in resource && mayBeTaken(resource.endpoint))) message = await probe(resource);
    if (message !== undefined)
      problems.push({ severity: 'error', position: config.locate(path), path, message });
  }
  return problems;
}

/**
 * Finds ports in use before anything, such as a store, is created. (A listener reports other errors when it opens.)
 *
 * @throws Error that lists the ports in use with their configuration keys
 */
export async function assertPortsFree(claims: readonly Claim[]): Promise<void> {
  const keys = new Map<string, string[]>();
  for (const { resource, path } of claims)
    if ('endpoint' in resource)
      keys.set(resource.endpoint, [...(keys.get(resource.endpoint) ?? []), path.join('.')]);
  const taken: string[] = [];
  for (const [endpoint, paths] of keys)
    if ((await listenFailure(endpoint)) === TAKEN) taken.push(`${paths.join(', ')}: ${takenPort(endpoint)}`);
  if (taken.length > 0) throw new Error(taken.join('\n'));
}

function isSamePlace(one: string, other: string): boolean {
  const [a, b] = [parseEndpoint(one), parseEndpoint(other)];
  if (!a || !b || a.port !== b.port) return false;
  return a.host.toLowerCase() === b.host.toLowerCase() || overlap(a, b);
}

function inUse(path: string, owner: Owner | null): string {
  const other = 'stop it, or choose another path';
  if (owner === null) return `${path} is in use by another process; ${other}`;
  const files = owner.config.length === 0 ? 'the built-in configuration' : owner.config.join(', ');
  return `${path} is in use by process ${owner.pid}, which runs ${files}; ${other}`;
}

async function probe(resource: Resource): Promise<string | undefined> {
  switch (resource.kind) {
    case 'http_listener':
    case 'grpc_listener':
      return probePort(resource.endpoint);
    case 'readable_file':
      return probeReadable(resource.path);
    case 'writable_file':
      return probeWritable(resource.path);
    case 'tls_files':
      return probeTls(resource);
  }
}

async function probePort(endpoint: string): Promise<string | undefined> {
  const code = await listenFailure(endpoint);
  if (code === undefined) return undefined;
  if (code === TAKEN) return takenPort(endpoint);
  if (code === 'EACCES') return `this user may not listen on ${endpoint}; choose a port above 1023`;
  return `cannot listen on ${endpoint} (${code})`;
}

function takenPort(endpoint: string): string {
  const port = parseEndpoint(endpoint)?.port;
  return `port ${port} is taken; stop the process that listens on ${endpoint}, or choose another port`;
}

const TAKEN = 'EADDRINUSE';

/** @returns the error code; undefined if the endpoint is free */
async function listenFailure(endpoint: string): Promise<string | undefined> {
  const { host, port } = parseEndpoint(endpoint) ?? { host: '', port: 0 };
  const server = createServer();
  try {
    await new Promise<void>((done, fail) => {
      server.once('error', fail);
      // The same address as the daemon's listeners use.
      const address = host.toLowerCase() === 'localhost' ? '127.0.0.1' : host;
      server.listen(host === '' ? { port } : { port, host: address }, done);
    });
    return undefined;
  } catch (error) {
    return codeOf(error);
  } finally {
    if (server.listening) await new Promise((done) => server.close(done));
  }
}

async function probeTls(files: TlsOptions): Promise<string | undefined> {
  try {
    await readTlsFiles(files);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function probeReadable(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK);
    return (await stat(path)).isFile() ? undefined : `${path} is not a file`;
  } catch (error) {
    return codeOf(error) === 'ENOENT'
      ? `there is no file ${path}`
      : `${path} cannot be read (${codeOf(error)})`;
  }
}

/** Whether a file can be written, or created in the nearest existing directory. */
async function probeWritable(path: string): Promise<string | undefined> {
  for (let place = resolve(path); ; place = dirname(place)) {
    try {
      const isDirectory = (await stat(place)).isDirectory();
      if (place === resolve(path) && isDirectory) return `${path} is a directory; write the path of a file`;
      if (place !== resolve(path) && !isDirectory)
        return `${path} cannot be written: ${place} is not a directory`;
      await access(place, isDirectory ? constants.W_OK | constants.X_OK : constants.W_OK);
      return undefined;
    } catch (error) {
      const code = codeOf(error);
      const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
      if (!isMissing || dirname(place) === place)
        return `${path} cannot be written: ${place} (${code}); choose another path, or give this user permission`;
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
