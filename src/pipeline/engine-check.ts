import type { Config } from '../config/config.js';
import type { Problem } from '../config/config-error.js';
import { engineProblem } from '../http/engine-choice.js';

const PATH = ['service', 'http', 'engine'];

/** An HTTP engine that was asked for and is not installed, or not for this platform and version of Node. */
export async function checkEngine(config: Config): Promise<readonly Problem[]> {
  const message = await engineProblem(config.service.http.engine);
  if (message === undefined) return [];
  return [{ severity: 'error', position: config.locate(PATH), path: PATH, message }];
}
