import type { Config } from '../config/config.js';
import type { Problem } from '../config/config-error.js';
import { engineProblem, tlsProblem } from '../http/engine-choice.js';
import type { Claim } from './resources.js';

const PATH = ['service', 'http', 'engine'];

/**
 * An HTTP engine that was asked for and is not installed, or not for this platform and version of Node, and settings of
 * TLS that it does not have.
 */
export async function checkEngine(config: Config, claims: readonly Claim[]): Promise<readonly Problem[]> {
  const { engine } = config.service.http;
  const problemAt = (path: readonly string[], message: string | undefined): readonly Problem[] =>
    message === undefined ? [] : [{ severity: 'error', position: config.locate(path), path, message }];
  const served = new Set(
    claims.flatMap(({ resource }) => (resource.kind === 'http_listener' ? [resource.endpoint] : [])),
  );
  return [
    ...problemAt(PATH, await engineProblem(engine)),
    ...claims.flatMap(({ resource, path }) =>
      resource.kind === 'tls_files' && served.has(resource.listener)
        ? problemAt(path, tlsProblem(engine, resource))
        : [],
    ),
  ];
}
