import type { ExtensionFactory } from '../../component/factory.js';
import { ControlExtension } from '../../storage/control/control-extension.js';
import { filePath, section } from '../../config/schema.js';

const sqliteConfig = section({
  path: filePath({
    default: './data/jackdaw.control.db',
    description: 'File of the control store.',
  }),
});

/** The control store in a file. See `README.md` in this folder. */
export const sqliteExtension: ExtensionFactory<typeof sqliteConfig> = {
  kind: 'extension',
  type: 'sqlite',
  description: 'Control store in a SQLite file: users, keys, prompts, alerts, webhooks and events.',
  stability: 'beta',
  configSchema: sqliteConfig,
  resources: ({ path }) => [{ kind: 'writable_file', path, isExclusive: true }],
  create: (settings) => new ControlExtension(settings, { engine: 'sqlite', path: settings.config.path }),
};
