import type { TlsOptions } from '../component/host.js';
import type { Logger } from '../component/telemetry.js';
import type { ServiceConfig } from '../config/file-schema.js';
import { openNodeEngine } from './engine-node.js';
import { openUwsEngine } from './engine-uws.js';
import type { Engine, EngineOptions } from './engine.js';
import { loadUws, type UwsModule } from './uws-module.js';

export type EngineChoice = ServiceConfig['http']['engine'];

/** @throws Error if the chosen engine cannot be loaded, or the engine's own error if it cannot open the port */
export async function openEngine(
  choice: EngineChoice,
  options: EngineOptions,
  logger: Logger,
): Promise<Engine> {
  const problem = options.tls && tlsProblem(choice, options.tls.options);
  if (problem !== undefined) throw new Error(problem);
  const engine =
    choice === 'node' ? await openNodeEngine(options) : await openUwsEngine(await loadChosen(), options);
  logger.debug({ engine: choice }, 'HTTP listener is open.');
  return engine;
}

/** @returns why the engine is not available, and what to do; undefined if it is available */
export async function engineProblem(choice: EngineChoice): Promise<string | undefined> {
  if (choice === 'node') return undefined;
  try {
    await loadChosen();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** @returns the setting that the engine does not support, and what to do; undefined if it supports all */
export function tlsProblem(choice: EngineChoice, tls: TlsOptions): string | undefined {
  if (choice === 'node') return undefined;
  const setting =
    tls.clientCaFile !== undefined
      ? 'ask clients for a certificate (tls.client_ca_file)'
      : tls.minVersion === 'TLSv1.3'
        ? 'refuse TLS 1.2 (tls.min_version)'
        : undefined;
  return setting && `uWebSockets.js cannot ${setting}; set service.http.engine to node`;
}

async function loadChosen(): Promise<UwsModule> {
  try {
    return await loadUws();
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    const reason = line.replace(/ imported from .*$/, '');
    throw new Error(
      `uWebSockets.js cannot be loaded (${reason}); install it (npm install uNetworking/uWebSockets.js#v20.52.0 or newer), or set service.http.engine to node`,
      { cause: error },
    );
  }
}
