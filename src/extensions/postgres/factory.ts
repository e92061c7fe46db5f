import type { ExtensionFactory } from '../../component/factory.js';
import { ControlExtension } from '../../storage/control/control-extension.js';
import { passwordsIn, postgresConfig, urlProblems } from './config.js';

/** The control store in a database that several daemons share. See `README.md` in this folder. */
export const postgresExtension: ExtensionFactory<typeof postgresConfig> = {
  kind: 'extension',
  type: 'postgres',
  description: 'Control store in PostgreSQL, which several daemons can share.',
  stability: 'beta',
  configSchema: postgresConfig,
  check: urlProblems,
  secrets: passwordsIn,
  create: (settings) => {
    const { url, connections } = settings.config;
    return new ControlExtension(settings, { engine: 'postgres', url, connections });
  },
};
