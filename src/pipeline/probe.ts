import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import type { Resource } from '../component/factory.js';
import type { TlsOptions } from '../component/host.js';
import type { Config } from '../config/config.js';
import type { Problem } from '../config/config-error.js';
import { parseEndpoint } from '../config/endpoint.js';
import { readTlsFiles } from '../http/tls.js';
import type { Claim } from './resources.js';

/** Tries what a start would need: free ports, files that can be written or read, certificates. Leaves no traces. */
export async function probeClaims(config: Config, claims: readonly Claim[]): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  const probed = new Set<string>();
  for (const { resource, path } of claims) {
    // Components that share a listener name the same port and the same certificate.
    const name = JSON.stringify(resource);
    if (probed.has(name)) continue;
    probed.add(name);
    const message = await probe(resource);
    if (message !== undefined)
      problems.push({ severity: 'error', position: config.locate(path), path, message });
  }
  return problems;
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
  const { host, port } = parseEndpoint(endpoint) ?? { host: '', port: 0 };
  const server = createServer();
  try {
    await new Promise<void>((done, fail) => {
      server.once('error', fail);
      server.listen(host === '' ? { port } : { port, host }, done);
    });
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE')
      return `port ${port} is taken; stop the process that listens on ${endpoint}, or choose another port`;
    if (code === 'EACCES') return `this user may not listen on ${endpoint}; choose a port above 1023`;
    return `cannot listen on ${endpoint} (${code})`;
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

/** Whether a file can be written, or made in the nearest directory that exists. */
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
