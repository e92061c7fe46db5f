import type { Logger } from '../component/telemetry.js';
import type { ServiceConfig } from '../config/file-schema.js';
import { openNodeEngine } from './engine-node.js';
import { openUwsEngine } from './engine-uws.js';
import type { Engine, EngineOptions } from './engine.js';
import { loadUws, type UwsModule } from './uws-module.js';

export type EngineChoice = ServiceConfig['http']['engine'];

/** @throws Error where the chosen engine cannot be loaded, or as the engine gives it when the port cannot be had. */
export async function openEngine(
  choice: EngineChoice,
  options: EngineOptions,
  logger: Logger,
): Promise<Engine> {
  const engine =
    choice === 'node' ? await openNodeEngine(options) : await openUwsEngine(await loadChosen(), options);
  logger.debug({ engine: choice }, 'HTTP listener is open.');
  return engine;
}

/** @returns why the engine cannot be had here, and the cure; undefined where it can */
export async function engineProblem(choice: EngineChoice): Promise<string | undefined> {
  if (choice === 'node') return undefined;
  try {
    await loadChosen();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function loadChosen(): Promise<UwsModule> {
  try {
    return await loadUws();
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new Error(
      `uWebSockets.js cannot be loaded (${reason ?? ''}); install it (npm install uNetworking/uWebSockets.js#v20.52.0 or newer), or take the engine node`,
      { cause: error },
    );
  }
}
