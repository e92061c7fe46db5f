import { join } from 'node:path';
import type { ExtensionFactory } from '../../component/factory.js';
import { packageRoot } from '../../config/package-root.js';
import { checkUiConfig, uiConfigSchema } from './config.js';
import { UiExtension } from './ui-extension.js';

export const uiExtension: ExtensionFactory<typeof uiConfigSchema> = {
  kind: 'extension',
  type: 'ui',
  description: 'Web pages for runs, agents, alerts and everything else in the API.',
  stability: 'alpha',
  configSchema: uiConfigSchema,
  check: checkUiConfig,
  resources: ({ endpoint }) =>
    endpoint === null || endpoint === '' ? [] : [{ kind: 'http_listener', endpoint }],
  create: ({ config, clock, logger }) =>
    new UiExtension(config, join(packageRoot(), 'dist/ui'), { clock, logger }),
};
