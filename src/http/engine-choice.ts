import type { Logger } from '../component/telemetry.js';
import { openNodeEngine } from './engine-node.js';
import { openUwsEngine } from './engine-uws.js';
import type { Engine, EngineOptions } from './engine.js';
import { loadUws, type UwsModule } from './uws-module.js';

/** `auto` takes uWebSockets.js where it can be loaded and `node:http` otherwise. */
export type EngineChoice = 'auto' | 'uws' | 'node';

/** @throws Error where the chosen engine cannot be loaded, or as the engine gives it when the port cannot be had. */
export async function openEngine(
  choice: EngineChoice,
  options: EngineOptions,
  logger: Logger,
): Promise<Engine> {
  if (choice === 'node') return openNode(options, logger, 'chosen');
  let uws: UwsModule;
  try {
    uws = await loadUws();
  } catch (error) {
    if (choice === 'uws') {
      throw new Error(
        'the HTTP engine uWebSockets.js cannot be loaded: install it (npm install uNetworking/uWebSockets.js#v20.52.0 or newer), or take the engine node',
        { cause: error },
      );
    }
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    return openNode(options, logger, `uWebSockets.js cannot be loaded: ${reason ?? ''}`);
  }
  const engine = await openUwsEngine(uws, options);
  const reason = choice === 'uws' ? 'chosen' : 'uWebSockets.js can be loaded';
  logger.info({ engine: 'uws', reason }, 'HTTP is served by uWebSockets.js.');
  return engine;
}

async function openNode(options: EngineOptions, logger: Logger, reason: string): Promise<Engine> {
  const engine = await openNodeEngine(options);
  logger.info({ engine: 'node', reason }, 'HTTP is served by node:http.');
  return engine;
}
