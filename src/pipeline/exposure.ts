import type { Config } from '../config/config.js';
import type { Problem } from '../config/config-error.js';
import { isLoopback, parseEndpoint } from '../config/endpoint.js';
import type { Claim } from './resources.js';

/** Finds listeners that others can reach: an error while authentication is off, a warning without TLS. */
export function checkExposure(config: Config, claims: readonly Claim[]): readonly Problem[] {
  const problems: Problem[] = [];
  const told = new Set<string>();
  const encrypted = new Set(
    claims.flatMap(({ resource }) =>
      resource.kind === 'tls_files' ? [resource.listener.toLowerCase()] : [],
    ),
  );
  for (const { resource, path } of claims) {
    if (resource.kind !== 'http_listener' && resource.kind !== 'grpc_listener') continue;
    // Another component on the same endpoint has a claim of its own, which is judged.
    if (resource.isOperational === true) continue;
    const address = parseEndpoint(resource.endpoint);
    if (address === undefined || isLoopback(address)) continue;
    const report = (severity: Problem['severity'], message: string) =>
      problems.push({ severity, position: config.locate(path), path, message });
    if (!config.auth.enabled)
      report(
        'error',
        'can be reached by others while auth.enabled is false; listen on 127.0.0.1, or turn authentication on',
      );
    const name = resource.endpoint.toLowerCase();
    if (encrypted.has(name) || told.has(name)) continue;
    told.add(name);
    report(
      'warning',
      'can be reached by others without TLS, so keys and data can be read in between; set tls where the component has it, or listen on 127.0.0.1 behind a proxy',
    );
  }
  return problems;
}
